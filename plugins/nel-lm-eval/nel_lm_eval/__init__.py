"""Tasks of lm-evaluation-harness as benchmarks of nel."""
