"""Leaderboards: the answers of several models to the same questions, compared in pairs by a judge."""
