"""Benchmarks of an installed EvalScope as benchmarks of nel."""
