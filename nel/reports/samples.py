"""Chooses which samples a page embeds and truncates each to a preview.

Two passes over results.jsonl: the first counts, the second picks. Memory is bounded by the cap, not by the file, so
neither pass may keep a line it does not show.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from nel.judges.record import KEY as JUDGEMENTS
from nel.judges.stats.summary import judgements_in
from nel.reports.extraction import readings_of_samples
from nel.reports.judge_section import shown_judgements
from nel.reports.numbers import count
from nel.reports.run_files import BenchmarkFiles
from nel.reports.text import PREVIEW_CHARACTERS_MAX, as_text, one_line, preview

Group: TypeAlias = Literal["right", "wrong", "model_failure", "unscored"]

SAMPLES_MAX: Final = 1_000
_FAILURES_MAX: Final = 400
_WRONG_MAX: Final = 300
_MESSAGES_MAX: Final = 40
_LABEL_CHARACTERS_MAX: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What the first pass found, and how many of each group the page embeds."""

    n_total: int
    is_binary: bool
    """Every reward is 0 or 1, so that a scored sample is right or wrong."""
    quotas: Mapping[str, int]

    @property
    def n_shown(self) -> int:
        """Return the number of samples on the page."""
        return sum(self.quotas.values())


def group_of(result: Mapping[str, object]) -> Group:
    """Return where a result belongs; a scored sample is wrong when its reward is 0 or less."""
    state = _outcome(result).get("state")
    if state == "model_failure":
        return "model_failure"
    reward = result.get("reward")
    if state != "scored" or not isinstance(reward, (int, float)):
        return "unscored"
    return "right" if reward > 0 else "wrong"


def select(files: BenchmarkFiles) -> Selection:
    """Count the results and decide how many of each group to show: failures first, then wrong, then right."""
    counts: Counter[str] = Counter()
    is_binary = True
    for result in _asked(files):
        counts[group_of(result)] += 1
        is_binary = is_binary and result.get("reward") in (None, 0, 1)
    return Selection(n_total=counts.total(), is_binary=is_binary, quotas=quotas_of(counts))


def quotas_of(counts: Mapping[str, int]) -> dict[str, int]:
    """Return how many of each group to show; room that one group leaves goes to the others."""
    left = {group: counts.get(group, 0) for group in ("unscored", "model_failure", "wrong", "right")}
    quotas = dict.fromkeys(left, 0)

    def grant(group: str, most: int) -> int:
        granted = min(left[group], most, SAMPLES_MAX - sum(quotas.values()))
        quotas[group] += granted
        left[group] -= granted
        return granted

    granted = grant("unscored", _FAILURES_MAX // 2) + grant("model_failure", _FAILURES_MAX // 2)
    granted += grant("unscored", _FAILURES_MAX - granted)
    grant("model_failure", _FAILURES_MAX - granted)
    grant("wrong", _WRONG_MAX)
    for group in ("right", "wrong", "unscored", "model_failure"):
        grant(group, SAMPLES_MAX)
    return quotas


def shown_samples(files: BenchmarkFiles, selection: Selection) -> Iterator[dict[str, object]]:
    """Yield the previews of the chosen samples in problem order, the first of each group up to its quota."""
    left, readings = dict(selection.quotas), readings_of_samples(files)
    for result in _asked(files):
        group = group_of(result)
        if left[group] > 0:
            left[group] -= 1
            place = str(result.get("sample_id")), result.get("repeat")
            yield {**_sample(result, group), "reading": readings.get(place)}
        elif not any(left.values()):
            return


def _asked(files: BenchmarkFiles) -> Iterator[Mapping[str, Any]]:
    """Yield the results but those that a stop rule left out, which have nothing to show."""
    return (result for result in files.results() if _outcome(result).get("state") != "not_asked")


def _sample(result: Mapping[str, object], group: Group) -> dict[str, object]:
    outcome, metadata = _outcome(result), result.get("metadata") or {}
    details = result.get("scoring_details") or {}
    category = metadata.get("category") if isinstance(metadata, Mapping) else None
    return {
        "index": result.get("problem_idx"),
        "repeat": result.get("repeat"),
        "id": _label(result.get("sample_id")),
        "group": group,
        "kind": _label(_kind(outcome, group)),
        "category": None if category is None else _label(category),
        "reward": result.get("reward"),
        "prompt": _prompt(result.get("prompt")),
        "response": _optional(result.get("model_response")),
        "reasoning": _optional(result.get("reasoning")),
        "expected": _optional(result.get("expected_answer")),
        "extracted": _optional(result.get("extracted_answer")),
        "detail": _optional(outcome.get("detail")),
        "judgements": shown_judgements(details.get(JUDGEMENTS)) if isinstance(details, Mapping) else [],
        "scoring": _scoring(details),
        "metadata": preview(as_text(metadata)) if metadata else None,
        "facts": _facts(result),
    }


def _scoring(details: object) -> str | None:
    """Return what the scorer said beside judgements, which are shown apart."""
    rest = details
    if isinstance(details, Mapping) and judgements_in(details.get(JUDGEMENTS)):
        rest = {key: value for key, value in details.items() if key != JUDGEMENTS}
    return preview(as_text(rest)) if rest else None


def _outcome(result: Mapping[str, object]) -> Mapping[str, object]:
    outcome = result.get("outcome")
    return outcome if isinstance(outcome, Mapping) else {}


def _kind(outcome: Mapping[str, object], group: Group) -> str:
    if group == "unscored":
        return f"{outcome.get('cause')}:{outcome.get('kind')}"
    return str(outcome.get("kind")) if group == "model_failure" else ""


def _prompt(prompt: object) -> list[list[str]]:
    """Return ``[role, text]`` pairs; the last messages get the room, since the question is there."""
    if not isinstance(prompt, list):
        return [] if prompt is None else [["", preview(as_text(prompt))]]
    room, shown = PREVIEW_CHARACTERS_MAX, []
    for message in reversed(prompt[-_MESSAGES_MAX:]):
        if room <= 0:
            break
        role = message.get("role", "") if isinstance(message, Mapping) else ""
        text = _content(message.get("content") if isinstance(message, Mapping) else message)
        shown.append([_label(role), preview(text, characters_max=room)])
        room -= len(text)
    if len(shown) < len(prompt):
        n_cut = len(prompt) - len(shown)
        shown.append(["", f"[… {count(n_cut)} earlier messages cut here; results.jsonl holds all …]"])
    return shown[::-1]


def _content(content: object) -> str:
    if not isinstance(content, list):
        return "" if content is None else as_text(content)
    parts = [part if isinstance(part, Mapping) else {"text": as_text(part)} for part in content]
    return "\n".join(as_text(part["text"]) if "text" in part else f"[{part.get('type')}]" for part in parts)


def _optional(value: object) -> str | None:
    return None if value is None else preview(as_text(value))


def _label(value: object) -> str:
    text = as_text(value)
    cut = text if len(text) <= _LABEL_CHARACTERS_MAX else text[:_LABEL_CHARACTERS_MAX] + "…"
    return one_line(cut)


def _facts(result: Mapping[str, Any]) -> list[list[str]]:
    timing, tokens = result.get("timing") or {}, result.get("tokens") or {}
    facts = {
        "finish reason": result.get("finish_reason"),
        "model": result.get("model"),
        "latency (s)": timing.get("latency_seconds"),
        "first token (s)": timing.get("first_token_seconds"),
        "attempts": timing.get("attempts"),
        **{f"{name} tokens": tokens.get(name) for name in ("prompt", "completion", "reasoning", "cached")},
    }
    return [
        [name, _label(round(value, 3) if isinstance(value, float) else value)]
        for name, value in facts.items()
        if value is not None
    ]
