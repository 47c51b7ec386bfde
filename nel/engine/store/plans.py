"""What run.db holds of a benchmark and of a session, as JSON objects. Depends on `nel.errors`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, TypedDict

from nel.errors import StoreError

_WRITTEN_ALWAYS: Final = (
    "identity", "digest", "repeats", "max_problems", "eval_only", "dataset", "scorer", "system_prompt", "model",
    "protocol", "generation",
)  # fmt: skip


class StoredDataset(TypedDict):
    """The dataset that a benchmark of a run was started with."""

    uri: str
    revision: str | None
    sha256: str
    rows: int


class StoredScorer(TypedDict):
    """The scorer of a benchmark, as artifacts name it."""

    name: str
    sha256: str
    rule: str | None
    """``general``, ``official``, or None where it reads no answer by a rule of nel."""
    reading: dict[str, int]
    """Versions of the reading rules that it uses, by kind of answer."""


class StoredSelection(TypedDict):
    """Which questions of a benchmark a run asks."""

    kind: Literal["all", "first", "sample"]
    n: int
    """Questions that it asks."""
    of: int
    """Questions of the benchmark."""
    is_exact: bool
    """Whether there are no more of them; reading stops after many, and at a broken row."""
    seed: int | None
    """Of a sample."""
    by: str | None
    """Divides the questions: the benchmark's ``subset``, ``category``, ``subject`` or ``group``."""
    n_strata: int | None
    n_strata_asked: int | None
    strata: dict[str, int]
    """Of a sample: questions of the benchmark in each stratum, in the order of the draw."""


class StoredPlan(TypedDict, total=False):
    """The plan of a benchmark in run.db; empty until its dataset was read, and without keys that
    are newer than it.
    """

    identity: dict[str, Any]
    digest: str
    repeats: int
    repeat_check: int | None
    max_problems: int | None
    sample: int | None
    selection: StoredSelection
    fingerprint: str | None
    reducers: list[str]
    metrics: list[str]
    eval_only: bool
    dataset: StoredDataset
    scorer: StoredScorer
    lower_is_better: list[str]
    """Metrics of which less is better."""
    judge: dict[str, Any] | None
    system_prompt: str | None
    truncated: str
    model: str | None
    protocol: str | None
    generation: dict[str, Any]
    asked_by: list[str]
    """Versions of nel that asked for answers."""
    scored_by: list[str]
    """Versions of nel that scored them."""
    fewshot: dict[str, Any] | None
    imported: dict[str, Any]
    """For another tool's results only: ``format``, whether the run was ``complete``, ``notes``."""


def missing_keys(plan: Mapping[str, Any]) -> list[str]:
    """Return the keys that a stored plan lacks but every run writes: their names are damaged."""
    return [name for name in _WRITTEN_ALWAYS if name not in plan]


def check_plan(slot: str, plan: Mapping[str, Any]) -> None:
    """Raise StoreError for a stored plan without a key that every run writes.

    Args:
        slot: The benchmark's name in the run.
        plan: Not empty; an empty one is that of a run that was killed before its dataset was read.
    """
    if absent_keys := missing_keys(plan):
        raise StoreError(
            f"run.db is damaged: the plan of {slot} lacks {', '.join(absent_keys)}; start a new run"
        )


class StoredSession(TypedDict):
    """One session of a run."""

    started: float
    """In seconds since 1970."""
    elapsed: float | None
    """In seconds; None for a session that runs or was killed; a resume stores that of a killed one
    up to its last exchange.
    """
    ended: str | None
    """``done``, or why it stopped; None as above, as with the following."""
    attempts: int | None
    retries: int | None
    spent: dict[str, Any] | None
