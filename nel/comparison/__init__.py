"""Finished evaluations compared sample by sample: reading, pairing, refusals, and gates."""
