"""Judges: templates, quoting, reading of verdicts, panels."""
