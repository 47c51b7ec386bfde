"""Exports of runs to MLflow and Weights & Biases."""
