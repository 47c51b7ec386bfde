"""ATIF, the trajectories that Harbor reads."""
