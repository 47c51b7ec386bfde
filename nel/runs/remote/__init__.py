"""Runs kept on another store (``s3://``, ``memory://``, any path of fsspec): snapshots of a run
that works locally.
"""
