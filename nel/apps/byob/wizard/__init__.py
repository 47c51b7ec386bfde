"""From a file of rows to a benchmark file: what the rows look like, suggest, and become."""
