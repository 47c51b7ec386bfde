"""Proves each wall of the sandbox by trying to get over it.

A probe is a program with the verdict it must get. Those that must be denied something print
``denied`` only when they were. What an engine says of its limits is not looked at; it may say so
and not hold them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent
from typing import Any, Final

from nel.errors import ConfigError, SandboxError
from nel.sandbox import Sandbox
from nel.sandbox.isolation.languages import Language
from nel.sandbox.verdict.types import Limits, Program, ProgramVerdict, StdinCase, VerdictName

_LIMITS: Final = Limits(cpu_seconds=2.0, idle_seconds=1.5, processes=32, memory_mb=256)
_TESTS: Final = "assert double(2) == 4\nassert double(-3) == -6"
_DENIED: Final = (StdinCase(stdin="", expected_output="denied"),)

_TRY: Final = """
import os, socket, ctypes
def attempt():
{body}
try:
    attempt()
    print("succeeded")
except (OSError, MemoryError):
    print("denied")
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class WallProbe:
    """One wall, and the program that tries to get over it."""

    name: str
    program: Program
    verdict: VerdictName


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeResult:
    """What came of a probe."""

    name: str
    holds: bool
    detail: str


def python_probes() -> Iterator[WallProbe]:
    """Yield the probes of the Python sandbox; later ones find what earlier ones left."""
    text = Path(__file__).with_name("probes.toml").read_text(encoding="utf-8")
    for row in tomllib.loads(text)["probe"]:
        source = (
            row.get("program")
            or row.get("function")
            or _TRY.format(body=indent(row["denied"], "    "))
        )
        programs = (
            {"tests": _TESTS, "entry_point": "double"} if "function" in row else {"cases": _DENIED}
        )
        program = Program(source=source, limits=_LIMITS, **programs)
        yield WallProbe(name=row["name"], program=program, verdict=row.get("verdict", "passed"))


def smoke_probes(language: Language) -> Iterator[WallProbe]:
    """Yield the cases of a language's ``smoke.toml``.

    Raises:
        ConfigError: The file is missing or not usable.
    """
    path = language.folder / "smoke.toml"
    try:
        cases: list[dict[str, Any]] = tomllib.loads(path.read_text(encoding="utf-8"))["case"]
        for case in cases:
            yield WallProbe(
                name=f"{language.name}: {case['name']}",
                program=_of_case(language, case),
                verdict=case["verdict"],
            )
    except (OSError, tomllib.TOMLDecodeError, KeyError) as error:
        raise ConfigError(f"{path} is not usable: {error}") from error


def _of_case(language: Language, case: dict[str, Any]) -> Program:
    tests = case.get("tests")
    stdin_case = StdinCase(
        stdin=case.get("stdin", ""), expected_output=case.get("expected_output", "")
    )
    return Program(
        source=case["program"],
        language=language.name,
        tests=tests,
        entry_point=case.get("entry_point", ""),
        cases=() if tests is not None else (stdin_case,),
        limits=Limits(cpu_seconds=case.get("cpu_seconds", 10.0)),
    )


def run_probes(sandbox: Sandbox, probes: Iterator[WallProbe]) -> Iterator[ProbeResult]:
    """Yield what came of each probe; a fault of the machinery is a wall that does not hold.

    Raises:
        SandboxError: The engine does not answer at all.
    """
    for probe in probes:
        try:
            verdict = sandbox.run(probe.program)
        except SandboxError as error:
            if error.kind in ("no_engine", "no_image"):
                raise
            yield ProbeResult(name=probe.name, holds=False, detail=f"{error.kind}: {error}")
            continue
        yield ProbeResult(
            name=probe.name, holds=verdict.verdict == probe.verdict, detail=_summary(verdict, probe)
        )


def _summary(verdict: ProgramVerdict, probe: WallProbe) -> str:
    if verdict.verdict == probe.verdict:
        return verdict.verdict if verdict.verdict != "passed" else ""
    return (
        f"{verdict.verdict} instead of {probe.verdict}: {verdict.detail or verdict.stderr}".strip(
            ": "
        )
    )
