"""Benchmarks of what a model knows: multiple choice, short answers, truthfulness."""
