"""Plans comparisons from earlier runs: how many questions and repeats, and what they take."""
