"""The labels name outputs that are there, and say of each what was recorded with it."""

from __future__ import annotations

from collections import Counter
from typing import Any, get_args

import pytest

from tests.labelled_outputs import Kind, digest, labelled, read_labels, response_of, rows


def _place(label: dict[str, Any]) -> tuple[str, int]:
    return label["file"], label["row"]


def test_counts_of_each_kind() -> None:
    """Half of each kind was drawn at random; a label of a known kind states an answer or None."""
    labels = read_labels()
    assert Counter(label["kind"] for label in labels) == {"letter": 150, "number": 128, "text": 68, "yes_no": 38}
    assert Counter(label["drawn"] for label in labels) == {"random": 192, "hard": 192}
    assert {label["kind"] for label in labels} == set(get_args(Kind))
    assert all(label["stated"] is None or label["stated"].strip() for label in labels)


@pytest.mark.shared_data
def test_digests_match() -> None:
    """Each label names the output that it was made for."""
    differing = [
        _place(label)
        for label in read_labels()
        if label["digest"] != digest(response_of(label["file"], rows(label["file"])[label["row"]]))
    ]
    assert differing == []


@pytest.mark.shared_data
def test_labelled_outputs_carry_what_was_recorded() -> None:
    """Each label is joined with its output, right answer and verdict, and with options where they are known."""
    outputs = labelled()
    assert len(outputs) == len(read_labels())
    assert {output.official for output in outputs} == {True, False}
    assert {output.file for output in outputs if output.options} == {"mmlu_pro_outputs_llama31_8b"}
    assert {output.file for output in outputs if output.question is None} == {"tagged_outputs_gpqa_aime"}
    assert all(output.target for output in outputs)
