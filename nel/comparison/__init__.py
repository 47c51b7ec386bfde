"""Two or more finished evaluations compared sample by sample: reading, pairing, refusals, and what
a gate decides.
"""
