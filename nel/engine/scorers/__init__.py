"""Calling scorers: dispatch to worker processes, one call, and the identity of a scorer."""
