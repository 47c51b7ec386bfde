"""Tests apart from the program: what honest programs may do, what others gain by nothing, and whose fault is whose."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import pytest

from nel.errors import DatasetError, SandboxError
from nel.sandbox import Limits, Program, ProgramVerdict, Sandbox, SandboxSettings, StdinCase
from nel.sandbox.isolation import container
from nel.sandbox.isolation.container import Container

pytestmark = pytest.mark.docker

TIGHT = Limits(cpu_seconds=5.0, idle_seconds=1.0)
PATIENT = Limits(cpu_seconds=20.0, idle_seconds=20.0)
FORGES = """
import os, sys
class ListNode(Exception): pass
def f(h):
    frame = sys._getframe()
    while frame:
        given = frame.f_locals.get("given")
        if given and "token" in given:
            from nel.sandbox.isolation.agent import channel
            channel.write_frame(4, {"token": given["token"]}); os._exit(0)
        frame = frame.f_back
"""
LINKED = "h = ListNode(1)\nh.next = ListNode(2)\nassert f(h).val == 2"
THREADS = """
from concurrent.futures import ThreadPoolExecutor
assert list(ThreadPoolExecutor(8).map(f, range(40))) == [*range(40)]
"""
NAMED = "from collections import namedtuple\nQ = namedtuple('Q', 'x y')\ndef f(): return Q(1, 2)"
VFORK = """
import ctypes, time
def f(x):
    if ctypes.CDLL(None).syscall(56, 0x4011, 0, 0, 0, 0) == 0:
        while True: time.sleep(1000)
"""


def judged(sandbox: Sandbox, source: str, tests: str, *, limits: Limits = PATIENT) -> tuple[str, str]:
    verdict = sandbox.run(Program(source=source, tests=tests, entry_point="f", limits=limits))
    return verdict.verdict, verdict.mode


@pytest.mark.parametrize(
    ("source", "tests"),
    [
        ("def f(x): return x", THREADS),
        (NAMED, "assert f().x == 1\nassert f() == (1, 2)"),
        ("def f(a): a.sort()", "a = [2, 1]\nf(a=a)\nassert a == [1, 2]"),
    ],
    ids=["threads", "namedtuple", "keyword"],
)  # fmt: skip
def test_honest_programs_pass(sandbox: Sandbox, source: str, tests: str) -> None:
    assert judged(sandbox, source, tests) == ("passed", "split")


@pytest.mark.parametrize(
    ("source", "tests", "verdict"),
    [
        (FORGES, LINKED, "runtime_error"),
        (VFORK, "f(1)", "timeout"),
    ],
    ids=["chooses-the-mode", "vfork"],
)  # fmt: skip
def test_others_do_not(sandbox: Sandbox, source: str, tests: str, verdict: str) -> None:
    limits = TIGHT if verdict == "timeout" else PATIENT
    assert judged(sandbox, source, tests, limits=limits) == (verdict, "split")


CLASS = "assert f() == 1\nclass TestF:\n    def test_a(self): assert f() == 2"


@pytest.mark.parametrize(
    "tests", ["import numpy_of_another_world\nassert f()", "def test_a(n): assert f(n) == 3", CLASS]
)
def test_tests_that_cannot_run_are_the_rows_fault(sandbox: Sandbox, tests: str) -> None:
    with pytest.raises(DatasetError):
        judged(sandbox, "def f(): return 1", tests)


def test_cases_do_not_see_each_other(sandbox: Sandbox) -> None:
    counts = "open('c', 'a').write('x')\nprint(len(open('c').read()), __file__)"
    twice = (StdinCase(stdin="", expected_output="1 main.py"),) * 2
    assert sandbox.run(Program(source=counts, cases=twice, limits=PATIENT)).passed


@pytest.mark.parametrize(
    "text", ["ф" * (12 << 20), "\0" * (4 << 20), "x" * (32 << 20)], ids=["cyrillic", "nul", "limit"]
)
def test_large_outputs_cross_as_they_are(sandbox: Sandbox, text: str) -> None:
    """As JSON, 24 MB of Cyrillic would be 72 MB and as many NUL characters 144."""
    case = StdinCase(stdin="", expected_output=text)
    assert sandbox.run(Program(source=f"print({text[0]!r} * {len(text)})", cases=(case,), limits=PATIENT)).passed


def test_more_output_than_there_is_room_for_has_its_own_verdict(sandbox: Sandbox) -> None:
    """Of a program and of a function; an expectation beyond the limit is the row's fault."""
    expected = (StdinCase(stdin="", expected_output="x" * (24 << 20)),)
    large = sandbox.run(Program(source="print('x' * (40 << 20))", cases=expected, limits=PATIENT))
    assert (large.verdict, large.mode) == ("output_limit", "outside")
    answer = "def f(): return 'ф' * (12 << 20)"
    assert judged(sandbox, answer, "assert f()") == ("output_limit", "split")
    beyond = (StdinCase(stdin="", expected_output="x" * ((32 << 20) + 1)),)
    with pytest.raises(DatasetError, match="at most"):
        sandbox.run(Program(source="print()", cases=beyond))


@pytest.mark.parametrize("tests", ["assert f(1) == 1", "g = lambda: 1\nassert f(g) == 1"], ids=["split", "together"])
def test_details_keep_the_type_of_an_exception_and_the_line_of_the_tests(sandbox: Sandbox, tests: str) -> None:
    """However long its text is, and of a class of the program."""
    source = "class Odd(Exception): pass\ndef f(x): raise Odd('long ' * 10_000)"
    verdict = sandbox.run(Program(source=source, tests=tests, entry_point="f", limits=PATIENT))
    line = len(tests.splitlines())
    assert verdict.verdict == "runtime_error"
    assert verdict.detail.startswith(f"line {line}: assert f(")
    assert "\nOdd: long long" in verdict.detail


@pytest.mark.parametrize(
    ("source", "kind"),
    [("def f(x): raise SystemExit(3)", "SystemExit: 3"), ("import os\ndef f(x): os._exit(4)", "exit status 4")],
)
def test_details_of_an_end_keep_the_line_of_the_tests(sandbox: Sandbox, source: str, kind: str) -> None:
    """Where the program left for good, too."""
    verdict = sandbox.run(Program(source=source, tests="x = 1\nassert f(x) == 1", entry_point="f", limits=PATIENT))
    assert verdict.detail.startswith("line 2: assert f(x) == 1")
    assert kind in verdict.detail


def test_details_of_a_script_keep_the_type_of_an_exception(sandbox: Sandbox) -> None:
    """Its text may have many lines."""
    cases = (StdinCase(stdin="", expected_output=""),)
    verdict = sandbox.run(Program(source="raise ValueError('a\\nb\\nc')", cases=cases, limits=PATIENT))
    assert "exit status 1: ValueError: a" in verdict.detail


def test_a_cancelled_program_harms_no_other(lone: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    ask, is_cancelled = Container.ask, threading.Event()

    def ask_later(self: Container, job: dict[str, Any], *, seconds: float) -> dict[str, Any]:
        assert is_cancelled.wait(60)  # the others wait after the first for as long
        return ask(self, job, seconds=seconds)

    monkeypatch.setattr(Container, "ask", ask_later)
    program = Program(source="def f(): pass", tests="assert f() is None", entry_point="f", limits=PATIENT)
    first, cancelled, last = lone.submit(program), lone.submit(program), lone.submit(program)
    try:
        assert cancelled.cancel()
    finally:
        is_cancelled.set()
    assert first.result(timeout=120).passed
    assert last.result(timeout=120).passed


def test_a_fork_does_not_use_the_sandbox_of_its_parent() -> None:
    sandbox = Sandbox(SandboxSettings(workers=1))
    sandbox.pool._pid = os.getpid() + 1  # as a child sees it
    with pytest.raises(SandboxError, match="forked"):
        sandbox.submit(Program(source="def f(): pass", tests="f()", entry_point="f"))


def test_the_end_of_a_script_is_an_interpreters_and_bytes_that_are_no_text_equal_none(sandbox: Sandbox) -> None:
    """What is registered for the exit counts; a byte beyond UTF-8 is not the escape that shows it."""
    last_words = "import atexit\natexit.register(print, input())"
    said = sandbox.run(Program(source=last_words, cases=(StdinCase(stdin="bye\n", expected_output="bye\n"),)))
    raw = "import sys; sys.stdout.buffer.write(b'\\xff')"
    escaped = sandbox.run(Program(source=raw, cases=(StdinCase(stdin="", expected_output="\\xff"),)))
    assert (said.verdict, escaped.verdict) == ("passed", "wrong")
    assert escaped.detail.encode()


@pytest.mark.parametrize(
    ("source", "tests", "mode"),
    [
        (
            "import uuid\ndef f(): return uuid.UUID(int=5)",
            "from uuid import UUID as U\nassert f() == U(int=5)",
            "shared",
        ),
        ("def f(): return {'a': 1}.keys()", "assert f() == {'a'}", "split"),
        ("def f(): return (i for i in 'ab')", "import types\nassert type(f()) is types.GeneratorType", "shared"),
        ("class f:\n    def __eq__(self, other): return True", "assert f() == f()", "equality"),
    ],
)
def test_the_mode_follows_what_the_tests_compare(sandbox: Sandbox, source: str, tests: str, mode: str) -> None:
    """A value without a plain form takes the program's process; what objects say of themselves is no proof."""
    assert judged(sandbox, source, tests) == ("passed", mode)


def test_a_wrong_answer_does_not_choose_the_weaker_mode(sandbox: Sandbox) -> None:
    """Where the tests compare plain values, an object that equals everything is wrong."""
    source = "class Same:\n    def __eq__(self, other): return True\ndef f(): return Same()"
    assert judged(sandbox, source, "assert f() == {'a': 1}\nassert f() == 'a'") == ("wrong", "split")


OWN_EQUALITY = "class Own:\n    def __eq__(self, other): return other == 3\ndef f(): return Own()"


@pytest.mark.parametrize("tests", ["assert f() == 3", "assert f() == 3\nassert f() == 4"])
def test_an_object_that_decides_its_own_equality_is_asked_and_strictly_wrong(sandbox: Sandbox, tests: str) -> None:
    """The verdict says so; an answer must not choose to be left out of a strict score."""
    verdict = sandbox.run(Program(source=OWN_EQUALITY, tests=tests, entry_point="f", limits=PATIENT))
    expected = "wrong" if "4" in tests else "passed"
    assert (verdict.verdict, verdict.mode, verdict.is_chosen) == (expected, "equality", True)
    assert verdict.proven(is_required=True).verdict == "wrong"


def test_objects_that_the_tests_compare_with_each_other_choose_no_mode(sandbox: Sandbox) -> None:
    """Such tests ask objects whatever the answer is: a strict score leaves them out."""
    program = Program(source=OWN_EQUALITY, tests="g = f()\nassert g == g", entry_point="f", limits=PATIENT)
    with pytest.raises(SandboxError):
        sandbox.run(program).proven(is_required=True)


def test_tests_that_need_a_file_of_nobody_are_the_rows_fault(sandbox: Sandbox) -> None:
    """As do those that need a network, before they use the program."""
    with pytest.raises(DatasetError, match="before they use the program"):
        judged(sandbox, "def f(): return 1", "import linecache, os\nos.stat('rows.csv')\nassert f() == 1")


def test_strict_verdicts_leave_out_failures_as_well() -> None:
    """Else the failures that count would be those of tasks whose passes do not."""
    for verdict, mode in (("passed", "shared"), ("wrong", "shared"), ("passed", "equality")):
        with pytest.raises(SandboxError):
            ProgramVerdict(verdict=verdict, mode=mode).proven(is_required=True)
    assert ProgramVerdict(verdict="wrong", mode="split").proven(is_required=True).verdict == "wrong"


def test_no_two_containers_have_the_same_users(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """The number that another container's name holds is drawn again."""
    draws = iter([20_000, 20_000, 20_004])
    monkeypatch.setattr(container.secrets, "choice", lambda _: next(draws))
    program = Program(source="def f(): return 1", tests="assert f() == 1", entry_point="f", limits=PATIENT)
    with Sandbox(SandboxSettings(workers=1)) as first, Sandbox(SandboxSettings(workers=1)) as second:
        assert first.run(program).passed
        assert second.run(program).passed
    assert list(draws) == []


def test_a_filter_that_cannot_be_installed_ends_the_containers_use(tmp_path: Path) -> None:
    """No program runs without it."""
    with Sandbox(SandboxSettings(workers=1)) as sandbox:
        modules = dict(sandbox.pool._modules)
        name = next(name for name in modules if name.endswith("seccomp"))
        path = tmp_path / "seccomp.py"
        path.write_text(modules[name].read_text() + "\ndef install(): return False\n")
        sandbox.pool._modules = tuple((modules | {name: path}).items())
        program = Program(source="def f(): return 1", tests="assert f() == 1", entry_point="f", limits=PATIENT)
        with pytest.raises(SandboxError, match="filter of system calls cannot be installed"):
            sandbox.run(program)


def test_programs_import_the_packages_of_their_image(sandbox: Sandbox) -> None:
    """Those that `nel sandbox build --packages` installs, wherever the image's interpreter has them."""
    source = "import os, site, sys\nprint({p for p in site.getsitepackages() if os.path.isdir(p)} <= {*sys.path})"
    cases = (StdinCase(stdin="", expected_output="True\n"),)
    assert sandbox.run(Program(source=source, cases=cases, limits=PATIENT)).passed
