"""Finds the answer in the text of a response."""
