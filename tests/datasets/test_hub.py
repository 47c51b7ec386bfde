"""URIs of a hub."""

from __future__ import annotations

import json

import pytest

from nel.datasets.hub_address import HubAddress, parse_uri
from nel.errors import DatasetError

ROWS = [{"question": f"q{n}", "choices": {"text": ["a", "b"]}, "answer": n} for n in range(3)]
JSONL = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
CARD = b"""---
configs:
- config_name: easy
  data_files:
  - split: test
    path: easy/test.jsonl
- config_name: hard
  data_files:
  - split: test
    path: hard/test.jsonl
---
"""


def test_a_file_needs_no_configuration() -> None:
    """Its split is what the libraries call ``train``; a configuration beside it is a mistake."""
    address = parse_uri("hf://a/b?file=data/x.csv")
    assert (address.file, address.split) == ("data/x.csv", "train")
    with pytest.raises(DatasetError, match="a file is named by its path"):
        parse_uri("hf://a/b?file=x.csv&config=z")


def test_one_configuration_or_several() -> None:
    """Both at once is a mistake."""
    assert parse_uri("hf://a/b?configs=x,y").configs == ("x", "y")
    with pytest.raises(DatasetError, match="give config or configs, not both"):
        parse_uri("hf://a/b?configs=x,y&config=z")


@pytest.mark.parametrize(
    ("uri", "address"),
    [
        ("hf://org/name", ("org/name", None, "test", None)),
        ("hf://name", ("name", None, "test", None)),
        ("hf://org/name?config=a%20b&split=train&revision=v1", ("org/name", "a b", "train", "v1")),
        ("hf://org/name/easy/train", ("org/name", "easy", "train", None)),
        ("hf://org/name?split=", ("org/name", None, "test", None)),
    ],
)
def test_uris_are_understood(uri: str, address: tuple[str, str | None, str, str | None]) -> None:
    """A URI names a dataset, its configuration, split and revision."""
    repo, config, split, revision = address
    assert parse_uri(uri) == HubAddress(repo=repo, config=config, split=split, revision=revision)


@pytest.mark.parametrize(
    ("uri", "problem"),
    [
        ("hf://", "the form is hf://org/name"),
        ("hf://../name", "the form is hf://org/name"),
        ("hf://a/b/c/d/e", "the form is hf://org/name"),
        ("hf://org/name@main", "the form is hf://org/name"),
        ("hf://datasets/org/name", "leave out datasets/"),
        ("hf://org/name?spilt=test", 'unknown parameter "spilt"; did you mean "split"?'),
        (
            "hf://org/name?trust_remote_code=1",
            'unknown parameter "trust_remote_code"; known: config, configs, file, split, revision',
        ),
        ("hf://org/name/easy?config=hard", "config is given twice"),
    ],
)
def test_malformed_uris_say_why(uri: str, problem: str) -> None:
    """What cannot be understood is refused before anything is fetched."""
    with pytest.raises(DatasetError) as caught:
        parse_uri(uri)
    assert problem in str(caught.value)
