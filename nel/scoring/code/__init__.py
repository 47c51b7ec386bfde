"""Finds the program in a response and runs it against tests."""
