"""Benchmarks as classes with EvalScope's names for their parts; public from `nel.benchmarks`."""
