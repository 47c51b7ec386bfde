"""MMLU in its three forms: ranked by log-likelihood, generated, and MMLU-Pro."""
