"""Every program of the hostile suite gets its verdict, and the honest program after it passes in the same container."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from nel.sandbox import Limits, Program, Sandbox, SandboxSettings, StdinCase
from tests.sandbox.conftest import need_engine
from tests.sandbox.hostile.catalogue import Program as Hostile
from tests.sandbox.hostile.catalogue import families, load_problems, load_programs, read_program

TIGHT = {"cpu_seconds": 2.0, "idle_seconds": 1.5, "compile_seconds": 8.0}
"""For programs that may run into a limit of time: so their end is not waited for long."""
AMPLE = {"cpu_seconds": 20.0, "idle_seconds": 20.0, "compile_seconds": 120.0}
"""For programs that must not: on a machine ten times slower they get the same verdict."""
PROBLEMS = load_problems()
FAMILIES = families()


def program_of(hostile: Hostile) -> Program:
    problem = PROBLEMS[hostile.problem]
    judged: dict[str, Any]
    if "cases" in problem:
        cases = [StdinCase(stdin=case["stdin"], expected_output=case["expected_output"]) for case in problem["cases"]]
        judged = {"cases": tuple(cases)}
    else:
        judged = {name: problem[name] for name in ("tests", "entry_point", "prompt")} | {"mode": hostile.mode}
    return Program(source=hostile.source, language=hostile.language, limits=limits_of(hostile), **judged)


def limits_of(hostile: Hostile) -> Limits:
    """Return tight limits of time where one may end the program, else ample ones."""
    times = TIGHT if "timeout" in hostile.verdicts else AMPLE
    if hostile.language == "python":
        return Limits(**times, processes=48, memory_mb=256)
    # A runtime such as node or a compiler needs more than Python does; the walls are the same.
    return Limits(**times | {"cpu_seconds": max(5.0, times["cpu_seconds"])})


def honest() -> Program:
    problem = PROBLEMS["double"]
    judged = {name: problem[name] for name in ("tests", "entry_point", "prompt")}
    return Program(source="def double(x):\n    return 2 * x\n", limits=Limits(**AMPLE), **judged)


def tried(language: str, family: str) -> Any:
    """Return the parameters of a family; using up limits takes half the suite's time, so one language does it for all."""
    is_slow = family == "resources" and language != "bash"
    return pytest.param(language, family, marks=pytest.mark.slow if is_slow else ())


@pytest.fixture(scope="module")
def lone() -> Iterator[Sandbox]:
    """One container for each language, in which a program runs after the other."""
    with Sandbox(SandboxSettings(workers=1)) as sandbox:
        yield sandbox


@pytest.mark.docker
@pytest.mark.timeout(1800)  # a family may hold forty programs that each use up their limit
@pytest.mark.parametrize(("language", "family"), [tried(*each) for each in FAMILIES])
def test_each_gets_its_verdict_and_the_next_honest_program_passes(lone: Sandbox, language: str, family: str) -> None:
    need_engine("python", language)
    found, after = {}, {}
    for hostile in load_programs():
        if (hostile.language, hostile.family) != (language, family):
            continue
        verdict = lone.run(program_of(hostile))
        if verdict.verdict not in hostile.verdicts:
            found[hostile.name] = (verdict.verdict, sorted(hostile.verdicts), verdict.detail)
        if not (next_one := lone.run(honest())).passed:
            after[hostile.name] = next_one
    assert found == {}
    assert after == {}


@pytest.mark.parametrize("reached", ["reached = ['/etc/shadow']", "def reached():\n    yield '/etc/shadow'"])
def test_a_probe_that_reached_something_does_not_pass(tmp_path: Path, reached: str) -> None:
    """Else each of them would pass for nothing."""
    path = tmp_path / "probe.py"
    for text, is_refused in ((reached, False), ("reached = []", True)):
        path.write_text(f"# what: looks around\n# probe: yes\n{text}\n")
        program = read_program(path)
        assert (program.problem, program.verdicts) == ("double", {"passed"})
        names: dict[str, Any] = {}
        exec(program.source, names)  # noqa: S102 - of this test
        with nullcontext() if is_refused else pytest.raises(RuntimeError, match="reached: /etc/shadow"):
            assert names["double"](4) == 8


def test_every_family_has_programs() -> None:
    assert len(load_programs()) > 150
    assert len(FAMILIES) > 20
