"""Finds the program in a response (`extraction`) and scores it by its tests in the sandbox (`execution`)."""
