"""The process of the tests: runs them as they stand, with proxies in the place of the program's functions.

It runs as another user than the program, and the program never sees the tests or the values they expect. What comes
over the channel is hostile; it is decoded to plain values, and a reference to an object of the program equals nothing
but itself.
"""

from __future__ import annotations

import builtins
import linecache
import os
from typing import Any

from nel.sandbox.agent import cases, channel, codec, running
from nel.sandbox.agent.remote import ProgramError, Remote


def judge(payload: int, connection: int, result: int) -> None:
    """Run the tests against the program at the other end and write what came of it."""
    given = codec.loads(channel.read_all(payload))
    os.close(payload)
    own = os.getpid()
    try:
        verdict = _verdict(given, Remote(connection, given["classes"]))
    except BaseException as error:  # noqa: BLE001 - nothing a program sends may end its tests without a verdict
        verdict = {"failed": f"the tests ended with {type(error).__name__}", "text": ""}
    if os.getpid() == own:
        channel.write_frame(result, verdict)


def _verdict(given: channel.Message, remote: Remote) -> channel.Message:
    tests = given["tests"]
    try:
        code = compile(given["marked"], running.FILE_NAME, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return {"broken": f"the tests cannot be parsed: {type(error).__name__}: {error}"}
    linecache.cache[running.FILE_NAME] = (1, None, tests.splitlines(keepends=True), running.FILE_NAME)
    namespace: dict[str, Any] = {"__name__": "__main__", "__builtins__": builtins}
    running.forbid_forks()
    try:
        running.define_helpers(given, namespace)
        _bind(given, remote.loaded(), remote, namespace)
        if "seed(" in tests:
            _share_seed(remote)
        reached = running.run_tests(code, given, namespace)
        wrong = cases.run_cases(namespace, tests) if "TestCase" in tests else None
        if wrong is not None and remote.failure is None:
            said = _failure(wrong[1], remote)
            name = {"failed": f"{wrong[0]}: {said['failed']}"} if "failed" in said else {}
            return {**said, **name, "calls": remote.calls, "last_call": remote.last_call()}
    except running.NotRun as error:
        return {"broken": str(error)}
    except codec.CannotCross as error:
        return {"cannot_cross": str(error), "calls": remote.calls, "where": running.line_of(error)}
    except BaseException as error:  # noqa: BLE001 - whatever the tests raise is their verdict
        if remote.failure is None and isinstance(error, ImportError) and remote.raised_of(error) is None:
            return {"broken": f"the tests need what is not there: {error}"}
        if remote.failure is None:
            return {**_failure(error, remote), "calls": remote.calls, "last_call": remote.last_call()}
    if remote.failure is not None:  # tests that catch whatever comes do not undo it
        failure = remote.failure
        return {"program": failure.kind, "text": str(failure), "where": failure.where, "calls": remote.calls}
    if remote.calls:
        return {"passed": True, "calls": remote.calls, "reached": sorted(reached)}
    return {"broken": "the tests come to their end without using the program"}


def _share_seed(remote: Remote) -> None:
    """Seed the program's random numbers, too, where the tests seed theirs."""
    import random  # noqa: PLC0415 - few tests need it

    own = random.seed

    def seed(value: Any = None, *more: Any, **options: Any) -> None:
        own(value, *more, **options)
        if value is None or type(value) in (int, float, str, bytes):
            remote.ask({"do": "seed", "name": "", "value": remote.encoded(value)})
            remote.calls -= 1

    random.seed = seed  # type: ignore[assignment]  # the one that the tests call


def _bind(given: channel.Message, names: dict[str, str], remote: Remote, space: dict[str, Any]) -> None:
    """Put proxies in the place of the entry point and of whatever else only the program can define."""
    entry_point = given["entry_point"]
    remote.own_classes.update((name, space[name]) for name in given["prompt_classes"] if name in space)
    for name in given["wanted"]:
        kind = names.get(name)
        if kind is None or (name in space and name != entry_point):
            continue
        if kind != "value" or name == entry_point or name in given["constants"]:
            space[name] = remote.named(
                name, "callable" if name == entry_point and kind.startswith("exception") else kind
            )
    if entry_point and entry_point not in names:
        space.pop(entry_point, None)
        if hasattr(builtins, entry_point):
            raise remote.failed("raised", f"the program defines no {entry_point}")


def _failure(error: BaseException, remote: Remote) -> channel.Message:
    """Return what an exception in the tests means: a failed assertion, or the program's own exception."""
    line = running.line_of(error)
    text = f"{_name_of(error)}: {running.text_of(error)}"[: running.TEXT_CHARACTERS_MAX]
    raised = remote.raised_of(error)
    if raised is not None:
        return {"program": "raised", "text": text, "where": line, "trace": raised}
    said = {"lines": running.lines_of(error), "position": running.position_of(error), "shown": running.shown(error)}
    if isinstance(error, NameError):
        return {"program": "raised", "text": text, "where": line, **said}
    if line and remote.had_no_part():
        return {"broken": said["shown"]}
    return {
        "failed": line,
        "text": "" if type(error) is AssertionError and not running.text_of(error) else text,
        **said,
    }


def _name_of(error: BaseException) -> str:
    return error.kind if isinstance(error, ProgramError) else type(error).__name__
