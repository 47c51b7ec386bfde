"""The order of choices, drawn by a question's content: the same at any row order and limit."""

from __future__ import annotations

import hashlib
import random

from nel.compat.evalscope.samples import Sample
from nel.reading.letters import labels_for


def shuffle_choices(sample: Sample) -> None:
    """Shuffle the choices by the question's content, and the target's letters with them."""
    choices = [str(choice) for choice in sample.choices or []]
    labels = labels_for(len(choices))
    content = repr((sample.input, sorted(choices))).encode("utf-8", "backslashreplace")
    seed = hashlib.sha256(content).hexdigest()
    order = list(range(len(choices)))
    random.Random(seed).shuffle(order)  # noqa: S311 - no secret
    sample.choices = [choices[source] for source in order]
    # From the label of an option as the row has it to the one that it is shown under.
    moved = {labels[source]: label for source, label in zip(order, labels, strict=True)}
    if isinstance(sample.target, list):
        sample.target = [moved.get(label, label) for label in sample.target]
    elif sample.target and all(letter in moved for letter in sample.target):
        sample.target = "".join(sorted(moved[letter] for letter in sample.target))
