"""The framework of benchmarks: what one is, how it is found, few-shot examples, adapter classes."""
