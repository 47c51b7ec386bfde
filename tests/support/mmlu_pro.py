"""The recorded answers to MMLU-Pro: which of them are right, and the category of each."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

PATH: Final = Path(__file__).resolve().parents[3] / "shared" / "data" / "mmlu_pro_outputs_llama31_8b.jsonl.gz"


@cache
def recorded_answers() -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return by question whether the recorded answer is right, by its recorded letter, and the category's number."""
    with gzip.open(PATH, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    right = np.array([float(row["pred"] == row["answer"]) for row in rows])
    _, categories = np.unique([row["category"] for row in rows], return_inverse=True)
    return right, categories
