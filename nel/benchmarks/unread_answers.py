"""Answers in which a run's scorer found none, for the model of `nel scorer audit --reader`."""

from __future__ import annotations

from collections.abc import Iterable

from nel.byob import Card, ScorerInput, benchmark, scorer
from nel.errors import DatasetError
from nel.types import Score


def no_rows_of_its_own() -> Iterable[dict[str, object]]:
    """Raise DatasetError, which says where rows come from."""
    raise DatasetError(
        "unread_answers has no rows of its own; nel scorer audit RUN --reader URL writes them"
    )


@benchmark(
    name="unread_answers",
    description="Answers in which a run's scorer found none, for a model to read",
    dataset=no_rows_of_its_own,
    prompt="{prompt}",
    target_field="kind",
    card=Card(
        paper="none; made for nel",
        licence="Apache-2.0",
        citation="The nel developers",
        metric="accuracy",
        revision="of nel itself",
        languages=(),
    ),
)
@scorer(in_process=True)
def unread_answers(sample: ScorerInput) -> Score:
    """Count each reply as 1; what it says is read when the audit is written."""
    return Score(value=1.0, answer=sample.response)
