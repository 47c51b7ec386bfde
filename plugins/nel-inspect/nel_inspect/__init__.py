"""Tasks of Inspect as benchmarks of nel."""
