"""Rows from a web server: read over HTTP, kept by their content, refused where the address holds a key."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from nel.datasets.source import open_dataset
from nel.errors import DatasetError
from tests.support.hub import FakeHub, running_hub

ROWS = b'{"question": "1 + 1?"}\n'


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    """A server with one file, and an empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("NO_PROXY", "*")
    files = {"acme/quiz": {"test.jsonl": ROWS}}
    hub = FakeHub(repos=files)
    with running_hub(hub):
        yield hub


def test_a_file_on_a_server_is_read(mirror: FakeHub) -> None:
    """Its revision is the digest of its content, and both readings are of the same bytes."""
    url = f"{mirror.url}/datasets/acme/quiz/resolve/{mirror.commit('acme/quiz')}/test.jsonl"
    dataset = open_dataset(url)
    mirror.repos = {}
    assert [row.data for _ in range(2) for row in dataset.read()] == [{"question": "1 + 1?"}] * 2
    assert dataset.revision is not None
    assert dataset.revision.startswith("sha256:")


@pytest.mark.parametrize(
    ("path", "problem"),
    [("/gone.jsonl", "the server answers HTTP 404"), ("/rows.txt", "no reader for files like this")],
)
def test_what_cannot_be_had_is_said(mirror: FakeHub, path: str, problem: str) -> None:
    with pytest.raises(DatasetError, match=problem):
        open_dataset(mirror.url + path)


def test_an_address_with_a_key_is_refused_without_it() -> None:
    """A run stores the address of its dataset, so a query or a password is no part of it, nor of the message."""
    with pytest.raises(DatasetError, match="may be a secret") as caught:
        open_dataset("https://user:hunter2@host/a.jsonl?sig=hunter2")
    assert "hunter2" not in str(caught.value)
