"""Where few-shot examples come from and which are drawn."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nel.datasets.fewshot import draw, open_examples, read_examples, with_split
from nel.errors import DatasetError
from tests.support.runs import write_jsonl


@pytest.mark.parametrize(
    ("uri", "changed"),
    [
        ("hf://a/b", "hf://a/b?split=train"),
        ("hf://a/b?split=test", "hf://a/b?split=train"),
        ("hf://a/b?config=x&split=test&revision=r/1", "hf://a/b?config=x&revision=r/1&split=train"),
        ("hf://a/b/x/test", "hf://a/b/x?split=train"),
        ("ms://a/b?split=test", "ms://a/b?split=train"),
    ],
)
def test_another_split_of_the_same_dataset(uri: str, changed: str) -> None:
    """The split changes, wherever the URI names it, and nothing else does."""
    assert with_split(uri, "train") == changed


def test_a_split_of_something_that_has_none() -> None:
    """A file and a function have no splits; the message says what to give instead."""
    with pytest.raises(DatasetError, match=r'split "train", and data.jsonl has no splits; .*--fewshot-dataset'):
        open_examples("data.jsonl", "train")
    with pytest.raises(DatasetError, match="has no splits"):
        open_examples(list, "train")
    with pytest.raises(DatasetError, match="has no splits"):
        open_examples([{"q": 1}], "train")


def test_examples_from_a_file_a_list_and_a_function(tmp_path: Path) -> None:
    """The three give the same rows, and no more than are asked for."""
    rows = [{"q": str(i)} for i in range(4)]
    write_jsonl(tmp_path / "train.jsonl", rows)
    for source in ("train.jsonl", rows, lambda: rows):
        found = read_examples(open_examples(source, None, base_dir=tmp_path), 3)
        assert [row.data for row in found] == rows[:3]


def test_of_equal_prompts_the_first_row_is_an_example(tmp_path: Path) -> None:
    """Where prompts are compared, rows that show the same one are one example, and more rows are read instead."""
    rows = [{"q": "a  b", "n": 0}, {"q": "a b", "n": 1}, {"q": "c", "n": 2}, {"q": "d", "n": 3}]
    found = read_examples(open_examples(rows, None, base_dir=tmp_path), 2, prompt_of=lambda row: str(row["q"]))
    assert [row.data["n"] for row in found] == [0, 2]


KEYS = st.lists(st.text("abcdefgh", min_size=1, max_size=2), max_size=30)


@given(keys=KEYS, n=st.integers(0, 10), seed=st.none() | st.integers(0, 5), own=st.sampled_from("abcdefgh"))
def test_a_draw_is_distinct_and_never_the_sample_itself(keys: list[str], n: int, seed: int | None, own: str) -> None:
    """As many as there are, each position once, and the sample's own key is not among them."""
    drawn = draw(keys, n, own=own, seed=seed)
    others = [position for position, key in enumerate(keys) if key != own]
    assert len(drawn) == min(n, len(others))
    assert len(set(drawn)) == len(drawn)
    assert set(drawn) <= set(others)
    if seed is None:
        assert drawn == others[:n]


def test_seeded_draws_are_the_same_on_every_machine() -> None:
    """The numbers are written down here, since a change of them would refuse every resume."""
    assert draw(list("abcdefghij"), 4, own="sample", seed=42) == GOLDEN


GOLDEN = [7, 5, 8, 2]
