"""HELM: its results, read."""
