"""Benchmarks of which answer a judge prefers."""
