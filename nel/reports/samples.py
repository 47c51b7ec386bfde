"""Chooses which samples a page embeds and truncates each to a preview.

One pass over results.jsonl where all samples fit on the page: each is packed as it is counted. Else
two: the first counts and draws, the second decodes what was drawn. Memory is bounded by the cap, not
by the file, so neither pass may keep a line it does not show.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from nel.core.forked_map import collection_paused
from nel.core.message_json import with_calls
from nel.judges.record import KEY as JUDGEMENTS
from nel.metrics.category_fields import category_of
from nel.reports.choices import (
    Confusion,
    Options,
    confusion_of,
    in_place_of_answer,
    options_in,
    read_answer,
)
from nel.reports.distributions import Chart, bin_of, chart_of
from nel.reports.drawing import Draw, fair_shares
from nel.reports.extraction import readings_of_samples
from nel.reports.island import PackedSamples
from nel.reports.judge_section import shown_judgements
from nel.reports.numbers import count
from nel.reports.questions import question_of
from nel.reports.run_files import BenchmarkFiles
from nel.reports.text import PREVIEW_CHARACTERS_MAX, as_text, content_text, cut, preview
from nel.types import JsonObject

Group: TypeAlias = Literal["right", "wrong", "model_failure", "unscored"]

SAMPLES_MAX: Final = 5_000
"""On a page, of all its benchmarks together: each costs CPU time and a kilobyte; `nel view` has all."""
_CATEGORIES_MAX: Final = 1_000
"""Further ones are shown with their samples, and are not a stratum and no filter of their own."""
_GIST_CHARACTERS_MAX: Final = 160
_MESSAGES_MAX: Final = 40
_NUMBERS: Final = (int, float)
_BINARY: Final = (None, 0, 1)
"""Rewards of a scorer that says right or wrong, or nothing."""
_LABEL_CHARACTERS_MAX: Final = 200
_MEASURED: Final = (
    "latency", "first_token", "characters", "completion_tokens", "reasoning_tokens", "prompt_tokens",
)  # fmt: skip
"""Names of measures that a line of results.jsonl has, in the order of their charts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What counting the results came to, and the samples that the page embeds."""

    n_total: int
    is_binary: bool
    """Every reward is 0 or 1, so that a scored sample is right or wrong."""
    totals: Mapping[str, Mapping[str, int]]
    """Samples by group, kind and category, whether shown or not."""
    samples: PackedSamples
    charts: Sequence[Chart]
    confusion: Confusion | None
    """Of a multiple-choice benchmark."""

    @property
    def n_shown(self) -> int:
        """Return the number of samples on the page."""
        return self.samples.n


class _Line:
    """A line of results.jsonl, with what both the counts and the page need to know of it."""

    __slots__ = ("category", "group", "kind", "options", "outcome", "result")

    def __init__(self, result: JsonObject, outcome: JsonObject) -> None:
        self.result = result
        self.outcome = outcome
        self.group: Group = group_of(outcome.get("state"), result.get("reward"))
        self.kind = _kind(outcome, self.group)
        self.category = _category(result)
        self.options = options_in(result)


def group_of(state: object, reward: object) -> Group:
    """Return where a result belongs; a scored sample is wrong when its reward is 0 or less."""
    if state == "model_failure":
        return "model_failure"
    if state != "scored" or not isinstance(reward, (int, float)):
        return "unscored"
    return "right" if reward > 0 else "wrong"


def select(files: Sequence[BenchmarkFiles], *, samples_max: int = SAMPLES_MAX) -> list[Selection]:
    """Count the results of each benchmark and choose what is shown: all if they fit, else a draw.

    Args:
        samples_max: Of all benchmarks together; each gets equal room, and what one leaves free goes
            to the others.
    """
    n_expected = sum(file.metrics["accounting"]["n_total"] for file in files)
    # Where not all fit, the first pass only counts and draws.
    room = samples_max if n_expected <= samples_max else 0
    tallies = [_Tally(Draw(samples_max)) for _ in files]
    packed = [_pack(file, room, tally=tally) for file, tally in zip(files, tallies, strict=True)]
    shares = fair_shares({number: tally.n for number, tally in enumerate(tallies)}, samples_max)
    selections = []
    for number, tally in enumerate(tallies):
        samples = packed[number]
        is_whole = samples.n == tally.n <= shares[number]
        if not is_whole:
            drawn = tally.draw.draw(shares[number])
            samples = _pack(files[number], len(drawn), line_numbers=drawn)
        selections.append(tally.selection(samples))
    return selections


@dataclass(slots=True)
class _Tally:
    """What the first pass gathers; bounded by the room of the draw, not by the file."""

    draw: Draw
    is_binary: bool = True
    kinds: Counter[str] = field(default_factory=Counter)
    categories: set[str] = field(default_factory=lambda: {""})
    bins: Sequence[Counter[int]] = field(default_factory=lambda: [Counter() for _ in _MEASURED])
    """Of each of `_MEASURED`."""
    choices: Counter[tuple[str, str]] = field(default_factory=Counter)

    @property
    def n(self) -> int:
        return self.draw.counts.total()

    def add(self, line: _Line, position: int) -> None:
        result, category = line.result, line.category or ""
        if category not in self.categories:
            # One stratum for all further categories, so that the number of strata is bounded.
            if len(self.categories) > _CATEGORIES_MAX:
                category = ""
            self.categories.add(category)
        if line.kind:
            self.kinds[_label(line.kind)] += 1
        self.is_binary = self.is_binary and result.get("reward") in _BINARY
        self.draw.add((category, line.group), str(result.get("sample_id")), position)
        for bins, value in zip(self.bins, _measures(result), strict=True):
            if value is not None and type(value) in _NUMBERS and 0 <= value < math.inf:
                bins[bin_of(value)] += 1
        if line.options is not None and line.group != "unscored":
            answer = _optional(result.get("extracted_answer"))
            choice = line.options.choice(answer, result.get("scoring_details"))
            if choice is not None:
                self.choices[choice] += 1

    def selection(self, samples: PackedSamples) -> Selection:
        charts = [chart_of(name, bins) for name, bins in zip(_MEASURED, self.bins, strict=True)]
        categories, groups = Counter[str](), Counter[str]()
        for (category, group), n_drawn_from in self.draw.counts.items():
            categories[category] += n_drawn_from
            groups[group] += n_drawn_from
        del categories[""]  # samples without a category, and those of too many
        return Selection(
            n_total=self.n,
            is_binary=self.is_binary,
            totals={"group": groups, "kind": self.kinds, "category": categories},
            samples=samples,
            charts=[chart for chart in charts if chart is not None],
            confusion=confusion_of([(*choice, n) for choice, n in self.choices.items()]),
        )


def _pack(
    files: BenchmarkFiles,
    room: int,
    *,
    tally: _Tally | None = None,
    line_numbers: frozenset[int] | None = None,
) -> PackedSamples:
    """Return the first results packed, but for those that a stop rule left out: they have nothing to
    show.

    Args:
        files: Of the benchmark.
        room: How many are packed.
        tally: Counts all that are read.
        line_numbers: Of the results that are read; None for all.
    """
    samples, readings = PackedSamples(), readings_of_samples(files)
    with collection_paused():  # lines of JSON have no cycles
        for number, result in files.numbered_results(line_numbers):
            outcome = result.get("outcome")
            line = _Line(result, outcome if isinstance(outcome, dict) else {})
            if line.outcome.get("state") == "not_asked":
                continue
            if tally is not None:
                tally.add(line, number)
            if samples.n < room:
                samples.add(*_row_and_details(line, readings))
    return samples


def _row_and_details(
    line: _Line, readings: Mapping[tuple[str, object], str]
) -> tuple[list[object], dict[str, object]]:
    """Return a sample's row, and what opening it shows."""
    result = line.result
    extracted = read_answer(result.get("extracted_answer"), result.get("scoring_details"))
    response = with_calls(result.get("model_response"), result.get("tool_calls"))
    details = _details(line, extracted, response)
    details["reading"] = None
    if readings:
        key = str(result.get("sample_id")), result.get("repeat")
        details["reading"] = readings.get(key)
    return _row(line, extracted, response), details


def _measures(result: JsonObject) -> tuple[Any, ...]:
    """Return the values of `_MEASURED`."""
    timing, tokens = result.get("timing") or {}, result.get("tokens") or {}
    response = result.get("model_response")
    return (
        timing.get("latency_seconds"),
        timing.get("first_token_seconds"),
        len(response) if isinstance(response, str) else None,
        tokens.get("completion"),
        tokens.get("reasoning"),
        tokens.get("prompt"),
    )


def _row(line: _Line, extracted: object, response: str | None) -> list[object]:
    """Return what the list shows of a sample, in the order in which report.js reads it."""
    result = line.result
    return [
        result.get("problem_idx"),
        result.get("repeat") or 0,
        line.group,
        line.kind and _label(line.kind),
        line.category,
        result.get("reward"),
        cut(question_of(result.get("metadata"), result.get("prompt")), _GIST_CHARACTERS_MAX),
        cut(response or line.outcome.get("detail") or "", _GIST_CHARACTERS_MAX),
        _gist(extracted),
        _gist(result.get("expected_answer")),
    ]


def _gist(value: object) -> str | None:
    return None if value is None else cut(value, _GIST_CHARACTERS_MAX)


def _category(result: JsonObject) -> str | None:
    """Return the field of the row that categories are made of, where it has one."""
    metadata = result.get("metadata")
    if not isinstance(metadata, dict):
        return None
    category = category_of(metadata)
    return None if category is None else _label(category)


def _details(line: _Line, extracted: object, response: str | None) -> dict[str, object]:
    """Return what opening a sample shows of it."""
    result, outcome, options = line.result, line.outcome, line.options
    details = result.get("scoring_details") or {}
    if extracted is None:
        is_scored = outcome.get("state") == "scored"
        extracted_text: str | None = in_place_of_answer(details, is_scored=is_scored)
    else:
        extracted_text = _in_words(_optional(extracted), options)
    return {
        "id": _label(result.get("sample_id")),
        "prompt": _prompt(result.get("prompt")),
        "response": _optional(response),
        "reasoning": _optional(result.get("reasoning")),
        "options": [] if options is None else _options(options, extracted),
        "expected": _expected_text(result, options),
        "extracted": extracted_text,
        "detail": _optional(outcome.get("detail")),
        **_scoring(details),
        "metadata": _optional(result.get("metadata") or None),
        "facts": facts_of(result),
    }


def _options(options: Options, extracted: object) -> list[list[object]]:
    """Return ``[label, text, is_expected, is_read]`` of each option."""
    read_label = as_text(extracted).strip()
    return [
        [label, preview(text), label == options.expected, label == read_label]
        for label, text in options.texts.items()
    ]


def _expected_text(result: Mapping[str, object], options: Options | None) -> str | None:
    if options is not None and options.expected:
        return _in_words(options.expected, options)
    return _optional(result.get("expected_answer"))


def _in_words(label: str | None, options: Options | None) -> str | None:
    words = label if options is None else options.in_words(label)
    return None if words is None else preview(words)


def _scoring(details: object) -> dict[str, object]:
    """Return the judgements as shown, and what else the scorer said, as ``scoring``."""
    judgements: list[dict[str, object]] = []
    if isinstance(details, Mapping) and details.get(JUDGEMENTS):
        judgements = shown_judgements(details[JUDGEMENTS])
        if judgements:
            details = {key: value for key, value in details.items() if key != JUDGEMENTS}
    return {"judgements": judgements, "scoring": _optional(details or None)}


def _kind(outcome: Mapping[str, object], group: Group) -> str:
    if group == "unscored":
        return f"{outcome.get('cause')}:{outcome.get('kind')}"
    if group == "model_failure":
        return str(outcome.get("kind"))
    return ""


def _prompt(prompt: object) -> list[list[str]]:
    """Return ``[role, text]`` pairs; the last messages get the room, as they hold the question."""
    if prompt is None:
        return []
    if not isinstance(prompt, list):
        return [["", preview(as_text(prompt))]]
    room = PREVIEW_CHARACTERS_MAX  # of all messages together
    lines = []
    for message in reversed(prompt[-_MESSAGES_MAX:]):
        if room <= 0:
            break
        role, content = "", message
        if isinstance(message, Mapping):
            role, content = message.get("role", ""), message.get("content")
        text = content_text(content)
        lines.append([_label(role), preview(text, characters_max=room)])
        room -= len(text)
    if len(lines) < len(prompt):
        n_cut = len(prompt) - len(lines)
        lines.append(
            ["", f"[… {count(n_cut)} earlier messages cut here; results.jsonl holds all …]"]
        )
    return lines[::-1]


def _optional(value: object) -> str | None:
    return None if value is None else preview(as_text(value))


def _label(value: object) -> str:
    return cut(value, _LABEL_CHARACTERS_MAX)


def facts_of(result: JsonObject) -> list[tuple[str, str]]:
    """Return what is known of the request of a line of results.jsonl, by name."""
    timing, tokens = result.get("timing") or {}, result.get("tokens") or {}
    facts: dict[str, object] = {}
    episode = result.get("episode")
    if episode:
        facts = {
            "solver": episode.get("solver"),
            "steps": episode.get("steps"),
            "calls of tools": episode.get("tool_calls"),
            "ended by": episode.get("ended_by"),
            "work (s)": (timing.get("episode") or {}).get("work_seconds"),
            "cost": episode.get("cost"),
        }
    facts |= {
        "finish reason": result.get("finish_reason"),
        "served model": result.get("served_model"),
        "latency (s)": timing.get("latency_seconds"),
        "first token (s)": timing.get("first_token_seconds"),
        "attempts": timing.get("attempts"),
        "prompt tokens": tokens.get("prompt"),
        "completion tokens": tokens.get("completion"),
        "reasoning tokens": tokens.get("reasoning"),
        "cached tokens": tokens.get("cached"),
    }
    return [(name, _fact(value)) for name, value in facts.items() if value is not None]


def _fact(value: object) -> str:
    if type(value) is int:
        return str(value)
    if type(value) is float:
        return str(round(value, 3))
    return _label(value)
