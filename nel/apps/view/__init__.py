"""The local web app of `nel view`: many runs, one run, every sample, runs side by side. Changes no
run.db and no artifact.
"""
