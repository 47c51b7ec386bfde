"""Two recorded answers to each question, of which a judge prefers one, as for a leaderboard.

It has no rows of its own: `nel judge leaderboard` writes them, and any file with the same fields
will do. Without a judge nothing is scored.
"""

from __future__ import annotations

from collections.abc import Iterable

from nel.byob import Card, ScorerInput, benchmark, scorer
from nel.core.thinking import split_reasoning
from nel.errors import DatasetError
from nel.scoring import needs_judge


def no_rows_of_its_own() -> Iterable[dict[str, object]]:
    """Raise DatasetError, which says where rows come from."""
    raise DatasetError(
        "pairwise has no rows of its own; give --dataset FILE with the fields question, response"
        " and baseline, or compare finished runs with nel judge leaderboard"
    )


def with_both_answers(row: dict[str, object]) -> dict[str, object]:
    """Return the row with a ``reference``, which may be empty, and a baseline without reasoning.

    Raises:
        KeyError: There is no ``baseline``.
        ValueError: It is not a text, or its reasoning never closes.
    """
    baseline = row["baseline"]
    if not isinstance(baseline, str):
        raise ValueError(
            f'its "baseline" is a {type(baseline).__name__}; it must be the text of an answer'
        )
    _, answer, is_closed = split_reasoning(baseline)
    if not is_closed:
        raise ValueError(
            'its "baseline" was cut off in its reasoning: there is no answer to compare with'
        )
    return {**row, "baseline": answer, "reference": row.get("reference") or ""}


@benchmark(
    name="pairwise",
    description="Two recorded answers to each question, of which a judge prefers one",
    dataset=no_rows_of_its_own,
    prompt="{question}",
    target_field="reference",
    response_field="response",
    prepare_row=with_both_answers,
    card=Card(
        paper="none; made for nel",
        licence="Apache-2.0",
        citation="The nel developers",
        metric="accuracy",
        revision="of nel itself",
        languages=(),
    ),
)
@scorer(asks_judge=True)
def pairwise(sample: ScorerInput) -> dict[str, object]:
    """Let the judge compare ``response`` and ``baseline`` in both orders; a tie is worth 0.5."""
    return needs_judge(sample, template="pairwise", yields_template=True)
