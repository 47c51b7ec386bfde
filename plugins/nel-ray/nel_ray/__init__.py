"""Scores computed on a Ray cluster."""
