"""TruthfulQA: generated answers, and multiple choice ranked by log-likelihood."""
