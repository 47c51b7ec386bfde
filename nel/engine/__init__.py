"""Running a benchmark: the pipeline, the store that everything is committed to, and resume."""
