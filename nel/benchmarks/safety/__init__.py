"""Benchmarks of what a model should and should not refuse; a judge decides."""
