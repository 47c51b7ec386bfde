"""Benchmarks whose answer is a number or an expression."""
