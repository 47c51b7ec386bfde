"""What is known of a run, read from its log: one module and one function for each question."""
