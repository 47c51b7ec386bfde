"""What a program's run means: its mode, what crosses between program and tests, the verdict.

Everything that contains a program is in `nel.sandbox.isolation`. Read in this order: `types.py`,
`modes.py`, `task.py`, `judging.py`, `endings.py`, then `agent/`, which runs in the containers.
"""
