"""``warnings`` of metrics.json: all that speaks against a benchmark's numbers, made here once and
read by every output.

A warning names a number. Terminal, ``--json``, report.html, `nel view`, tables, JUnit and `nel
compare` print the same list; none of them makes a warning of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from typing_extensions import TypedDict

from nel.artifacts.cautions import Copies
from nel.artifacts.failure_kinds import hint_for
from nel.artifacts.selection import selection_text
from nel.metrics.accumulator import Accounting, Accumulator, MetricJson
from nel.types import FailureKind, JsonObject

FAILURE_RATES_MAX: Final[Mapping[FailureKind, float]] = {
    "truncated": 0.0,
    "empty": 0.0,
    "context_exceeded": 0.0,
    "content_filter": 0.0,
    "no_answer": 0.01,
    "refusal": 0.01,
    "limit": 0.01,
}
"""By kind of model failure: the share of answers above which there is a warning. A cut-off answer
is one too many; some refusals and unreadable answers are the model's own."""
_COPIED_MIN: Final = 0.5
"""Share of questions whose repeats are copies from which repeats at temperature 0 get a warning."""
_ADVICE: Final[Mapping[str, str]] = {
    "truncated": (
        "answers were cut off and count 0; raise --max-tokens, or the score measures the limit"
    ),
    "no_answer": (
        "answers held no answer that the scorer could find and count 0; check the prompt's answer"
        " format"
    ),
    "empty": "answers were empty and count 0",
    "refusal": "answers were refusals and count 0",
    "content_filter": "prompts or answers were stopped by a content filter and count 0",
    "context_exceeded": "prompts did not fit into the model's context and count 0",
    "limit": "episodes were ended by a limit, which fails them in this benchmark, and count 0",
}
_BAD_ROW: Final = "bad_row"


class RunWarning(TypedDict):
    """One entry of ``warnings``."""

    kind: str
    """What it is about, for programs."""
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Noticed:
    """What the parts of a pass over the results have to say against them, in one line each."""

    failed_metrics: Sequence[str] = ()
    rows: Sequence[MetricJson] = ()
    """Of all metrics."""
    endings: Sequence[str] = ()
    golds: Iterable[str] = ()
    of_answers: Sequence[tuple[str, str]] = ()
    """The kind and the text of each."""
    served: Sequence[str] = ()
    fallbacks: Sequence[str] = ()
    judging: Sequence[str] = ()
    calibration: Sequence[str] = ()
    judges_asked: int = 0
    """Requests to judges, and judgements."""
    copies: Copies
    is_complete: bool
    is_shard: bool


def run_warnings(plan: JsonObject, total: Accumulator, noticed: Noticed) -> list[RunWarning]:
    """Return the warnings of a benchmark, the most general first.

    Args:
        plan: Of the benchmark, as the store has it.
        total: Its numbers.
        noticed: What was seen of its results beside them.
    """
    texts: list[tuple[str, Iterable[str]]] = [
        ("first_n", _first(plan)),
        ("partial", _partial(noticed)),
        ("unscored", _unscored_warnings(total.accounting)),
        ("groups", [total.caution] if total.caution else ()),
        *((kind, [text]) for kind, text in _failures(total)),
        ("golds", noticed.golds),
        ("failed_metric", _failed_metrics(noticed)),
        ("unknown_ending", noticed.endings),
        ("served_model", noticed.served),
        ("fallback", noticed.fallbacks),
        ("copies", _copies(plan, noticed.copies)),
        ("judge_not_asked", _judge_not_asked(plan, total.accounting, noticed)),
        ("judging", noticed.judging),
        ("calibration", noticed.calibration),
        *((kind, [text]) for kind, text in noticed.of_answers),
        ("versions", _versions(plan)),
        ("imported", (plan.get("imported") or {}).get("notes", ())),
    ]
    return [{"kind": kind, "text": text} for kind, listed in texts for text in listed]


def _failed_metrics(noticed: Noticed) -> Iterator[str]:
    reasons = {row["name"]: row["reason"] or "" for row in noticed.rows}
    for name in noticed.failed_metrics:
        yield f"the metric {name} has no value: it {reasons.get(name, 'failed')}"


def _first(plan: JsonObject) -> Iterator[str]:
    selection = plan.get("selection") or {}
    if selection.get("kind") == "first":
        yield (
            f"the score is of {selection_text(selection)}: --sample draws as many from all of them"
        )


def _partial(noticed: Noticed) -> Iterator[str]:
    if not noticed.is_complete and not noticed.is_shard:
        yield (
            "this run is PARTIAL: planned samples have not been run, or not by every judge, and the"
            " numbers are not the benchmark's; resume it"
        )


def _unscored_warnings(accounting: Accounting) -> Iterator[str]:
    for cause, causes in accounting.as_json()["unscored"].items():
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in causes["kinds"].items())
        text = f"{causes['n']:,} of {accounting.n_total:,} unscored by {cause} ({kinds})"
        if cause == _BAD_ROW:
            text += f"; {hint_for(cause)}; failure_analysis.json names each"
        yield text
        if cause == "judge" and "tie" in causes["kinds"]:
            yield (
                "an even number of verdicts can tie: where a judge gave none, or of an even panel or"
                " judge.repeats; make it odd and resume with --allow-judge-change"
            )


def _failures(total: Accumulator) -> Iterator[tuple[str, str]]:
    rates = total.rates()
    for kind, limit in FAILURE_RATES_MAX.items():
        if rates[kind] > limit:
            n, of = total.accounting.model_failures[kind], total.accounting.n_asked
            yield (
                kind,
                f"{n:,} of {of:,} ({_percent(rates[kind])}) {_ADVICE[kind]}{_on_completed(total)}",
            )


def _on_completed(total: Accumulator) -> str:
    completed, headline = total.completed_json(), total.headline()
    if completed["value"] is None:
        return ""
    value = f"{completed['value']:.4f}"
    if headline["unit"] == "rate":
        value = _percent(completed["value"])
    text = f" (on the {completed['n']:,} completed answers: {value})"
    if completed["value"] < 0:
        text += (
            "; 0 is more than an answer gets, so that these failures raise the score: give answers"
            " scores from 0 on, such as 1 / (1 + loss)"
        )
    return text


def _copies(plan: JsonObject, copies: Copies) -> Iterator[str]:
    if not copies.n_equal:
        return
    is_deterministic = (plan.get("generation") or {}).get("temperature") == 0
    # Some questions have one answer at any temperature, so without it all have to be copies.
    are_all = copies.n_equal == copies.n > 1
    are_most = copies.n_equal > _COPIED_MIN * copies.n
    if are_all or (is_deterministic and are_most):
        why = " at temperature 0" if is_deterministic else ""
        yield (
            f"the repeats{why} of {copies.n_equal:,} of {copies.n:,} questions are copies of one"
            " answer: they measure no variation, and pass@k of copies is pass@1"
        )


def _judge_not_asked(plan: JsonObject, accounting: Accounting, noticed: Noticed) -> Iterator[str]:
    roles = (plan.get("identity") or {}).get("judge.roles") or {}
    judges = [*((plan.get("judge") or {}).get("panel") or ()), *roles.values()]
    names = list(dict.fromkeys(str(judge["name"]) for judge in judges))
    if names and accounting.n_scored and not noticed.judges_asked:
        scorer = (plan.get("scorer") or {}).get("name")
        yield (
            f"the judge {', '.join(names)} is configured and was never asked: the scorer {scorer}"
            " decided without one; --scorer model_graded_qa has the judge decide"
        )


def _versions(plan: JsonObject) -> Iterator[str]:
    asking_versions, scoring_versions = plan.get("asked_by") or (), plan.get("scored_by") or ()
    if asking_versions and scoring_versions and {*asking_versions} != {*scoring_versions}:
        yield (
            f"the answers were asked by nel {' and '.join(asking_versions)} and scored by nel"
            f" {' and '.join(scoring_versions)}: a reading rule or a prompt may have changed in between"
        )


def _percent(share: float) -> str:
    return f"{share * 100:.2f} %"
