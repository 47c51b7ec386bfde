"""Benchmarks whose answer is a program."""
