"""Raises when imported."""

raise RuntimeError("broken on purpose")
