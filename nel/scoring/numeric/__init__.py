"""Reads numbers and mathematical expressions in answers, and compares them exactly."""
