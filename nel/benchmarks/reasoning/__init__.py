"""Benchmarks of reasoning over many kinds of tasks."""
