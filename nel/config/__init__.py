"""The configuration of a run: its schema, its sources, and the identity of a run."""
