"""Judges: models that grade answers."""
