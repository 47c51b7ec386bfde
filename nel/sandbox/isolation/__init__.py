"""Where untrusted programs run: the engine, images, containers and what lives in them.

Nothing here knows what a program's run means; `nel.sandbox.verdict` does, and is not imported.
Read in this order: `agent/limits.py`, `agent/seccomp.py`, `container.py`, `agent/supervisor.py`,
`agent/processes.py`, `agent/run.py`, `agent/jobs.py`, `pool.py`.
"""
