"""Inspect: its names for a file that is loaded."""
