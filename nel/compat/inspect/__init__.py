"""Inspect: its names for a file that is loaded, and its logs, written and read."""
