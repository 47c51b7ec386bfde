"""What run.db holds of a benchmark and of a session, as JSON objects. Depends on nothing."""

from __future__ import annotations

from typing import Any, TypedDict


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


class StoredPlan(TypedDict, total=False):
    """The plan of a benchmark in run.db; empty until its dataset was read, and without keys that are newer than it."""

    identity: dict[str, Any]
    digest: str
    repeats: int
    repeat_check: int | None
    max_problems: int | None
    fingerprint: str | None
    reducers: list[str]
    metrics: list[str]
    eval_only: bool
    dataset: StoredDataset
    scorer: StoredScorer
    judge: dict[str, Any] | None
    system_prompt: str | None
    truncated: str
    model: str | None
    protocol: str | None
    generation: dict[str, Any]
    fewshot: dict[str, Any] | None
    imported: dict[str, Any]
    """Of results of another tool alone: its ``format``, whether its run was ``complete``, and ``notes``."""


class StoredSession(TypedDict):
    """One session of a run."""

    started: float
    """In seconds since 1970."""
    elapsed: float | None
    """In seconds; None for a session that runs or was killed, as with the following."""
    ended: str | None
    """``done``, or why it stopped."""
    attempts: int | None
    retries: int | None
    spent: dict[str, Any] | None
