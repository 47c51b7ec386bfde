"""The hub without its libraries: a hub on loopback read over HTTP, the cache, the token and refusals."""

from __future__ import annotations

import hashlib
import json
import sys
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.message import Message
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from nel import evaluate
from nel.datasets.download import _KeepTokenHome
from nel.datasets.hub import open_hub
from nel.errors import DatasetError, ResumeRefused
from tests.datasets.test_hub import CARD, JSONL, ROWS
from tests.e2e.test_canonical_hub import parquet
from tests.support.hub import FakeHub, running_hub

TRUTH = hashlib.sha256(JSONL).hexdigest()


@dataclass(kw_only=True)
class ListingHub(FakeHub):
    """A hub that keeps the headers it is sent, and lists one file with a SHA-256."""

    tokens: set[str | None] = field(default_factory=set)
    sha256: str = TRUTH
    generation: int = 0
    """How often the branch has gone on."""

    def commit(self, repo: str) -> str:
        return super().commit(f"{repo}{self.generation or ''}")

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer as the other does, with a hash beside each file of the repository ``acme/hashed``."""
        self.tokens.add(request.headers.get("Authorization"))
        if request.path.startswith("/api/datasets/acme/hashed/revision/"):
            siblings = [{"rfilename": "test.jsonl", "lfs": {"sha256": self.sha256}}]
            return web.json_response({"sha": self.commit("acme/hashed"), "siblings": siblings})
        return await super().handle(request)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ListingHub]:
    """A hub with some datasets, an empty cache, and no library of it."""
    files = {
        "acme/quiz": {"test.jsonl": JSONL, "train.jsonl": JSONL.splitlines(keepends=True)[0]},
        "acme/multi": {"README.md": CARD, "easy/test.jsonl": JSONL, "hard/test.jsonl": JSONL},
        "acme/table": {"main/test-00000-of-00001.parquet": parquet(ROWS)},
        "acme/hashed": {"test.jsonl": JSONL},
        "acme/gated": {"test.jsonl": JSONL},
    }
    found = ListingHub(repos=files, gated=frozenset({"acme/gated"}))
    monkeypatch.setitem(sys.modules, "datasets", None)
    for name in ("HF_TOKEN", "HF_HUB_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    with running_hub(found):
        monkeypatch.setenv("HF_ENDPOINT", found.url)
        yield found


def lines_of(rows: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def read(uri: str) -> list[Any]:
    dataset = open_hub(uri, None)
    return [dataset.revision, [row.data for row in dataset.read()]]


def test_rows_are_those_of_a_commit(hub: ListingHub) -> None:
    """Branches and tags resolve to a commit; config, split, file, jsonl and parquet are honoured."""
    quiz = hub.commit("acme/quiz")
    assert read("hf://acme/quiz") == [quiz, ROWS]
    assert read("hf://acme/quiz?split=train&revision=v1") == [quiz, ROWS[:1]]
    assert read("hf://acme/quiz?file=train.jsonl") == [quiz, ROWS[:1]]
    assert read("hf://acme/multi?config=hard") == [hub.commit("acme/multi"), ROWS]
    assert read("hf://acme/table?config=main") == [hub.commit("acme/table"), ROWS]
    both = read("hf://acme/multi?configs=hard,easy")[1]
    assert both == [{**row, "config": config} for config in ("hard", "easy") for row in ROWS]
    fetched = [line for line in hub.requests if "/resolve/" in line]
    assert all("/resolve/main/" not in line for line in fetched)
    assert len(fetched) == len(set(fetched))


def test_a_branch_that_went_on_is_named_when_its_run_is_resumed(hub: ListingHub, tmp_path: Path) -> None:
    """The commit that the run has read is in the message: with ``revision=`` the run goes on."""
    rows = [{"question": f"{n}?", "answer": "#### 2", "said": "2"} for n in range(3)]
    hub.repos = {"acme/said": {"test.jsonl": lines_of(rows)}}
    entry = {"name": "gsm8k", "dataset": "hf://acme/said", "response_field": "said"}
    config = {"benchmarks": [entry], "output": {"dir": str(tmp_path), "run_id": "run"}}
    assert evaluate(config).exit_code == 0
    before = hub.commit("acme/said")
    hub.repos, hub.generation = {"acme/said": {"test.jsonl": lines_of(rows[:2])}}, 1
    with pytest.raises(
        ResumeRefused, match=f"hf://acme/said was at revision {before} and is at {hub.commit('acme/said')}"
    ):
        evaluate(config, resume=True)
    entry["dataset"] += f"?revision={before}"
    assert evaluate(config, resume=True).exit_code == 0


def test_a_commit_that_was_read_needs_no_hub(hub: ListingHub, monkeypatch: pytest.MonkeyPatch) -> None:
    """Offline a pinned commit comes from the cache, and whatever is not in it is refused."""
    pinned = f"hf://acme/quiz?revision={hub.commit('acme/quiz')}"
    read(pinned)
    asked = len(hub.requests)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert read(pinned)[1] == ROWS
    assert len(hub.requests) == asked
    with pytest.raises(DatasetError, match="offline mode is on"):
        read("hf://acme/quiz")


@pytest.mark.parametrize(
    ("uri", "problem"),
    [
        ("hf://acme/none", "the hub has no such dataset, or it is private"),
        ("hf://acme/gated", "it is gated; accept its terms on the hub and set HF_TOKEN"),
        ("hf://acme/quiz?revision=nope", "it has no such revision"),
        ("hf://acme/quiz?split=nope", 'it has no split "nope"; it has: train, test'),
        ("hf://acme/multi", "it has several configs; name one, as in hf://acme/multi?config=easy: easy, hard"),
        ("hf://acme/multi?config=esay", 'it has no config "esay"; did you mean "easy"'),
    ],
)
def test_what_the_hub_refuses_is_explained(hub: ListingHub, uri: str, problem: str) -> None:
    """Each refusal says what happened and how to go on."""
    assert hub.url
    with pytest.raises(DatasetError) as caught:
        read(uri)
    assert str(caught.value).startswith(f"{uri}: ")
    assert problem in str(caught.value)


def test_a_file_is_what_the_hub_lists(hub: ListingHub) -> None:
    """Bytes with another SHA-256 are refused and not kept."""
    hub.sha256 = "0" * 64
    with pytest.raises(DatasetError, match="what the hub sends is not what it lists"):
        read("hf://acme/hashed")
    hub.sha256 = TRUTH
    assert read("hf://acme/hashed")[1] == ROWS


def test_the_token_is_sent_to_the_hub(hub: ListingHub, monkeypatch: pytest.MonkeyPatch) -> None:
    """HF_TOKEN goes with every request; without it there is none."""
    read("hf://acme/quiz")
    assert hub.tokens == {None}
    hub.tokens.clear()
    monkeypatch.setenv("HF_TOKEN", "hf_x")
    read("hf://acme/table?config=main")
    assert hub.tokens == {"Bearer hf_x"}


@pytest.mark.parametrize(("url", "is_sent"), [("https://hub.test/b", True), ("https://cdn.test/b", False)])
def test_a_redirect_takes_the_token_to_no_other_host(url: str, is_sent: bool) -> None:
    """The hub redirects large files to a store of its own, which has no right to the token."""
    request = urllib.request.Request("https://hub.test/a", headers={"Authorization": "Bearer hf_x"})
    following = _KeepTokenHome().redirect_request(request, None, 302, "Found", Message(), url)
    assert following.has_header("Authorization") is is_sent
