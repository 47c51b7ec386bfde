"""Benchmarks of translation, measured over whole corpora."""
