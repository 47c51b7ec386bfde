"""The output of `nel eval score --explain`: how a stored answer was read, as text or JSON."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import typer

from nel.artifacts.explanation import explain
from nel.cli.terminal import plain
from nel.core.strict_json import dumps
from nel.core.texts import shorten
from nel.reports.extraction import worth_text
from nel.types import JsonObject

_KINDS: Final = {
    "letter": "a letter",
    "number": "a number",
    "yes_no": "yes or no",
    "text": "a short text",
    "mathematics": "mathematics",
}
_VALUE_MAX: Final = 200
"""Characters of a value that are printed."""


def show_explanation(run_dir: Path, sample_id: str, *, as_json: bool) -> None:
    """Print how each answer to a sample was read; score and write nothing."""
    answers = explain(run_dir, sample_id)
    if as_json:
        typer.echo(dumps({"run_dir": str(run_dir), "answers": answers}))
        return
    for number, answer in enumerate(answers):
        if number:
            typer.echo("")
        for line in _lines(answer):
            typer.echo(plain(line))


def _lines(answer: JsonObject) -> Iterator[str]:
    repeat = f", repeat {answer['repeat']}" if answer["repeat"] else ""
    yield f"{answer['benchmark']} #{answer['problem_idx']}{repeat} ({answer['sample_id']})"
    yield f"  expected: {_value(answer['expected'])}{_accepted_text(answer)}"
    outcome = answer["outcome"]
    kind = outcome["kind"] or ""
    state = outcome["state"].replace("_", " ")
    if kind:
        state += f" ({kind})"
    reward = answer["scored"]["reward"]
    reward_text = "none" if reward is None else f"{reward:g}"
    yield f"  scored:   {_value(answer['scored']['value'])}, {state}, reward {reward_text}"
    if answer["without_reading"]:
        yield f"  no reading applies: {answer['without_reading']}"
        return
    if answer["cut_at"] is not None:
        yield (
            f"  from character {answer['cut_at']:,} on it goes on with a question of its own, which is"
            " not read"
        )
    for name, reading in answer["readings"].items():
        yield from _reading_lines(name, reading)
    verb = "differ" if answer["differs"] else "agree"
    yield f"  the readings {verb}"


def _accepted_text(answer: JsonObject) -> str:
    if answer["kind"] is None:
        return ""
    accepted = " or ".join(_value(value) for value in answer["accepted"])
    expected = answer["expected"] if isinstance(answer["expected"], list) else [answer["expected"]]
    text = _KINDS[answer["kind"]]
    # Equal ones stand before it in the line already.
    if list(map(str, expected)) != answer["accepted"]:
        text += f": {accepted}"
    return f" ({text})"


def _reading_lines(name: str, reading: JsonObject) -> Iterator[str]:
    verdict = worth_text(name, reading["reward"])
    head = f"  {name + ':':<9} "
    if reading["value"] is None:
        yield f"{head}no answer ({reading['form']})"
    else:
        yield f"{head}{_value(reading['value'])}, {verdict}; form: {reading['form']}"
        yield f"            {reading['start']}–{reading['end']}: {reading['excerpt']}"
    for candidate in reading["rejected"]:
        yield f"            rejected, {candidate['why']}: {candidate['start']}–{candidate['end']}: {candidate['excerpt']}"


def _value(value: object) -> str:
    return shorten("none" if value is None else str(value), _VALUE_MAX)
