"""Benchmarks of following instructions that a program can check."""
