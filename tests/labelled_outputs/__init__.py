"""Recorded model outputs with the answer that each states, as read by eye; the outputs are in ../shared/data.

What counts as stated: the answer, of the kind that was asked for, to the question that was asked, as a reader takes it
from the whole output. An option counts when its letter or its text is given, and "the closest is (D)" is D. Several
options, "none of the above", a value that is not an option, a formula, a time of day, a blank, an answer that is taken back
without another, and an output that is cut off or runs in a loop state nothing. What a model writes after its answer
(the same in words, a new question) changes nothing. Numbers are written without thousands separators, other answers as
they stand in the output. Whether an answer is right plays no part.
"""

from __future__ import annotations

import functools
import gzip
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from tests.support.runs import SHARED

Kind: TypeAlias = Literal["letter", "number", "text", "yes_no"]

FOLDER = Path(__file__).parent
LABELS = FOLDER / "labels.jsonl"

RESPONSE_FIELD = {"mmlu_pro_outputs_llama31_8b": "generated_text"}
"""The field of the model's output where it is not called model_output."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LabelledOutput:
    """One recorded output and the answer that it finally states to the question it was asked."""

    file: str
    """Name of the file in ../shared/data, without its ending."""
    row: int
    """Position of the output in that file, from 0."""
    kind: Kind
    """What is asked for."""
    stated: str | None
    """The stated answer, or None where the output states none or several."""
    drawn: Literal["random", "hard"]
    """How it came into the sample: rates of the random half hold for all outputs, those of the hard half do not."""
    note: str
    """Why, where that is not plain."""
    response: str
    """The model's output."""
    question: str | None
    """What was asked, where that was recorded."""
    options: tuple[str, ...]
    """The texts of the options, where they were recorded apart from the question."""
    target: str
    """The right answer."""
    official: bool | None
    """The recorded verdict, where there is one."""
    task: str
    """The benchmark, or the task within it, with its style of prompt."""


@functools.cache
def rows(file: str) -> list[dict[str, Any]]:
    """Return the recorded rows of one file of ../shared/data.

    Raises:
        FileNotFoundError: The file is not there.
    """
    path = SHARED / f"{file}.jsonl.gz"
    if not path.is_file():
        raise FileNotFoundError(f"no recorded outputs at {path}; put {path.name} into ../shared/data")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def response_of(file: str, row: dict[str, Any]) -> str:
    """Return the model's output of a recorded row."""
    return str(row[RESPONSE_FIELD.get(file, "model_output")])


def digest(response: str) -> str:
    """Return the 16 hexadecimal digits by which a label names its output."""
    return hashlib.sha256(response.encode()).hexdigest()[:16]


def task_of(file: str, row: dict[str, Any]) -> str:
    """Return the benchmark of a row, for BBH its task and style."""
    if file.startswith("bbh"):
        return f"{row['task']}/{row['style']}"
    return str(row.get("benchmark", "mmlu_pro" if file.startswith("mmlu_pro") else "gsm8k"))


def official_verdict(row: dict[str, Any]) -> bool | None:
    """Return the recorded verdict of a row."""
    if "pred" in row:
        return bool(row["pred"] == row["answer"])
    return row.get("is_correct", row.get("first_number_rule"))


def read_labels() -> list[dict[str, Any]]:
    """Return the lines of labels.jsonl as they are."""
    return [json.loads(line) for line in LABELS.read_text(encoding="utf-8").splitlines()]


def labelled() -> list[LabelledOutput]:
    """Return all labelled outputs with what was recorded beside them.

    Raises:
        FileNotFoundError: The outputs are not there.
    """
    return [_joined(label) for label in read_labels()]


def _joined(label: dict[str, Any]) -> LabelledOutput:
    row = rows(label["file"])[label["row"]]
    return LabelledOutput(
        file=label["file"],
        row=label["row"],
        kind=label["kind"],
        stated=label["stated"],
        drawn=label["drawn"],
        note=label.get("note", ""),
        response=response_of(label["file"], row),
        question=row.get("question", row.get("input")),
        options=tuple(row.get("options", ())),
        target=str(row.get("target", row.get("answer"))),
        official=official_verdict(row),
        task=task_of(label["file"], row),
    )
