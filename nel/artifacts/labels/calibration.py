"""What a run's labels say of its judge: calibration.json, and the corrected headline.

``labels.jsonl`` beside a benchmark's artifacts holds the labels that people gave; it is read each
time artifacts are written. It is input, not an artifact: it cannot be regenerated. A label whose
answer has changed since is kept there but no longer counted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

from nel.artifacts.files import BORROWED_NAME, CALIBRATION_NAME, LABELS_NAME
from nel.artifacts.labels.annotators import annotators_json
from nel.artifacts.labels.pairs import baseline_of, is_pair
from nel.artifacts.results import Result, reward_of
from nel.core.atomic_files import write_file
from nel.core.strict_json import dumps, dumps_line, loads, pretty
from nel.errors import UsageError
from nel.judges.stats.calibration import calibration_json
from nel.judges.stats.corrected_headline import borrowed_headline, corrected_headline
from nel.judges.stats.human_labels import grade_of, judgements_of
from nel.judges.stats.tally import Tally, key_of
from nel.types import JsonObject, Scored

_AGAIN: Final = "import the labels again with nel judge calibrate, or remove it"

_SUMMARY: Final = (
    "n_judged",
    "n_labelled",
    "n_stale",
    "is_binary",
    "base_rates",
    "agreement",
    "sensitivity",
    "specificity",
    "recall",
    "panel",
    "annotators",
)
"""What metrics.json has of calibration.json, as far as it is there."""

Key: TypeAlias = tuple[str, int]
"""Sample id and repeat."""


@dataclass(frozen=True, slots=True)
class StoredLabel:
    """A person's label and which answer it is of."""

    score: float
    response_sha256: str
    by: Mapping[str, float] = field(default_factory=dict)
    """What each annotator said, where there are several."""


def read_labels(directory: Path) -> dict[Key, StoredLabel]:
    """Return the labels in a benchmark's directory, none where there is no such file.

    Raises:
        UsageError: The file is damaged.
    """
    path = directory / LABELS_NAME
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}; {_AGAIN}") from error
    labels: dict[Key, StoredLabel] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            row = loads(line)
            key = str(row["sample_id"]), int(row["repeat"])
            by = {str(name): float(score) for name, score in row.get("annotators", {}).items()}
            labels[key] = StoredLabel(float(row["label"]), str(row["response_sha256"]), by)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UsageError(f"{path}:{number} is not a label; {_AGAIN}") from error
    return labels


def write_labels(directory: Path, labels: Mapping[Key, StoredLabel]) -> None:
    """Write the labels into a benchmark's directory, in the place of those that are there.

    Raises:
        StoppedEarly: The disk is full.
    """
    write_file(directory / LABELS_NAME, _label_lines(labels))


class Calibrating:
    """Collects what the labels of a benchmark say while its artifacts are written."""

    def __init__(self, directory: Path) -> None:
        """Read the labels, or what was borrowed from another run; with neither it stays idle."""
        self._directory = directory
        self._labels = read_labels(directory)
        self._borrowed = None if self._labels else read_borrowed(directory)
        self._tally = Tally()
        self._n_used = 0
        self._annotations: list[Mapping[str, float]] = []
        self.warnings: list[str] = []
        """What the labels say against the judge, once `write` was called."""

    def add(self, result: Result) -> None:
        """Take in one result; they come in dataset order."""
        reward = reward_of(result.outcome)
        if reward is None or not (self._labels or self._borrowed):
            return
        is_judged = is_verdict(result)
        label = self._label_of(result, reward) if is_judged else None
        group = None if result.sample is None else result.sample.group
        self._tally.add(result.idx, reward, is_judged=is_judged, label=label, group=group)

    def _label_of(self, result: Result, reward: float) -> float | None:
        self._tally.templates.update(templates_of(result))
        grade = grade_of(result.outcome.details, reward)
        if grade is not None:
            self._tally.grades.setdefault(key_of(reward), grade)
        human_label = self._labels.get((result.sample_id, result.repeat))
        if human_label is None or human_label.response_sha256 != response_digest(result):
            return None
        self._n_used += 1
        self._add_opinions(result, reward, human_label.score)
        self._annotations.append(human_label.by)
        return human_label.score

    def _add_opinions(self, result: Result, reward: float, label: float) -> None:
        """Count what each judge of a panel said of a labelled answer that has one judgement."""
        judgements = judgements_of(result.outcome.details)
        if len(judgements) != 1:
            return
        for opinion in judgements[0]["opinions"]:
            if opinion.get("score") is not None:
                agrees = key_of(opinion["score"]) == key_of(label)
                self._tally.add_opinion(str(opinion["judge"]), reward, agrees=agrees)

    def write(
        self, head: Mapping[str, object], headline: Mapping[str, object], plan: Mapping[str, object]
    ) -> dict[str, Any]:
        """Write calibration.json; return ``calibration`` and ``corrected`` of metrics.json.

        Without labels there is no such file; what was borrowed gives ``corrected`` alone.
        """
        path = self._directory / CALIBRATION_NAME
        judge, share = judge_setup(plan), _share_asked(plan)
        if not self._labels:
            path.unlink(missing_ok=True)  # of labels that were there before
            if self._borrowed is None:
                return {}
            differs = setup_difference(self._borrowed, judge, sorted(self._tally.templates))
            corrected = borrowed_headline(
                self._tally, headline, self._borrowed, refused=differs, share_asked=share
            )
            return {"corrected": corrected}
        self._tally.n_stale = len(self._labels) - self._n_used
        calibration = calibration_json(self._tally)
        annotators = annotators_json(self._annotations)
        if annotators is not None:
            calibration["annotators"] = annotators
        corrected = corrected_headline(self._tally, headline, calibration, share_asked=share)
        write_file(path, [pretty({**head, "judge": judge, **calibration, "corrected": corrected})])
        self.warnings = [str(text) for text in calibration["warnings"]]
        summary = {name: calibration[name] for name in _SUMMARY if name in calibration}
        return {"calibration": summary, "corrected": corrected}


def _share_asked(plan: JsonObject) -> float:
    """Return how much of the benchmark a sample of it is; 0 where the score is of new questions."""
    selection = plan.get("selection") or {}
    if selection.get("kind") != "sample":
        return 0.0
    return float(selection["n"] / selection["of"])


def read_borrowed(directory: Path) -> dict[str, object] | None:
    """Return what a benchmark borrowed from another run's calibration, None where it did not.

    Raises:
        UsageError: The file is damaged.
    """
    path = directory / BORROWED_NAME
    try:
        borrowed = loads(path.read_bytes())
        numbers = [borrowed["n_labelled"]]
        for name in ("sensitivity", "specificity"):
            numbers += [borrowed[name]["value"], borrowed[name]["n_effective"]]
        if not all(isinstance(number, (int, float)) for number in numbers):
            raise ValueError("a rate is not a number")
        return {"judge": None, "templates": [], "run_id": "", **borrowed}
    except FileNotFoundError:
        return None  # the usual case
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"{path} is damaged; borrow again with nel judge calibrate --from, or remove it"
        ) from error


def setup_difference(
    calibration: JsonObject, judge: JsonObject | None, templates: Sequence[str]
) -> str | None:
    """Return in what a run's judge differs from the calibrated one; None where it is the same.

    Names of judges and addresses may differ; models, templates and how opinions become a grade may
    not.

    Args:
        calibration: The content of calibration.json of the other run.
        judge: What `judge_setup` says of this run.
        templates: What this run was judged by.
    """
    calibrated, current = _comparable(calibration.get("judge")), _comparable(judge)
    names = sorted(calibrated.keys() | current.keys())
    differing = [name for name in names if calibrated.get(name) != current.get(name)]
    if list(calibration.get("templates") or ()) != list(templates):
        differing.append("templates")
    if not differing:
        return None
    return f"that run was judged in another way: {', '.join(differing)} differ"


def _comparable(judge: JsonObject | None) -> dict[str, object]:
    judge = judge or {}
    models = sorted(str(member.get("model")) for member in judge.get("panel") or ())
    rules = {name: value for name, value in judge.items() if name != "panel"}
    return {"models": models, **rules}


def judge_setup(plan: JsonObject) -> dict[str, object] | None:
    """Return who judged and how, without addresses; None where the plan does not say."""
    judge = plan.get("judge")
    if not judge:
        return None
    panel = [
        {"name": member.get("name"), "model": member.get("model")}
        for member in judge.get("panel") or ()
    ]
    names = ("template", "criteria", "aggregate", "quorum", "repeats", "swap")
    weights = {"weights": judge["weights"]} if judge.get("weights") else {}
    return {"panel": panel, **{name: judge.get(name) for name in names}, **weights}


def templates_of(result: Result) -> set[str]:
    """Return what a result was judged by."""
    return {str(judgement.get("template")) for judgement in judgements_of(result.outcome.details)}


def is_verdict(result: Result) -> bool:
    """Return whether what a result counts is a judge's verdict."""
    return isinstance(result.outcome, Scored) and bool(judgements_of(result.outcome.details))


def response_text(result: Result) -> str:
    """Return what was answered; empty where nothing was."""
    return "" if result.response is None else result.response.text


def response_digest(result: Result) -> str:
    """Return what tells the answer, or the pair of answers, that was labelled from another one."""
    text = response_text(result)
    if is_pair(result):
        text = dumps([text, baseline_of(result)])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _label_lines(labels: Mapping[Key, StoredLabel]) -> Iterator[bytes]:
    for (sample_id, repeat), label in labels.items():
        row: dict[str, object] = {
            "sample_id": sample_id,
            "repeat": repeat,
            "label": label.score,
            "response_sha256": label.response_sha256,
        }
        if label.by:
            row["annotators"] = dict(label.by)
        yield dumps_line(row)
