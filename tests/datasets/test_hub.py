"""The hub: URIs, and real reading through the client libraries from a hub on loopback."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nel.datasets.hub_address import HubAddress, parse_uri
from nel.errors import DatasetError
from tests.support.hub import FakeHub, running_hub

needs_datasets = pytest.mark.skipif(
    importlib.util.find_spec("huggingface_hub") is None, reason="the `datasets` library is not installed"
)
ROOT = Path(__file__).parents[2]
ROWS = [{"question": f"q{n}", "choices": {"text": ["a", "b"]}, "answer": n} for n in range(3)]
JSONL = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
PATIENT = {"HF_HUB_ETAG_TIMEOUT": "120", "HF_HUB_DOWNLOAD_TIMEOUT": "120"}
"""Their clients give an answer 10 s, which a busy machine may need."""
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
READ = """
import json, sys
from nel.datasets.hub import open_hub
from nel.errors import DatasetError
for uri in sys.argv[1:]:
    try:
        dataset = open_hub(uri, None)
        print(json.dumps([dataset.revision, [row.data for row in dataset.read()]]))
    except DatasetError as error:
        print(json.dumps(str(error)))
"""


class Reader:
    """Reads hub URIs in a process of its own, whose cache is in a temporary folder."""

    def __init__(self, hub: FakeHub, home: Path) -> None:
        self.hub = hub
        self.home = home

    def read(self, *uris: str, **settings: str) -> list[Any]:
        """Return for each URI its commit and rows, or the message of its error."""
        env = {"PATH": os.environ["PATH"], "HOME": str(self.home), "HF_HOME": str(self.home / "hf")}
        env |= {"HF_ENDPOINT": self.hub.url, "PYTHONPATH": str(ROOT), "NO_PROXY": "*"}
        env |= PATIENT | settings
        done = subprocess.run(
            [sys.executable, "-c", READ, *uris], env=env, cwd=self.home, capture_output=True, timeout=280, check=False
        )
        assert done.returncode == 0, done.stderr.decode()
        return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    """A hub with three datasets, and a reader for it."""
    hub = FakeHub(
        repos={
            "acme/quiz": {"test.jsonl": JSONL, "train.jsonl": JSONL.splitlines(keepends=True)[0]},
            "acme/multi": {"README.md": CARD, "easy/test.jsonl": JSONL, "hard/test.jsonl": JSONL},
            "acme/gated": {"test.jsonl": JSONL},
        },
        gated=frozenset({"acme/gated"}),
    )
    with running_hub(hub):
        yield Reader(hub, tmp_path)


@needs_datasets
@pytest.mark.slow
def test_the_hub_is_read_at_a_pinned_commit(reader: Reader) -> None:
    """Branches and tags resolve to a commit, split and config are honoured, and only that commit is fetched."""
    commit = reader.hub.commit("acme/quiz")
    test, train, hard = reader.read(
        "hf://acme/quiz", "hf://acme/quiz?split=train&revision=v1", "hf://acme/multi?config=hard"
    )
    assert test == [commit, ROWS]
    assert train == [commit, ROWS[:1]]
    assert hard == [reader.hub.commit("acme/multi"), ROWS]
    fetched = [line for line in reader.hub.requests if "/resolve/" in line]
    assert fetched
    assert all("/resolve/main/" not in line for line in fetched)


@needs_datasets
@pytest.mark.slow
def test_several_configurations_are_one_dataset(reader: Reader) -> None:
    """Their rows follow each other, and each says which one it is of; one that is missing is named."""
    both, missing = reader.read("hf://acme/multi?configs=hard,easy", "hf://acme/multi?configs=hard,soft")
    assert both[0] == reader.hub.commit("acme/multi")
    assert both[1] == [{**row, "config": config} for config in ("hard", "easy") for row in ROWS]
    assert "'soft' not found. Available: ['easy', 'hard']" in missing


@needs_datasets
@pytest.mark.slow
def test_one_file_is_read_and_no_other_fetched(reader: Reader) -> None:
    """A repository of several files is read file by file, by name or by pattern."""
    one, pattern, missing = reader.read(
        "hf://acme/multi?file=hard/test.jsonl", "hf://acme/multi?file=easy/te*.jsonl", "hf://acme/multi?file=none.jsonl"
    )
    assert one == [reader.hub.commit("acme/multi"), ROWS]
    assert pattern == one
    assert "none.jsonl" in missing
    quiz = reader.read("hf://acme/quiz?file=train.jsonl")
    assert quiz == [[reader.hub.commit("acme/quiz"), ROWS[:1]]]
    assert not any("acme/quiz" in line and "test.jsonl" in line for line in reader.hub.requests if "GET" in line)


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


@needs_datasets
@pytest.mark.slow
def test_what_the_hub_refuses_is_explained(reader: Reader) -> None:
    """Each refusal of the hub or its libraries says what happened and how to go on."""
    expected = {
        "hf://acme/none": "the hub has no such dataset, or it is private",
        "hf://acme/gated": "it is gated; accept its terms on the hub and set HF_TOKEN",
        "hf://acme/quiz?revision=nope": "it has no such revision",
        "hf://acme/quiz?split=nope": "Unknown split \"nope\". Should be one of ['train', 'test']",
        "hf://acme/multi": "Please pick one among the available configs: ['easy', 'hard']",
        "hf://acme/multi?config=esay": "'esay' not found. Available: ['easy', 'hard']",
    }
    for (uri, problem), message in zip(expected.items(), reader.read(*expected), strict=True):
        assert message.startswith(f"{uri}: ")
        assert problem in message
        assert message.endswith("--dataset PATH")


@needs_datasets
@pytest.mark.slow
def test_offline_only_the_pinned_commit_is_taken_from_the_cache(reader: Reader) -> None:
    """Offline, a cached commit is found by its name, and the library's offer of any other one is refused."""
    commit = reader.hub.commit("acme/quiz")
    pinned = f"hf://acme/quiz?revision={commit}"
    reader.read(pinned)
    cached, other, unpinned = reader.read(
        pinned, f"hf://acme/quiz?revision={'f' * 40}", "hf://acme/quiz", HF_HUB_OFFLINE="1"
    )
    assert cached == [commit, ROWS]
    assert "the library offers another version" in other
    assert "offline mode is on" in unpinned


@needs_datasets
@pytest.mark.slow
def test_a_folder_of_the_same_name_is_not_the_hub(reader: Reader) -> None:
    """The library prefers a folder named like the dataset; that is refused, since it has no commit."""
    (reader.home / "acme" / "quiz").mkdir(parents=True)
    (reader.home / "acme" / "quiz" / "test.jsonl").write_bytes(JSONL)
    (message,) = reader.read("hf://acme/quiz")
    assert "from a folder of that name" in message


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
        ("hf://org/name@main", "the form is hf://org/name"),
        ("hf://datasets/org/name", "leave out datasets/"),
        ("hf://org/name?revision=../../x", "a revision is a branch, a tag or a commit"),
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
