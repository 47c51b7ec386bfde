"""run.db: the only source of truth of a run, written by one process and read by any."""
