"""The jobs a host can ask for, each from its request to the facts of what happened."""

from __future__ import annotations

import json
import os
import select
import socket
from collections.abc import Callable
from contextlib import suppress

from nel.sandbox.isolation.agent import channel
from nel.sandbox.isolation.agent.processes import Processes
from nel.sandbox.isolation.agent.run import READ_BYTES, Run

_PATIENCE_SECONDS = 1.0


def _split(owner: Processes, job: channel.Message) -> channel.Message:
    """Program and tests in two processes of two users."""
    run = Run(owner, job, job["limits"])
    programs_end, tests_end = socket.socketpair()
    result, result_writer = os.pipe()
    said = bytearray()
    run.read(result, lambda: _collect(result, said))
    empty = os.open("/dev/null", os.O_RDWR)
    program = _sealed({"source": job["source"]})
    tests = _sealed(job["task"])
    owner.programs.start(run.request("serve"), [empty, run.out_handle, run.err_handle, program, programs_end.fileno()])
    run.tests_pid = owner.tests.start(
        run.request("check", is_tests=True), [empty, empty, empty, tests, tests_end.fileno(), result_writer]
    )
    programs_end.close()
    tests_end.close()
    for handle in (empty, program, tests, result_writer, run.out_handle, run.err_handle):
        os.close(handle)
    run.until(lambda: owner.tests.ending is not None or owner.programs.ending is not None)
    if owner.tests.ending is None and run.reason is None:
        owner.kill(owner.program_user)  # whatever it left running holds the channel open
        run.until(lambda: owner.tests.ending is not None)
    while _collect(result, said, wait=False):
        continue
    os.close(result)
    run.forget(result)
    return {"run": {**run.facts(), "tests": _frame_of(said)}}


def _shared(owner: Processes, job: channel.Message) -> channel.Message:
    """Program and tests in one process."""
    run = Run(owner, job, job["limits"])
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    said = bytearray()
    empty = os.open("/dev/null", os.O_RDWR)
    program = _sealed({"source": job["source"]})
    owner.programs.start(run.request("shared"), [empty, run.out_handle, run.err_handle, program, theirs.fileno()])
    theirs.close()
    for handle in (empty, program, run.out_handle, run.err_handle):
        os.close(handle)
    run.read(ours.fileno(), lambda: _collect(ours.fileno(), said))

    def has_ended() -> bool:
        return owner.programs.ending is not None

    run.until(lambda: has_ended() or _frame_of(said) is not None)
    first = _frame_of(said)
    if isinstance(first, dict) and first.get("loaded"):
        said.clear()
        ours.setblocking(True)
        with suppress(channel.Gone, OSError):
            ours.settimeout(_PATIENCE_SECONDS)
            ours.sendall(_framed({**job["task"], "token": job["token"]}))
        ours.setblocking(False)
    run.until(has_ended)
    while _collect(ours.fileno(), said, wait=False):
        continue
    run.forget(ours.fileno())
    ours.close()
    return {"run": {**run.facts(), "tests": _frame_of(said)}}


def _script(owner: Processes, job: channel.Message) -> dict[str, object]:
    """A Python program that reads standard input and writes standard output."""
    return {"run": _step(owner, job, job["limits"], "script", payload={"source": job["source"]})}


def _commands(owner: Processes, job: channel.Message) -> dict[str, object]:
    """A compiler, then a program; either may be left out."""
    facts: channel.Message = {}
    if job.get("compile"):
        facts["compile"] = _step(owner, {}, job["compile_limits"], "execute", command=job["compile"])
        ending = facts["compile"]["ending"] or {}
        if ending.get("exit") != 0:
            return facts
        owner.remove(job.get("files") or {})  # a program may look for its tests in its own text
        if job.get("keep_built"):
            owner.keep_built()
    if job.get("command"):
        facts["run"] = _step(owner, job, job["limits"], "execute", command=job["command"])
    return facts


def _step(
    owner: Processes,
    job: channel.Message,
    limits: channel.Message,
    what: str,
    *,
    command: list[str] | None = None,
    payload: channel.Message | None = None,
) -> dict[str, object]:
    run = Run(owner, job, limits)
    handles = [_sealed_text(job.get("stdin") or ""), run.out_handle, run.err_handle]
    said = bytearray()
    answer: int | None = None
    if payload is not None:
        handles.append(_sealed(payload))
    elif job.get("token"):
        with owner.as_user(owner.program_user):  # a program may open its descriptors by name
            token, token_writer = os.pipe()
            answer, answer_writer = os.pipe()
        os.write(token_writer, job["token"].encode() + b"\n")
        os.close(token_writer)
        handles += [token, answer_writer]
    owner.programs.start(run.request(what, command=command), handles)
    for handle in handles:
        os.close(handle)
    run.until(lambda: owner.programs.ending is not None)
    facts = run.facts()
    if answer is not None:
        while _collect(answer, said, wait=False):
            continue
        os.close(answer)
        facts["token"] = said[:256].decode("ascii", "replace").strip()
    return facts


def _sealed(payload: dict[str, object]) -> int:
    return _sealed_text(json.dumps(payload))


def _sealed_text(text: str) -> int:
    """Return a descriptor of a file in memory, at its start."""
    handle = os.memfd_create("input", os.MFD_CLOEXEC)
    view = memoryview(text.encode("utf-8", "surrogatepass"))
    while view:
        view = view[os.write(handle, view) :]
    os.lseek(handle, 0, os.SEEK_SET)
    return handle


def _framed(message: object) -> bytes:
    data = channel.dumps(message)
    return channel.HEADER.pack(len(data)) + data


def _collect(handle: int, said: bytearray, *, wait: bool = True) -> bool:
    """Read what is there, up to a bound; return False at the end, or where nothing is left and none is waited for."""
    if not wait and not select.select([handle], [], [], 0)[0]:
        return False
    try:
        data = os.read(handle, READ_BYTES)
    except BlockingIOError:
        return wait
    except OSError:
        return False
    if len(said) < READ_BYTES:
        said += data
    return bool(data)


def _frame_of(said: bytearray) -> object:
    """Return the message of one whole frame, None for anything else."""
    if len(said) < channel.HEADER.size:
        return None
    (size,) = channel.HEADER.unpack(said[:4])
    if len(said) != channel.HEADER.size + size:
        return None
    try:
        return channel.loads(bytes(said[4:]))
    except channel.BadFrame:
        return None


JOBS: dict[str, Callable[[Processes, channel.Message], channel.Message]] = {
    "split": _split,
    "shared": _shared,
    "script": _script,
    "commands": _commands,
}
