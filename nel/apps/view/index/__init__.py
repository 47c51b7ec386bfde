"""Indices of samples, kept in a cache: full text, outcome, category, and distributions."""
