"""The jobs a host can ask for, each from its request to the facts of what happened."""

from __future__ import annotations

import json
import os
import select
import socket
from collections.abc import Callable

from nel.sandbox.isolation.agent import channel
from nel.sandbox.isolation.agent.processes import Processes
from nel.sandbox.isolation.agent.run import READ_BYTES, Run


def _split(owner: Processes, job: channel.Message) -> channel.Message:
    """Program and tests in two processes of two users."""
    run = Run(owner, job, job["limits"])
    programs_end, tests_end = socket.socketpair()
    result, result_writer = os.pipe()
    received = bytearray()
    run.read(result, lambda: _collect(result, received))
    null_device = os.open("/dev/null", os.O_RDWR)
    program = _seal({"source": job["source"]})
    tests = _seal(job["task"])
    owner.programs.start(
        run.request("serve"),
        [null_device, run.out_handle, run.err_handle, program, programs_end.fileno()],
    )
    run.tests_pid = owner.tests.start(
        run.request("check", is_tests=True),
        [null_device, null_device, null_device, tests, tests_end.fileno(), result_writer],
    )
    programs_end.close()
    tests_end.close()
    for handle in (null_device, program, tests, result_writer, run.out_handle, run.err_handle):
        os.close(handle)
    # Whichever ends first. Where it is the program, the tests then meet the channel's end.
    run.until(lambda: owner.tests.ending is not None or owner.programs.ending is not None)
    if owner.tests.ending is None and run.reason is None:
        owner.kill(owner.program_user)  # whatever it left running holds the channel open
        run.until(lambda: owner.tests.ending is not None)
    while _collect(result, received, wait=False):
        continue
    os.close(result)
    run.forget(result)
    return {"run": {**run.facts(), "tests": _frame_of(received)}}


def _run_shared(owner: Processes, job: channel.Message) -> channel.Message:
    """Program and tests in one process, which gets a secret to give back."""
    secret = _seal({name: job[name] for name in ("source", "task", "token")})
    run, received = _step(owner, job, job["limits"], "shared", secret=secret, answers=True)
    return {"run": {**run, "tests": _frame_of(received)}}


def _script(owner: Processes, job: channel.Message) -> dict[str, object]:
    """A Python program that reads standard input and writes standard output."""
    run, _ = _step(owner, job, job["limits"], "script", secret=_seal({"source": job["source"]}))
    return {"run": run}


def _commands(owner: Processes, job: channel.Message) -> dict[str, object]:
    """A compiler, then a program; either may be left out."""
    facts: channel.Message = {}
    if job.get("compile"):
        facts["compile"], _ = _step(
            owner, {}, job["compile_limits"], "execute", command=job["compile"]
        )
        ending = facts["compile"]["ending"] or {}
        if ending.get("exit") != 0:
            return facts
        owner.remove(job.get("files") or {})  # a program may look for its tests in its own text
        if job.get("keep_built"):
            owner.keep_built()
    if job.get("command"):
        secret = _secret(owner, job["token"]) if job.get("token") else None
        answers = secret is not None
        run, received = _step(
            owner,
            job,
            job["limits"],
            "execute",
            command=job["command"],
            secret=secret,
            answers=answers,
        )
        facts["run"] = {**run, "token": received[:256].decode("ascii", "replace").strip()}
    return facts


def _step(
    owner: Processes,
    job: channel.Message,
    limits: channel.Message,
    what: str,
    *,
    command: list[str] | None = None,
    secret: int | None = None,
    answers: bool = False,
) -> tuple[channel.Message, bytearray]:
    """Run one process to its end; return the facts and what it answered.

    Args:
        secret: A descriptor that the process finds at 3.
        answers: Whether it finds one at 4, to answer at.
    """
    run = Run(owner, job, limits)
    with owner.as_user(owner.program_user):  # a program may open its descriptors by name
        answer, answer_writer = os.pipe()
    handles = [_sealed_text(job.get("stdin") or ""), run.out_handle, run.err_handle]
    handles += [] if secret is None else [secret]
    handles += [answer_writer] if answers else []
    owner.programs.start(run.request(what, command=command), handles)
    for handle in {*handles, answer_writer}:
        os.close(handle)
    run.until(lambda: owner.programs.ending is not None)
    facts = run.facts()
    received = bytearray()
    while _collect(answer, received, wait=False):
        continue
    os.close(answer)
    return facts, received


def _secret(owner: Processes, token: str) -> int:
    """Return a descriptor from which a secret can be read once."""
    with owner.as_user(owner.program_user):
        reader, writer = os.pipe()
    os.write(writer, token.encode() + b"\n")
    os.close(writer)
    return reader


def _seal(payload: dict[str, object]) -> int:
    return _sealed_text(json.dumps(payload))


def _sealed_text(text: str) -> int:
    """Return a descriptor of a file in memory, at its start."""
    handle = os.memfd_create("input", os.MFD_CLOEXEC)
    view = memoryview(text.encode("utf-8", "surrogatepass"))
    while view:
        view = view[os.write(handle, view) :]
    os.lseek(handle, 0, os.SEEK_SET)
    return handle


def _collect(handle: int, received: bytearray, *, wait: bool = True) -> bool:
    """Read what is there, up to a bound; return False at the end, or where nothing is left."""
    if not wait and not select.select([handle], [], [], 0)[0]:
        return False
    try:
        data = os.read(handle, READ_BYTES)
    except BlockingIOError:
        return wait
    except OSError:
        return False
    if len(received) < READ_BYTES:
        received += data
    return bool(data)


def _frame_of(received: bytearray) -> object:
    """Return the message of one whole frame, None for anything else."""
    if len(received) < channel.HEADER.size:
        return None
    (size,) = channel.HEADER.unpack(received[:4])
    if len(received) != channel.HEADER.size + size:
        return None
    try:
        return channel.loads(bytes(received[4:]))
    except channel.BadFrame:
        return None


JOBS: dict[str, Callable[[Processes, channel.Message], channel.Message]] = {
    "split": _split,
    "shared": _run_shared,
    "script": _script,
    "commands": _commands,
}
