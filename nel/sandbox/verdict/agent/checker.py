"""The process of the tests: runs them as they stand, with references to the program's functions.

It runs as another user than the program, and the program never sees the tests or the values they
expect. What comes over the channel is hostile; it is decoded to plain values, and a reference to an
object of the program equals nothing but another of its objects.
"""

from __future__ import annotations

import builtins
import errno
import os
from functools import partial
from typing import Any

from nel.sandbox.isolation.agent import channel
from nel.sandbox.verdict.agent import codec, running
from nel.sandbox.verdict.agent.cases import NotReached, NotRun
from nel.sandbox.verdict.agent.remote import Remote

_REFUSED = (errno.EROFS, errno.EACCES, errno.EPERM)
"""What the tests' process may not write, and the program's may, when its tests share it."""


def judge(payload: int, connection: int, result: int) -> int:
    """Run the tests against the program at the other end and write what came of it."""
    job = channel.read_payload(payload)
    process = os.getpid()
    try:
        remote = Remote(connection, job["tests"], asks_objects=job["asks_objects"])
        verdict = _verdict(job, remote)
    except BaseException as error:  # noqa: BLE001 - no answer may end tests without a verdict
        verdict = {"failed": f"the tests ended with {type(error).__name__}", "text": ""}
    if os.getpid() == process:  # else a copy, made by tests that fork
        channel.write_frame(result, verdict)
    return 0


def _verdict(job: channel.Message, remote: Remote) -> channel.Message:
    verdict = _verdict_of_tests(job, remote)
    # In this order: a dead program, tests that need its process, and then what they say. Both of
    # the former were noted when they happened, since tests may catch whatever is raised.
    if remote.failure is not None:
        failure = remote.failure
        verdict = {"program": failure.kind, "text": str(failure), "where": failure.where}
    elif remote.obstacle:
        return {"shared": remote.obstacle}
    elif "broken" in verdict and remote.missing and not job["is_alone"]:
        verdict = {"program": "raised", "text": f"the program defines no {remote.missing[0]}"}
    return {**verdict, "is_compared": remote.is_compared, "is_chosen": remote.is_chosen}


def _verdict_of_tests(job: channel.Message, remote: Remote) -> channel.Message:
    try:
        asking = (remote.kind_of, remote.is_same, remote.is_instance, remote.is_callable)
        failed_case = running.run_all(job, partial(_bind, job, remote), "__main__", asking)
        if failed_case is not None:
            return _failure(failed_case[1], remote, f"{failed_case[0]}: ")
    except NotReached as error:
        if remote.calls:  # else they would have reached it without the program
            return {"failed": str(error), "text": "", "last_call": remote.last_call()}
        return {"broken": str(error)}
    except NotRun as error:
        return {"broken": str(error)}
    except BaseException as error:  # noqa: BLE001 - whatever the tests raise is their verdict
        return _failure(error, remote)
    if remote.was_used():
        return {"passed": True}
    return {"broken": "the tests come to their end without using the program"}


def _bind(job: channel.Message, remote: Remote, space: dict[str, Any]) -> None:
    """Put references in the place of names that only the program defines."""
    entry_point = job["entry_point"]
    names = remote.wait_for_names()
    remote.missing = [
        name for name in job["program_names"] if name not in names and name not in space
    ]
    for name in job["program_names"]:
        kind = names.get(name)
        if kind is None or (name in space and name != entry_point):
            continue
        if kind != "value" or name == entry_point:
            is_class = name == entry_point and isinstance(kind, list)
            space[name] = remote.stand_in(name, "callable" if is_class else kind)
    if entry_point and entry_point not in names:
        space.pop(entry_point, None)
        if hasattr(builtins, entry_point):
            raise remote.fail("raised", f"the program defines no {entry_point}")


def _failure(error: BaseException, remote: Remote, name: str = "") -> channel.Message:
    """Return what an exception means: a fault of the tests, a failed one, or the program's."""
    line = running.line_of(error)
    if isinstance(error, codec.CannotCross):
        remote.cannot(str(error))
    message = running.exception_text(error)
    text = f"{type(error).__name__}: {message}"[: running.TEXT_CHARACTERS_MAX]
    if remote.errors.trace_of(error) is not None:
        return {"program": "raised", "text": text, "where": line}
    if isinstance(error, ImportError) and error.name:  # of an import, not made after another error
        return {"broken": f"the tests need what is not there: {message}"}
    if isinstance(error, NameError):
        return {"program": "raised", "text": text, "where": line}
    is_refused = isinstance(error, OSError) and error.errno in _REFUSED
    if line and not remote.was_used() and not is_refused:
        return {"broken": f"the tests fail before they use the program: {line}: {text}"}
    is_bare = type(error) is AssertionError and not message
    return {"failed": name + line, "text": "" if is_bare else text, "last_call": remote.last_call()}
