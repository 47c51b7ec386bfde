"""Benchmarks whose answers are programs."""
