"""The configuration of a run: its schema, where it comes from, and what names it."""
