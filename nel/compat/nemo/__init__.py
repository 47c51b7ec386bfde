"""NeMo Evaluator: its names for a file that is loaded, its configuration, its results written."""
