"""Chooses which samples a page embeds and truncates each to a preview.

Two passes over results.jsonl: the first counts and draws, the second decodes what was drawn. Memory
is bounded by the cap, not by the file, so neither pass may keep a line it does not show.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from nel.core.forked_map import collection_paused
from nel.core.message_json import with_calls
from nel.judges.record import KEY as JUDGEMENTS
from nel.judges.record import judgements_in
from nel.reports.choices import (
    Confusion,
    Options,
    confusion_of,
    in_place_of_answer,
    options_in,
    read_answer,
)
from nel.reports.distributions import MEASURES, Chart, bin_of, chart_of
from nel.reports.drawing import Draw, fair_shares
from nel.reports.extraction import readings_of_samples
from nel.reports.judge_section import shown_judgements
from nel.reports.numbers import count
from nel.reports.questions import question_of
from nel.reports.run_files import BenchmarkFiles
from nel.reports.text import PREVIEW_CHARACTERS_MAX, as_text, content_text, cut, preview

Group: TypeAlias = Literal["right", "wrong", "model_failure", "unscored"]

SAMPLES_MAX: Final = 5_000
"""On a page, of all its benchmarks together: each costs CPU time and a kilobyte; `nel view` has all."""
_CATEGORIES_MAX: Final = 1_000
"""Further ones are shown with their samples, and are not a stratum and no filter of their own."""
_GIST_CHARACTERS_MAX: Final = 160
_MESSAGES_MAX: Final = 40
_NUMBERS: Final = (int, float)
_LABEL_CHARACTERS_MAX: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What the first pass found, and which samples the page embeds."""

    n_total: int
    is_binary: bool
    """Every reward is 0 or 1, so that a scored sample is right or wrong."""
    totals: Mapping[str, Mapping[str, int]]
    """Samples by group, kind and category, whether shown or not."""
    chosen: frozenset[int] | None
    """Numbers of their lines; None is all of them."""
    charts: Sequence[Chart]
    confusion: Confusion | None
    """Of a multiple-choice benchmark."""

    @property
    def n_shown(self) -> int:
        """Return the number of samples on the page."""
        return self.n_total if self.chosen is None else len(self.chosen)


def group_of(result: Mapping[str, object]) -> Group:
    """Return where a result belongs; a scored sample is wrong when its reward is 0 or less."""
    state = _outcome(result).get("state")
    if state == "model_failure":
        return "model_failure"
    reward = result.get("reward")
    if state != "scored" or not isinstance(reward, (int, float)):
        return "unscored"
    return "right" if reward > 0 else "wrong"


def select(files: Sequence[BenchmarkFiles], *, samples_max: int = SAMPLES_MAX) -> list[Selection]:
    """Count the results of each benchmark and choose what is shown: all if they fit, else a draw.

    Args:
        samples_max: Of all benchmarks together; each gets equal room, and what one leaves free goes
            to the others.
    """
    counts = [_count(file, samples_max) for file in files]
    shares = fair_shares(
        {position: file.draw.counts.total() for position, file in enumerate(counts)}, samples_max
    )
    return [file.selection(shares[position]) for position, file in enumerate(counts)]


def shown_samples(
    files: BenchmarkFiles, selection: Selection
) -> Iterator[tuple[list[object], Mapping[str, object]]]:
    """Yield each chosen sample's row, and what opening it shows, in the order of results."""
    readings = readings_of_samples(files)
    for _, result in _asked_results(files.numbered_results(selection.chosen)):
        group = group_of(result)
        key = str(result.get("sample_id")), result.get("repeat")
        yield (
            _row(result, group),
            {
                **_details(result),
                "reading": readings.get(key),
            },
        )


@dataclass(slots=True)
class _Count:
    """What the first pass gathers; bounded by the room of the draw, not by the file."""

    draw: Draw
    is_binary: bool = True
    kinds: Counter[str] = field(default_factory=Counter)
    categories: set[str] = field(default_factory=lambda: {""})
    bins: defaultdict[str, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    choices: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, result: Mapping[str, Any], position: int) -> None:
        group, category = group_of(result), _category(result) or ""
        if category not in self.categories and len(self.categories) > _CATEGORIES_MAX:
            category = ""
        self.categories.add(category)
        kind = _kind(_outcome(result), group)
        if kind:
            self.kinds[_label(kind)] += 1
        self.is_binary = self.is_binary and result.get("reward") in (None, 0, 1)
        self.draw.add((category, group), str(result.get("sample_id")), position)
        for name, value in _measures(result).items():
            if type(value) in _NUMBERS and 0 <= value < math.inf:
                self.bins[name][bin_of(value)] += 1
        if group != "unscored" and (options := options_in(result)) is not None:
            answer = _optional(result.get("extracted_answer"))
            choice = options.choice(answer, result.get("scoring_details"))
            self.choices.update([] if choice is None else [choice])

    def selection(self, room: int) -> Selection:
        n = self.draw.counts.total()
        charts = [chart_of(name, self.bins[name]) for name in MEASURES if name in self.bins]
        categories, groups = Counter[str](), Counter[str]()
        for (category, group), n_drawn_from in self.draw.counts.items():
            categories[category] += n_drawn_from
            groups[group] += n_drawn_from
        del categories[""]
        return Selection(
            n_total=n,
            is_binary=self.is_binary,
            totals={"group": groups, "kind": self.kinds, "category": categories},
            chosen=None if n <= room else self.draw.draw(room),
            charts=[chart for chart in charts if chart is not None],
            confusion=confusion_of([(*choice, n) for choice, n in self.choices.items()]),
        )


def _count(files: BenchmarkFiles, samples_max: int) -> _Count:
    count = _Count(Draw(samples_max))
    with collection_paused():  # lines of JSON have no cycles
        for number, result in _asked_results(files.numbered_results()):
            count.add(result, number)
    return count


def _measures(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is charted of a result, by the names of `MEASURES`."""
    timing, tokens = result.get("timing") or {}, result.get("tokens") or {}
    response = result.get("model_response")
    return {
        "latency": timing.get("latency_seconds"),
        "first_token": timing.get("first_token_seconds"),
        "characters": len(response) if isinstance(response, str) else None,
        "completion_tokens": tokens.get("completion"),
        "reasoning_tokens": tokens.get("reasoning"),
        "prompt_tokens": tokens.get("prompt"),
    }


def _asked_results(
    results: Iterable[tuple[int, dict[str, Any]]],
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the results but those that a stop rule left out, which have nothing to show."""
    return (
        (number, result)
        for number, result in results
        if _outcome(result).get("state") != "not_asked"
    )


def _row(result: Mapping[str, Any], group: Group) -> list[object]:
    """Return what the list shows of a sample, in the order in which report.js reads it."""
    extracted, target = _answer_read(result), result.get("expected_answer")
    outcome = _outcome(result)
    return [
        result.get("problem_idx"),
        result.get("repeat") or 0,
        group,
        _label(_kind(outcome, group)),
        _category(result),
        result.get("reward"),
        cut(question_of(result.get("metadata"), result.get("prompt")), _GIST_CHARACTERS_MAX),
        cut(_answer_text(result) or outcome.get("detail") or "", _GIST_CHARACTERS_MAX),
        None if extracted is None else cut(extracted, _GIST_CHARACTERS_MAX),
        None if target is None else cut(target, _GIST_CHARACTERS_MAX),
    ]


def _answer_text(result: Mapping[str, Any]) -> str | None:
    return with_calls(result.get("model_response"), result.get("tool_calls"))


def _category(result: Mapping[str, Any]) -> str | None:
    """Return the field of the row that categories are made of, where it has one."""
    metadata = result.get("metadata")
    if not isinstance(metadata, dict):
        return None
    category = metadata.get("category", metadata.get("subject"))
    return None if category is None else _label(category)


def _details(result: Mapping[str, object]) -> dict[str, object]:
    outcome, metadata = _outcome(result), result.get("metadata") or {}
    details = result.get("scoring_details") or {}
    options = options_in(result)
    extracted = _answer_read(result)
    return {
        "id": _label(result.get("sample_id")),
        "prompt": _prompt(result.get("prompt")),
        "response": _optional(_answer_text(result)),
        "reasoning": _optional(result.get("reasoning")),
        "options": [] if options is None else _options(options, extracted),
        "expected": _expected_text(result, options),
        "extracted": (
            in_place_of_answer(details, is_scored=outcome.get("state") == "scored")
            if extracted is None
            else _in_words(_optional(extracted), options)
        ),
        "detail": _optional(outcome.get("detail")),
        "judgements": (
            shown_judgements(details.get(JUDGEMENTS)) if isinstance(details, Mapping) else []
        ),
        "scoring": _scoring(details),
        "metadata": preview(as_text(metadata)) if metadata else None,
        "facts": facts_of(result),
    }


def _answer_read(result: Mapping[str, Any]) -> Any:
    return read_answer(result.get("extracted_answer"), result.get("scoring_details"))


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


def _scoring(details: object) -> str | None:
    """Return what the scorer said beside judgements, which are shown apart."""
    other_details = details
    if isinstance(details, Mapping) and judgements_in(details.get(JUDGEMENTS)):
        other_details = {key: value for key, value in details.items() if key != JUDGEMENTS}
    return preview(as_text(other_details)) if other_details else None


def _outcome(result: Mapping[str, object]) -> Mapping[str, object]:
    outcome = result.get("outcome")
    return outcome if isinstance(outcome, dict) else {}


def _kind(outcome: Mapping[str, object], group: Group) -> str:
    if group == "unscored":
        return f"{outcome.get('cause')}:{outcome.get('kind')}"
    return str(outcome.get("kind")) if group == "model_failure" else ""


def _prompt(prompt: object) -> list[list[str]]:
    """Return ``[role, text]`` pairs; the last messages get the room, as they hold the question."""
    if not isinstance(prompt, list):
        return [] if prompt is None else [["", preview(as_text(prompt))]]
    room, lines = PREVIEW_CHARACTERS_MAX, []
    for message in reversed(prompt[-_MESSAGES_MAX:]):
        if room <= 0:
            break
        role = message.get("role", "") if isinstance(message, Mapping) else ""
        text = content_text(message.get("content") if isinstance(message, Mapping) else message)
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


def facts_of(result: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what is known of the request of a line of results.jsonl, by name."""
    timing, tokens = result.get("timing") or {}, result.get("tokens") or {}
    episode = result.get("episode")
    facts = (
        {}
        if not episode
        else {
            "solver": episode.get("solver"),
            "steps": episode.get("steps"),
            "calls of tools": episode.get("tool_calls"),
            "ended by": episode.get("ended_by"),
            "work (s)": (timing.get("episode") or {}).get("work_seconds"),
            "cost": episode.get("cost"),
        }
    )
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
    return [
        (name, _label(round(value, 3) if isinstance(value, float) else value))
        for name, value in facts.items()
        if value is not None
    ]
