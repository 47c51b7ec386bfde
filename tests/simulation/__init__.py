"""Simulation: whole runs in one thread under virtual time, one world for each seed."""
