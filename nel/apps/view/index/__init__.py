"""Indices of samples, kept in a cache: full text, outcome, category, and the distributions of what
was measured.
"""
