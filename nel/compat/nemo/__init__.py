"""NeMo Evaluator: its names for a file that is loaded, and its configuration files."""
