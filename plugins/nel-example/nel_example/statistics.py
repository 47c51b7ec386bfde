"""A metric and a reducer of one's own: how long answers are, and the worst of a sample's
repeats.
"""

from __future__ import annotations

from collections.abc import Sequence

from nel.scorers import Metric, SampleScore, Score, ScoreReducer, metric, score_reducer


@metric
def answer_length(unit: str = "characters") -> Metric:
    """Give the mean length of the answers.

    Args:
        unit: ``characters`` or ``words``.

    Raises:
        ValueError: The unit is another.
    """
    if unit not in ("characters", "words"):
        raise ValueError(f'the unit "{unit}" is unknown; use characters or words')

    def compute(scores: Sequence[SampleScore]) -> float:
        lengths = [
            len((score.response or "").split() if unit == "words" else score.response or "")
            for score in scores
        ]
        return sum(lengths) / len(lengths)

    return compute


@score_reducer
def worst() -> ScoreReducer:
    """Keep a sample's lowest score."""
    return lambda scores: Score(value=min(score.as_float() for score in scores))
