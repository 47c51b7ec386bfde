"""Runs kept on S3 or another store of fsspec: snapshots of a run that works on a local disk."""
