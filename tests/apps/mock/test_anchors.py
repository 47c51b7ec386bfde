"""The index finds exactly what looking at every text finds."""

from __future__ import annotations

import random

from nel.apps.mock.text_search import AnchorIndex


def test_finds_what_a_linear_scan_finds() -> None:
    """Over random needles of all lengths, hits are those of looking at each one."""
    draw = random.Random(7)  # noqa: S311 - a test must repeat itself
    for alphabet in ("ab", "abcdefgh äß東"):  # the first is crowded, the second sparse
        needles = ["".join(draw.choices(alphabet, k=draw.randint(1, 90))) for _ in range(150)]
        index = AnchorIndex(needles)
        for _ in range(60):
            inside = [draw.choice(needles) for _ in range(draw.randint(0, 3))]
            noise = ["".join(draw.choices(alphabet, k=draw.randint(0, 40))) for _ in range(4)]
            text = "".join(part for pair in zip([*inside, *[""] * 4], noise, strict=False) for part in pair)
            assert index.occurring_in(text) == [at for at, needle in enumerate(needles) if needle in text]


def test_a_shared_template_crowds_nothing_out() -> None:
    """Needles that differ in a few characters only, anywhere, are each found, and few others are looked at."""
    passage = "A shared passage that is repeated for each question. " * 4
    makes = ("{0} + 1 = ?", f"{passage}Question {{0}}?", f"{{0}} {passage}", f"{passage}{{0}} {passage}")
    needles = [make.format(number) for number in range(500) for make in makes]
    index = AnchorIndex(needles)
    for at in range(0, len(needles), 7):
        text = f"Solve this. {needles[at]} Think."
        assert index.occurring_in(text) == [other for other, needle in enumerate(needles) if needle in text]
