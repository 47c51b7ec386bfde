"""Groups failures that look alike, by their error text or, without one, by the form of the answer.

A failure's signature is its error text with what differs from case to case taken out, numbers,
paths, quoted texts and identifiers; without an error it is the form of what was read, or a judge's
grade, beside the form of what was expected. Failures with one kind and one signature are a cluster.
No model and no distance: the same failures make the same clusters.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final

from nel.artifacts.results import Result
from nel.judges.record import KEY as JUDGEMENTS
from nel.judges.record import judgements_in
from nel.types import ModelFailure, Scored

CLUSTERS_MAX: Final = 20
"""Listed, the largest first."""
EXEMPLARS_MAX: Final = 3
SIGNATURES_MAX: Final = 1_000
"""Told apart in one benchmark; failures of further ones stand in no cluster."""
_PREVIEW_CHARACTERS: Final = 200
_READ_CHARACTERS: Final = 500
"""Of an error text, from its end for what a program wrote."""
_SIGNATURE_CHARACTERS: Final = 160
_SMALLEST: Final = 2
_SHORT: Final = 3
"""Characters of an answer that stands for itself: an option's letter, yes, no."""
# In this order, since a path is part of a URL, and numbers are parts of all others.
_VARYING: Final = (
    (re.compile(r"https?://\S+"), "URL"),
    (re.compile(r"\"[^\"\n]{0,200}\"|'[^'\n]{0,200}'|`[^`\n]{0,200}`"), "TEXT"),
    (re.compile(r"(?:/[\w.@+-]+){2,}/?"), "PATH"),
    # Hexadecimal words of four or more with a digit: 3f2a9c01, a UUID, 0x7ffe.
    (
        re.compile(
            r"\b(?=[0-9a-f-]*\d)[0-9a-f]{4,}(?:-[0-9a-f]{4,})*\b|\b0x[0-9a-f]+\b", re.IGNORECASE
        ),
        "ID",
    ),
    (re.compile(r"\d+(?:[.,:]\d+)*"), "N"),  # 7, 1,200.50, 12:30
    (re.compile(r"\s+"), " "),
)
_NUMBER: Final = re.compile(r"[-+$€£]?\d[\d,.]*%?")
"""``-3``, ``$1,200.50``, ``12%``."""
_FORMULA: Final = re.compile(r"\\[A-Za-z]+|[\^_{}=]")
"""What only formulas have: ``\\frac``, ``x^2``, ``n=3``."""


@dataclass(slots=True)
class _Cluster:
    kind: str
    signature: str
    count: int = 0
    exemplars: list[dict[str, Any]] = field(default_factory=list)


class FailureClusters:
    """Collects failures in dataset order, in bounded memory."""

    def __init__(self) -> None:
        self._clusters: dict[tuple[str, str], _Cluster] = {}
        self._failures = 0

    def add(self, kind: str, result: Result) -> None:
        """Note one failure."""
        self._failures += 1
        key = kind, signature_of(result)
        if key not in self._clusters and len(self._clusters) >= SIGNATURES_MAX:
            return
        cluster = self._clusters.setdefault(key, _Cluster(*key))
        cluster.count += 1
        if len(cluster.exemplars) < EXEMPLARS_MAX:
            cluster.exemplars.append(_exemplar(result))

    def as_json(self, total: int) -> dict[str, Any]:
        """Return the largest clusters, and how many failures stand in none of them.

        Args:
            total: Results of the benchmark, of which a rate is.
        """
        large = [cluster for cluster in self._clusters.values() if cluster.count >= _SMALLEST]
        large.sort(key=lambda cluster: (-cluster.count, cluster.kind, cluster.signature))
        rows = large[:CLUSTERS_MAX]
        clusters = [
            {
                "kind": cluster.kind,
                "signature": cluster.signature,
                "count": cluster.count,
                "rate": cluster.count / total,
                "exemplars": cluster.exemplars,
            }
            for cluster in rows
        ]
        return {
            "clusters": clusters,
            "n_unclustered": self._failures - sum(cluster.count for cluster in rows),
        }


def signature_of(result: Result) -> str:
    """Return what a failure has in common with others like it."""
    error = _error_of(result)
    if error:
        return error_signature(error)
    outcome = result.outcome
    answer = outcome.answer if isinstance(outcome, Scored | ModelFailure) else None
    expected = None if result.sample is None else result.sample.target
    judged = judgements_in(outcome.details.get(JUDGEMENTS))
    what = f"judged {judged[-1]['grade']}" if judged else f"read {form_of(answer)}"
    return f"{what}, expected {form_of(expected)}"


def error_signature(text: str) -> str:
    """Return an error text without what differs from case to case."""
    for pattern, name in _VARYING:
        text = pattern.sub(name, text)
    return text.strip()[:_SIGNATURE_CHARACTERS]


def _error_of(result: Result) -> str:
    """Return the error text of a failure: its detail, else the last line of a program's stderr."""
    outcome = result.outcome
    if not isinstance(outcome, Scored):
        return outcome.detail[:_READ_CHARACTERS]
    detail = str(outcome.details.get("detail") or "")[:_READ_CHARACTERS]
    if detail:
        return detail
    # A traceback of Python has the error on its last line.
    stderr = str(outcome.details.get("stderr") or "")[-_READ_CHARACTERS:].strip()
    return stderr.rpartition("\n")[2]


def form_of(value: object) -> str:
    """Return the form of an answer: a short word itself, else for example a number or a formula."""
    if value is None:
        return "nothing"
    if not isinstance(value, str):
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return "a number" if is_number else "a structure"
    text = value.strip()[:_READ_CHARACTERS]
    if not text:
        return "an empty text"
    if _NUMBER.fullmatch(text):
        return "a number"
    if len(text) <= _SHORT and text.isalpha():
        return f'"{text}"'
    if _FORMULA.search(text):
        return "a formula"
    if "\n" in text:
        return "lines"
    return "words" if " " in text else "a word"


def _exemplar(result: Result) -> dict[str, Any]:
    response = result.response
    return {
        "problem_idx": result.idx,
        "repeat": result.repeat,
        "sample_id": result.sample_id,
        "response_preview": "" if response is None else response.text[:_PREVIEW_CHARACTERS],
        "detail": _error_of(result)[:_PREVIEW_CHARACTERS],
    }
