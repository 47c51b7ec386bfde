"""NeMo Evaluator: its names for a file that is loaded, its configuration files, and its results,
written."""
