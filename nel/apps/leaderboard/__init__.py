"""Leaderboards: a judge compares the answers of several models to the same questions in pairs."""
