"""Reads verdicts from the replies of judges; a quotation is never a verdict."""
