"""ModelScope: real reading through its client library from a hub on loopback."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from nel.datasets import open_dataset
from nel.datasets.base import Dataset
from nel.datasets.modelscope import open_modelscope
from nel.errors import DatasetError, MissingExtra
from tests.support.hub import FakeModelScope, running_hub

pytestmark = pytest.mark.skipif(find_spec("modelscope_hub") is None, reason="needs the extra modelscope")
ROWS = [{"question": f"q{n}", "choices": {"text": ["a", "b"]}, "answer": n} for n in range(3)]
LINES = [json.dumps(row).encode() + b"\n" for row in ROWS]
JSONL = b"".join(LINES)
CARD = b"""---
configs:
- config_name: easy
  data_files:
  - split: test
    path: easy/test.jsonl
- config_name: hard
  data_files:
  - split: test
    path: hard/test-*.jsonl
---
# Multi
"""


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeModelScope]:
    """A hub with four datasets, and a cache of its own."""
    for name in ("MODELSCOPE_API_TOKEN", "MODELSCOPE_DOMAIN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MODELSCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("MODELSCOPE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("NO_PROXY", "*")
    fake = FakeModelScope(
        repos={
            "acme/quiz": [
                {"test.jsonl": LINES[0], "train.jsonl": LINES[0], "notes.txt": b"first"},
                {"test.jsonl": JSONL, "train.jsonl": LINES[0], "notes.txt": b"second"},
            ],
            "acme/multi": [
                {"README.md": CARD, "easy/test.jsonl": JSONL}
                | {f"hard/test-{n}.jsonl": line for n, line in enumerate(LINES)}
            ],
            "acme/private": [{"test.jsonl": JSONL}],
            "acme/empty": [{}],
        },
        private=frozenset({"acme/private"}),
    )
    with running_hub(fake) as running:
        monkeypatch.setenv("MODELSCOPE_ENDPOINT", running.url)
        yield running


def data_of(dataset: Dataset) -> list[dict[str, Any]]:
    return [row.data for row in dataset.read()]


def refusal(uri: str) -> str:
    with pytest.raises(DatasetError) as caught:
        open_dataset(uri)
    assert str(caught.value).startswith(f"{uri}: ")
    return str(caught.value)


def fetched(hub: FakeModelScope) -> list[str]:
    return [line.partition("FilePath=")[2] for line in hub.requests if "FilePath=" in line]


def test_a_branch_is_read_at_its_commit(hub: FakeModelScope) -> None:
    """Branches and tags become the commit that holds their files; only the files of the split are fetched, at it."""
    first, last = hub.commit("acme/quiz", 0), hub.commit("acme/quiz")
    test, old = open_dataset("ms://acme/quiz"), open_dataset("ms://acme/quiz?split=train&revision=v1")
    assert (test.revision, old.revision) == (last, first)
    assert data_of(test) == data_of(test) == ROWS
    assert data_of(old) == ROWS[:1]
    assert fetched(hub) == ["test.jsonl", "train.jsonl"]
    assert all("Revision=master" not in line for line in hub.requests if "FilePath=" in line)


def test_where_no_commit_is_named_the_content_names_the_version(hub: FakeModelScope) -> None:
    """The version is then the digest of the list, another one for other files, and a moved branch is read again."""
    hub.tells_commits = False
    one = open_dataset("ms://acme/quiz")
    again = open_dataset("ms://acme/quiz?revision=master")
    assert one.revision == again.revision
    assert str(one.revision).startswith("sha256:")
    hub.repos["acme/quiz"].append({"test.jsonl": LINES[2]})
    moved = open_dataset("ms://acme/quiz")
    assert moved.revision != one.revision
    assert data_of(moved) == ROWS[2:]
    with pytest.raises(DatasetError, match="the file changed since it was opened"):
        data_of(one)


def test_configurations_come_from_the_card(hub: FakeModelScope) -> None:
    """One by name, several one after the other, and the files of one in the order of their names."""
    hard, both = open_dataset("ms://acme/multi?config=hard"), open_dataset("ms://acme/multi?configs=hard,easy")
    assert data_of(hard) == ROWS
    assert [row.number for row in hard.read()] == [1, 2, 3]
    assert data_of(both) == [{**row, "config": config} for config in ("hard", "easy") for row in ROWS]
    assert hard.fingerprint != both.fingerprint


def test_files_are_named_or_matched(hub: FakeModelScope) -> None:
    """One file or those of a pattern, and nothing else is fetched, not even the card."""
    assert data_of(open_dataset("ms://acme/multi?file=easy/test.jsonl")) == ROWS
    assert data_of(open_dataset("ms://acme/multi?file=hard/test-[01].jsonl")) == ROWS[:2]
    assert fetched(hub) == ["easy%2Ftest.jsonl", "hard%2Ftest-0.jsonl", "hard%2Ftest-1.jsonl"]


@pytest.mark.parametrize(
    ("uri", "problem"),
    [
        ("ms://acme/none", "the hub has no such dataset, or it is private and needs MODELSCOPE_API_TOKEN"),
        ("ms://acme/private", "it is private or gated; get access on the hub and set MODELSCOPE_API_TOKEN"),
        ("ms://acme/empty", 'it has no files at revision "master"'),
        ("ms://acme/quiz?revision=nope", 'it has no files at revision "nope"'),
        ("ms://acme/quiz?split=validation", 'it has no split "validation"; it has: train, test'),
        ("ms://acme/multi", "it has several configs; name one, as in ms://acme/multi?config=easy: easy, hard"),
        ("ms://acme/multi?config=esay", 'it has no config "esay"; did you mean "easy"? available: easy, hard'),
        ("ms://acme/multi?file=easy/tset.jsonl", 'there is no file "easy/tset.jsonl"; did you mean "easy/test.jsonl"?'),
        ("ms://acme/quiz?file=notes.txt", "no reader for files like this"),
        ("ms://acme/quiz?spilt=test", 'unknown parameter "spilt"; did you mean "split"?'),
    ],
)
def test_what_cannot_be_had_says_why(hub: FakeModelScope, uri: str, problem: str) -> None:
    """Each refusal says what happened and what there is instead."""
    assert problem in refusal(uri)


def test_a_private_dataset_is_read_with_a_token(hub: FakeModelScope, monkeypatch: pytest.MonkeyPatch) -> None:
    """The token comes from the library's own variable."""
    monkeypatch.setenv("MODELSCOPE_API_TOKEN", hub.token)
    assert data_of(open_dataset("ms://acme/private")) == ROWS


def test_without_the_hub_a_pinned_commit_is_taken_from_the_cache(
    hub: FakeModelScope, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was read once needs no network and no setting; what was not is refused."""
    commit = hub.commit("acme/quiz")
    open_dataset("ms://acme/quiz")
    before = len(hub.requests)
    assert data_of(open_dataset(f"ms://acme/quiz?revision={commit}")) == ROWS
    assert len(hub.requests) == before
    monkeypatch.setenv("MODELSCOPE_ENDPOINT", "http://127.0.0.1:9")  # nothing listens there
    monkeypatch.setattr("modelscope_hub._legacy_api.time.sleep", lambda _: None)
    assert data_of(open_dataset(f"ms://acme/quiz?revision={commit}")) == ROWS
    assert "the hub cannot be reached; a commit that was read before needs none" in refusal("ms://acme/quiz")
    assert "the hub cannot be reached" in refusal(f"ms://acme/quiz?revision={'e' * 40}")


def test_a_damaged_cache_is_repaired_and_a_wrong_download_refused(
    hub: FakeModelScope, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each file is held against the SHA-256 that the hub lists, in the cache and after a download."""
    open_dataset("ms://acme/quiz")
    (cached,) = (tmp_path / "cache").rglob("test.jsonl")
    cached.write_bytes(JSONL.replace(b"q0", b"q9"))
    assert data_of(open_dataset("ms://acme/quiz")) == ROWS
    hub.corrupt = frozenset({"easy/test.jsonl"})
    monkeypatch.setattr("modelscope_hub._download.DOWNLOAD_INTEGRITY_RETRY_BACKOFF", 0)
    assert "what the hub sends is not what it lists" in refusal("ms://acme/multi?config=easy")


def test_a_listed_path_stays_in_its_folder(hub: FakeModelScope, tmp_path: Path) -> None:
    """A hub that lists a way out of the cache is refused before anything is fetched."""
    hub.repos["acme/quiz"] = [{"../../../../test.jsonl": JSONL}]
    assert "leaves its folder" in refusal("ms://acme/quiz")
    assert fetched(hub) == []


def test_parquet_and_csv_are_read_by_their_own_readers(hub: FakeModelScope) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    buffer = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(ROWS), buffer)
    hub.repos["acme/tables"] = [
        {"data/test-00000-of-00001.parquet": buffer.getvalue(), "csv/dev.csv": b"question,answer\nq,1\n"}
    ]
    assert data_of(open_dataset("ms://acme/tables")) == ROWS
    assert data_of(open_dataset("ms://acme/tables?split=validation")) == [{"question": "q", "answer": "1"}]


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without `modelscope-hub` the message says what to install."""
    monkeypatch.setitem(sys.modules, "modelscope_hub", None)
    with pytest.raises(MissingExtra, match=r"pip install 'modelscope-hub<0.6'"):
        open_modelscope("ms://org/name", None)
