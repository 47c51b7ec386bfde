"""Program and tests in one process, for tests that need the program's own: the weaker mode.

A secret must come back after the last test. That defeats a program that ends early or prints a
marker. It does not defeat a program that attacks its tests: the verdict says which mode made it.
"""

from __future__ import annotations

import builtins
import os
import traceback
import types
from typing import Any

from nel.sandbox.isolation.agent import channel
from nel.sandbox.verdict.agent import running, solution
from nel.sandbox.verdict.agent.cases import NotReached, NotRun


def judge(payload: int, result: int) -> int:
    """Load the program, run its tests in its name space and report."""
    job = channel.read_payload(payload)
    token, task = job["token"], job["task"]
    write, exit_now, process = channel.write_frame, os._exit, os.getpid
    process_id = process()
    module, failure = solution.load(job["source"], "solution")
    verdict = failure if module is None else _verdict(task, module)
    # A copy of this process that ends with the tests writes nothing: which came first would be chance.
    if process() == process_id:
        write(result, verdict or {"token": token})
    exit_now(0)


def _verdict(task: channel.Message, module: types.ModuleType) -> channel.Message | None:
    """Return what went wrong, or None."""

    def bind(space: dict[str, Any]) -> None:
        """Let names of the program stand in for whatever the tests do not bring along."""
        task_names = set(task["prompt_classes"]) | {task["entry_point"]}  # one class for both
        hidden = space.keys() | vars(builtins).keys()
        space.update(
            (name, value)
            for name, value in vars(module).items()
            if name in task_names or name not in hidden
        )

    try:
        failed_case = running.run_all(task, bind, "solution")
        return None if failed_case is None else _failure(failed_case[1], f"{failed_case[0]}: ")
    except (NotReached, NotRun) as error:
        return {"program": "raised", "text": str(error)}
    except BaseException as error:  # noqa: BLE001 - whatever the tests raise is their verdict
        return _failure(error)


def _failure(error: BaseException, name: str = "") -> channel.Message:
    frames = traceback.extract_tb(error.__traceback__)
    line = running.line_of(error)
    described = solution.describe(error)
    text = f"{described['type']}: {described['text']}"[: running.TEXT_CHARACTERS_MAX]
    if described["type"] == "MemoryError":
        return {"program": "memory", "text": text, "where": line}
    innermost_file = frames[-1].filename if frames else ""
    is_of_tests = innermost_file == running.FILE_NAME or "/unittest/" in innermost_file
    if is_of_tests and not isinstance(error, NameError):
        return {"failed": name + line, "text": text.removeprefix("AssertionError: ")}
    return {"program": "raised", "text": text, "where": line}
