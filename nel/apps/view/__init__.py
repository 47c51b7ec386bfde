"""The local web app of `nel view`: many runs, one run, every sample, two runs side by side. Writes
into no run.
"""
