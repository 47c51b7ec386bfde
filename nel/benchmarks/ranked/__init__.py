"""Multiple choice by log-likelihood, with lm-evaluation-harness' prompts, metrics and names."""
