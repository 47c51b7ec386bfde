"""Process 1 of a container: takes one job at a time, has it run, and clears up after it.

It executes nothing that it is sent and parses nothing that a program wrote beyond bounded frames.
The end of its standard input means that the host is gone: it exits, and the container with it.
"""

from __future__ import annotations

import json
import os
import signal
import struct

from nel.sandbox.isolation.agent import channel
from nel.sandbox.isolation.agent.jobs import JOBS
from nel.sandbox.isolation.agent.processes import Processes

_LENGTH = struct.Struct(">I")


def main(first_user: int) -> None:
    """Serve the host until it hangs up; the container ends when this returns."""
    processes = Processes(first_user)
    # Process 1 ignores it otherwise, and an engine waits for it.
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    while True:
        try:
            (size,) = _LENGTH.unpack(channel.read_exactly(0, _LENGTH.size))
            job = json.loads(channel.read_exactly(0, size))
        except channel.Gone:
            return
        reply = {"number": job["number"], "nonce": job["nonce"], **_answer(processes, job)}
        output = _output_of(reply)
        data = json.dumps({**reply, "output_bytes": len(output)}).encode()
        for chunk in (_LENGTH.pack(len(data)) + data, output):
            view = memoryview(chunk)
            while view:
                view = view[os.write(1, view) :]


def _answer(processes: Processes, job: channel.Message) -> dict[str, object]:
    if job["do"] == "ping":
        return {}
    processes.make_work_space(job.get("files") or {})
    if job.get("uses_built"):
        processes.restore_built()
    else:
        processes.built = None
    try:
        facts = JOBS[job["do"]](processes, job)
    finally:
        is_clean = processes.clear()
    return {**facts, "is_clean": is_clean, "is_kept": processes.built is not None}


def _output_of(reply: channel.Message) -> bytes:
    """Take a program's output out of a reply: it follows as it is, not as JSON."""
    run = reply.get("run") or {}
    if not isinstance(run.get("stdout"), bytes):
        return b""
    output: bytes = run["stdout"]
    run["stdout"] = ""
    return output
