"""``inspect://PKG/TASK``: a task of Inspect as a benchmark of nel.

The messages that its solvers make become nel's samples, so that its client sends them, its store keeps them and its
artifacts show them; the task's own scorers judge the answers. Trap: the scorer runs in a process of its own, which is
forked after the task was loaded; a rescoring loads it again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from math import isfinite, isnan
from pathlib import PurePath
from typing import Any, Final, Self
from urllib.parse import parse_qsl, unquote

from nel import Benchmark, Message, Sample, Score, ScorerInput
from nel.benchmarks.base import recorded_in
from nel.errors import ConfigError, DatasetError, ScorerError
from nel.prompts import load_template
from nel_inspect.solving import Refused
from nel_inspect.tasks import Address, Rows, load_task

_GRADES: Final = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
_WORDS: Final = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
"""What Inspect counts beside grades and numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskBenchmark(Benchmark):
    """A benchmark whose rows are a task's samples with their messages."""

    def sample(self, raw: Mapping[str, Any], *, sample_id: str) -> Sample:
        """Return the sample that a row of `LoadedTask.rows` describes.

        Raises:
            DatasetError: The task cannot ask it, or it lacks the recorded answer that is to be scored.
        """
        if "fault" in raw:
            raise DatasetError(str(raw["fault"]))
        described = raw["sample"]
        choices = described.get("choices")
        return Sample(
            id=sample_id,
            input=tuple(_message(one) for one in raw["messages"]),
            target=described["target"],
            choices=tuple(choices) if choices else None,
            metadata=dict(described),
            recorded_response=None if self.response_field is None else recorded_in(described, self.response_field),
        )

    def with_shots(self, rows: Sequence[Any], **_: Any) -> Self:
        """Refuse examples, which the task chooses and shows itself.

        Raises:
            ConfigError: Always.
        """
        raise ConfigError(
            f"{self.name} chooses its own examples and not among {len(rows)} others; instead of --num-fewshot give the "
            "task's own argument, where it has one: inspect://PKG/TASK?fewshot=N"
        )


def open_task(uri: str) -> Benchmark:
    """Return the benchmark that ``inspect://PKG/TASK?ARGUMENT=VALUE`` or ``inspect:///PATH/FILE.py@TASK`` names.

    Raises:
        ConfigError: The address or the task cannot be run.
        DatasetError: The task or its data set cannot be had.
        MissingExtra: inspect_ai is not installed.
    """
    address = parse_address(uri)
    loaded = load_task(address)
    named = address.task if address.is_file else f"{address.home}-{address.task}"
    plain = re.sub(r"[^a-z0-9_-]+", "-", named.lower()).strip("-")
    return TaskBenchmark(
        name=f"inspect-{plain}",
        description=f"{named} of Inspect, inspect_ai {metadata.version('inspect_ai')}{loaded.notes()}",
        dataset=Rows(loaded),
        prompt=load_template("made by Inspect", name="prompt"),
        scorer=partial(score, address=address),
        protocol="chat",
        generation=loaded.generation,
        extra={"task": loaded.digest},
    )


def score(sample: ScorerInput, *, address: Address) -> Score:
    """Return what the task's own scorers say of an answer: one value, or one for each scorer and each key of theirs.

    Raises:
        ScorerError: A scorer gave no value or none that is a number, or the task did what nel cannot do for it.
    """
    expected = None if sample.sample is None else [_sent(one) for one in sample.sample.input]
    try:
        found = load_task(address).scores(sample.metadata, sample.response, expected)
    except Refused as error:
        raise ScorerError(f"{address.task} {error}") from error
    values: dict[str, Any] = {}
    details: dict[str, Any] = {}
    for name, one in found:
        if one is None or _is_nan(one.value):
            said = getattr(one, "explanation", None) or getattr(one, "reason", None)
            raise ScorerError(f"{name} gave no score{f': {said}' if said else ''}")
        values |= _values(name, one.value, is_alone=len(found) == 1)
        details |= _details(one) if len(found) == 1 else {name: {"answer": one.answer, **_details(one)}}
    first = found[0][1]
    lone = next(iter(values.values())) if list(values) == [""] else values
    explanation = first.explanation if len(found) == 1 else None
    return Score(value=lone, answer=first.answer, explanation=explanation, metadata=details)


def parse_address(uri: str) -> Address:
    """Return what a URI names.

    Raises:
        ConfigError: It names no package and task, no file and task, a relative path, or an argument twice.

    >>> parse_address("inspect://inspect_evals/gsm8k?fewshot=5")
    Address(home='inspect_evals', task='gsm8k', arguments=(('fewshot', '5'),))
    >>> parse_address("inspect:///tmp/capitals.py@capitals").home
    '/tmp/capitals.py'
    """
    place, _, query = uri.partition("://")[2].partition("?")
    place = unquote(place)
    home, mark, task = place.rpartition("@")
    if not (mark and home.endswith(".py")):
        home, _, task = place.partition("/")
    if not home or not task or home.endswith(".py") != bool(mark):
        raise ConfigError(f"{uri} names no task; write inspect://PKG/TASK or inspect:///PATH/FILE.py@TASK")
    if mark and not PurePath(home).is_absolute():
        raise ConfigError(f"{uri}: give the whole path, or a resume elsewhere would not find it: inspect://$PWD/{home}")
    arguments: dict[str, str] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        if name in arguments:
            raise ConfigError(f"{uri}: {name} is given twice; a list is written {name}=[1,2]")
        arguments[name] = value
    return Address(home=home, task=task, arguments=tuple(sorted(arguments.items())))


def _values(name: str, value: Any, *, is_alone: bool) -> dict[str, Any]:
    """Return a value by the names of its metrics; a lone value that is no mapping has the empty name."""
    if isinstance(value, Mapping):
        begin = "" if is_alone else f"{name}_"
        return {f"{begin}{key}": _number(name, item) for key, item in value.items() if item is not None}
    if is_alone:
        return {"": value if isinstance(value, str) and value in _GRADES else _number(name, value)}
    return {name: _number(name, value)}


def _is_nan(value: Any) -> bool:
    """Return whether a value is Inspect's sign of an answer that could not be scored."""
    return isinstance(value, float) and isnan(value)


def _number(name: str, value: Any) -> float | bool:
    """Return what Inspect's metrics make of a value, but no 0 of what it cannot read.

    Raises:
        ScorerError: It is no grade, no number and no word that Inspect counts.
    """
    if isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, str):
        known = _GRADES.get(value, _WORDS.get(value.lower()))
        if known is not None:
            return known
        try:
            number = float(value)
        except ValueError:
            number = float("nan")
        if isfinite(number):
            return number
    raise ScorerError(f"{name} gave {value!r}, which is no grade and no number")


def _details(one: Any) -> dict[str, Any]:
    reason = getattr(one, "reason", None)
    return {**(one.metadata or {}), **({} if reason is None else {"reason": str(reason)})}


def _message(described: Mapping[str, Any]) -> Message:
    content = described["content"]
    return Message(role=described["role"], content=content if isinstance(content, str) else tuple(content))


def _sent(message: Any) -> dict[str, Any]:
    content = message.content
    return {"role": message.role, "content": content if isinstance(content, str) else [dict(one) for one in content]}
