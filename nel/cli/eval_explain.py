"""The output of `nel eval score --explain`: how a stored answer was read, as text or JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import typer

from nel.artifacts.explanation import explain
from nel.cli.terminal import plain
from nel.core.strict_json import dumps

_KINDS: Final = {
    "letter": "a letter",
    "number": "a number",
    "yes_no": "yes or no",
    "text": "a short text",
    "mathematics": "mathematics",
}
_SHOWN: Final = 200
"""Characters of a value that are printed."""


def show_explanation(run_dir: Path, sample_id: str, *, as_json: bool) -> None:
    """Print how each answer to a sample was read; score and write nothing."""
    found = explain(run_dir, sample_id)
    if as_json:
        typer.echo(dumps({"run_dir": str(run_dir), "answers": found}))
        return
    for number, one in enumerate(found):
        if number:
            typer.echo("")
        for line in _lines(one):
            typer.echo(plain(line))


def _lines(one: Mapping[str, Any]) -> Iterator[str]:
    repeat = f", repeat {one['repeat']}" if one["repeat"] else ""
    yield f"{one['benchmark']} #{one['problem_idx']}{repeat} ({one['sample_id']})"
    yield f"  expected: {_value(one['expected'])}{_accepted(one)}"
    outcome = one["outcome"]
    kind = outcome["kind"] or ""
    state = outcome["state"].replace("_", " ") + (f" ({kind})" if kind else "")
    reward = one["scored"]["reward"]
    yield (
        f"  scored:   {_value(one['scored']['value'])}, {state}, reward"
        f" {'none' if reward is None else f'{reward:g}'}"
    )
    if one["without_reading"]:
        yield f"  no reading applies: {one['without_reading']}"
        return
    if one["cut_at"] is not None:
        yield (
            f"  from character {one['cut_at']:,} on it goes on with a question of its own, which is"
            " not read"
        )
    for name, reading in one["readings"].items():
        yield from _reading_lines(name, reading)
    yield f"  the readings {'differ' if one['differs'] else 'agree'}"


def _accepted(one: Mapping[str, Any]) -> str:
    if one["kind"] is None:
        return ""
    accepted = " or ".join(_value(value) for value in one["accepted"])
    same = [one["expected"]] if not isinstance(one["expected"], list) else one["expected"]
    return (
        f" ({_KINDS[one['kind']]}{'' if [*map(str, same)] == one['accepted'] else f': {accepted}'})"
    )


def _reading_lines(name: str, reading: Mapping[str, Any]) -> Iterator[str]:
    verdict = (
        "right"
        if reading["reward"] == 1
        else "wrong"
        if reading["reward"] == 0
        else f"{reading['reward']:g}"
    )
    head = f"  {name + ':':<9} "
    if reading["value"] is None:
        yield f"{head}no answer ({reading['form']})"
    else:
        yield f"{head}{_value(reading['value'])}, {verdict}; form: {reading['form']}"
        yield f"            {reading['start']}–{reading['end']}: {reading['excerpt']}"
    for one in reading["rejected"]:
        yield f"            rejected, {one['why']}: {one['start']}–{one['end']}: {one['excerpt']}"


def _value(value: object) -> str:
    text = "none" if value is None else str(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
