"""lm-evaluation-harness: its results, written."""
