"""Benchmarks of a question about a given passage."""
