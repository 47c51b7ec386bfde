"""Which files of a repository are a split of a configuration: by their names, by the card, and when it asks."""

from __future__ import annotations

import pytest

from nel.datasets.hub_address import parse_uri
from nel.datasets.repository import configs_of, files_of
from nel.errors import DatasetError


def chosen(query: str, *paths: str, card: str = "") -> list[str]:
    uri = f"ms://org/name?{query}"
    address = parse_uri(uri)
    return files_of(paths, configs_of(card), address, address.config, uri)


@pytest.mark.parametrize(
    ("query", "paths", "found"),
    [
        ("split=test", ["test.jsonl", "train.jsonl"], ["test.jsonl"]),
        ("split=test", ["b-test.csv", "a_test.csv", "x_train.csv"], ["a_test.csv", "b-test.csv"]),
        (
            "split=test",
            ["data/test-00001-of-00002.parquet", "data/test-00000-of-00002.parquet"],
            ["data/test-00000-of-00002.parquet", "data/test-00001-of-00002.parquet"],
        ),
        ("split=test", ["test/a.jsonl", "train/a.jsonl"], ["test/a.jsonl"]),
        ("split=validation", ["dev.csv", "validation.csv"], ["validation.csv"]),
        ("split=validation", ["dev.csv", "test.csv"], ["dev.csv"]),
        ("split=train", ["auxiliary_train.csv", "train.csv"], ["train.csv"]),
        (
            "split=law",
            ["data/law-00000-of-00001.parquet", "data/math-00000-of-00001.parquet"],
            ["data/law-00000-of-00001.parquet"],
        ),
        ("split=train", ["rows.jsonl", "dataset_infos.json", ".git/x.json", "README.md"], ["rows.jsonl"]),
        ("config=main&split=test", ["main/test.jsonl", "socratic/test.jsonl"], ["main/test.jsonl"]),
        ("config=main&split=test", ["main_test.jsonl", "socratic_test.jsonl"], ["main_test.jsonl"]),
        ("config=default&split=test", ["test.jsonl"], ["test.jsonl"]),
        ("file=*.jsonl", ["a.jsonl", "b/a.jsonl"], ["a.jsonl"]),
        ("file=**/*.jsonl", ["a.jsonl", "b/c/a.jsonl"], ["a.jsonl", "b/c/a.jsonl"]),
        ("file=a%5B1%5D.jsonl", ["a[1].jsonl", "b.jsonl"], ["a[1].jsonl"]),
    ],
)
def test_names_tell_the_split(query: str, paths: list[str], found: list[str]) -> None:
    """The words that the `datasets` library knows, in the names of files first and of folders else."""
    assert chosen(query, *paths) == found


@pytest.mark.parametrize(
    ("query", "paths", "problem"),
    [
        ("split=test", ["rows.jsonl"], 'no split "test"; it has: train'),
        ("split=test", ["README.md", "a.png"], "no files of rows that nel reads"),
        ("split=law", ["a/physics-00000-of-00001.parquet"], 'no split "law"; it has: physics'),
        ("split=test", ["en/test.csv", "de/test.csv"], "several folders (de, en); name one with config="),
        ("split=test", ["test.csv", "test.jsonl"], "several formats (.csv, .jsonl), which may hold the same rows"),
        ("config=man", ["main/test.csv"], 'no config "man"; did you mean "main"?'),
        ("file=*.csv", ["a.jsonl"], 'no file matches "*.csv"; it has: a.jsonl'),
    ],
)
def test_what_is_missing_or_ambiguous_is_said(query: str, paths: list[str], problem: str) -> None:
    """Nothing is guessed and nothing is mixed."""
    with pytest.raises(DatasetError) as caught:
        chosen(query, *paths)
    assert problem in str(caught.value)


CARD = """---
license: mit
configs:
- config_name: main
  default: true
  data_files:
  - split: test
    path: [parts/one.csv, "parts/t*.csv"]
- config_name: flat
  data_files: all.csv
- config_name: folder
  data_dir: some
---
text
"""


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("split=test", ["parts/one.csv", "parts/two.csv"]),
        ("config=flat&split=train", ["all.csv"]),
        ("config=folder&split=test", ["some/test.csv"]),
    ],
)
def test_the_card_goes_before_names(query: str, found: list[str]) -> None:
    """Its patterns, its folders and its default, as the `datasets` library reads them."""
    paths = ["all.csv", "parts/one.csv", "parts/two.csv", "parts/other.csv", "some/test.csv", "test.csv"]
    assert chosen(query, *paths, card=CARD) == found


@pytest.mark.parametrize(
    "card", ["", "no front matter", "---\nconfigs: [\n---\n", "---\nconfigs: yes\n---\n", "---\n- a\n---\n", "---\n"]
)
def test_a_card_that_declares_nothing(card: str) -> None:
    """Then names tell."""
    assert configs_of(card) == []
