"""Program and tests in one process, for tests that need the program's own classes: the weaker mode.

The tests and a secret token arrive only after the program has been loaded, and the token must come back after the last
test. That defeats a program that ends early or prints a marker. It does not defeat a program that searches the process;
the verdict says which mode made it.
"""

from __future__ import annotations

import linecache
import os
import traceback
import types
from typing import Any

from nel.sandbox.agent import channel, codec, solution
from nel.sandbox.agent.checker import FILE_NAME, call_afterwards

_LINE_CHARACTERS_MAX = 400


def judge(payload: int, connection: int) -> None:
    """Load the program, ask for its tests, run them in its name space and report."""
    source = codec.loads(channel.read_all(payload))["source"]
    os.close(payload)
    write, read, exit_now = channel.write_frame, channel.read_frame, os._exit  # before the program can replace them
    module, failure = solution.load(source, "solution")
    if module is None:
        write(connection, {"load": failure})
        exit_now(0)
    write(connection, {"loaded": True})
    given = read(connection)
    verdict = _verdict(given, module)
    if verdict is None:
        verdict = {"token": given["token"]}
    write(connection, verdict)
    exit_now(0)


def _verdict(given: channel.Message, module: types.ModuleType) -> channel.Message | None:
    """Return what went wrong, or None."""
    tests = given["tests"]
    try:
        code = compile(tests, FILE_NAME, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return {"broken": f"the tests cannot be parsed: {type(error).__name__}: {error}"}
    linecache.cache[FILE_NAME] = (1, None, tests.splitlines(keepends=True), FILE_NAME)
    space = module.__dict__
    before = set(space)
    try:
        exec(code, space)  # noqa: S102 - the tests come with the benchmark
        call_afterwards(tests, given["entry_point"], space)
        return _run_cases(space, before, tests) if "TestCase" in tests else None
    except BaseException as error:  # noqa: BLE001 - whatever the tests raise is their verdict
        return _failure(error)


def _run_cases(space: dict[str, Any], before: set[str], text: str) -> dict[str, object] | None:
    """Run the `unittest` cases that the tests define; their number must be that of the test text."""
    import ast  # noqa: PLC0415 - few tests need these two, and each makes every fork slower
    import unittest  # noqa: PLC0415

    tests = ast.parse(text)
    classes = [node for node in tests.body if isinstance(node, ast.ClassDef) and node.name not in before]
    cases = [space[node.name] for node in classes if issubclass(space[node.name], unittest.TestCase)]
    if not cases:
        return None
    suite = unittest.TestSuite()
    for case in cases:
        suite.addTests(unittest.defaultTestLoader.loadTestsFromTestCase(case))
    result = unittest.TestResult()
    suite.run(result)
    wrong = [*result.errors, *result.failures]
    if wrong:
        return {"failed": wrong[0][0].id()[:_LINE_CHARACTERS_MAX], "text": wrong[0][1][-_LINE_CHARACTERS_MAX:]}
    methods = {
        (node.name, item.name)
        for node in classes
        for item in node.body
        if isinstance(item, ast.FunctionDef) and item.name.startswith("test")
    }
    if result.testsRun < len(methods):
        return {"failed": f"only {result.testsRun} of {len(methods)} tests ran", "text": ""}
    return None


def _failure(error: BaseException) -> channel.Message:
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename == FILE_NAME]
    line = f"line {own[-1].lineno}: {own[-1].line}"[:_LINE_CHARACTERS_MAX] if own else ""
    said = solution.described(error)
    text = f"{said['type']}: {said['text']}"[:_LINE_CHARACTERS_MAX]
    if said["type"] == "MemoryError":
        return {"program": "memory", "text": text}
    if isinstance(error, AssertionError) and frames and frames[-1].filename == FILE_NAME:
        return {"failed": line, "text": said["text"][:_LINE_CHARACTERS_MAX]}
    if frames and frames[-1].filename == FILE_NAME and not isinstance(error, NameError):
        return {"failed": line, "text": text}
    return {"program": "raised", "text": text, "where": line, "trace": said["trace"]}
