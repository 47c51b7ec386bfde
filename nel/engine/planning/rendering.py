"""What a row of a dataset makes: its sample as it is stored, or why it makes none."""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

from nel.authoring.benchmark import Benchmark
from nel.authoring.prompt_check import question_check
from nel.engine.store.codec import encode_sample, seal_text
from nel.episodes.limits import limits_of_row
from nel.errors import DatasetError, PromptError
from nel.scoring.golds import gold_check


class Rendering(NamedTuple):
    """What a row is, apart from its id."""

    encoded: str | None
    """The encoded and sealed sample; None where the row makes none."""
    fault: str | None
    """Why it makes none, decides nothing by its gold answer, or has no recorded answer; such a row
    is not asked."""
    number: int
    """For the digest of the prompts; 0 where it makes none."""


class Renderer:
    """Makes the samples of one benchmark; what all its rows share is worked out once."""

    def __init__(self, benchmark: Benchmark) -> None:
        self._benchmark = benchmark
        self._empty_question = question_check(benchmark)
        self._gold_fault = gold_check(
            benchmark.scorer,
            per_turn=not benchmark.scores_conversation,
            judges_by_reference=benchmark.judges_by_reference,
        )

    def rendering(self, data: dict[str, Any], sample_id: str) -> Rendering:
        """Return what a row makes.

        Args:
            data: The row.
            sample_id: Of the sample; it is not in the encoded text.
        """
        benchmark = self._benchmark
        try:
            sample = benchmark.sample(data, sample_id=sample_id)
            if sample.limits is not None:
                limits_of_row(sample.limits, f'the field "{benchmark.limits_field}"')
            encoded = encode_sample(sample)
        except (DatasetError, PromptError, ValueError) as error:
            return Rendering(None, str(error), 0)
        fault = self._empty_question(sample)
        if fault is None and self._gold_fault is not None:
            fault = self._gold_fault(sample)
        if benchmark.response_field is not None and sample.recorded_response is None:
            fault = f'the response field "{benchmark.response_field}" holds no text'
        return Rendering(seal_text(encoded), fault, number_of(encoded))


def number_of(text: str) -> int:
    """Return the SHA-256 of a text as a number."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest())
