"""Episodes in a run: the processes of their tools, their steps in run.db, and their outcomes."""
