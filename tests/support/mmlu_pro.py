"""How many of 12,032 recorded answers to MMLU-Pro are right in each category: what a sample of them is drawn from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

RIGHT_OF: Final = {
    "biology": (452, 717),
    "business": (389, 789),
    "chemistry": (426, 1132),
    "computer science": (198, 410),
    "economics": (464, 844),
    "engineering": (288, 969),
    "health": (412, 818),
    "history": (161, 381),
    "law": (300, 1101),
    "math": (590, 1351),
    "other": (414, 924),
    "philosophy": (221, 499),
    "physics": (523, 1299),
    "psychology": (479, 798),
}
"""The right answers and the questions of a category, by the letters that were recorded of a Llama 3.1 8B."""


def recorded_answers() -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return by question whether the recorded answer is right, and the category's number; a category's right ones first."""
    right = [np.arange(size) < n_right for n_right, size in RIGHT_OF.values()]
    sizes = [size for _, size in RIGHT_OF.values()]
    return np.concatenate(right).astype(np.float64), np.repeat(np.arange(len(sizes)), sizes)
