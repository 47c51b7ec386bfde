"""Replay: each prompt gets what was recorded for its question, or an error; never another question's answer."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from nel.apps.http_server import running
from nel.apps.mock.recordings import Recordings, ReplayOptions, read_recordings
from nel.apps.mock.replay import replay_app
from nel.apps.mock.request_parsing import EndpointFault, Query
from nel.errors import DatasetError
from tests.apps.mock.conftest import Client


def written(folder: Path, *rows: Any, name: str = "recorded.jsonl") -> Path:
    """Return a file with these rows; text is written as it is."""
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path = folder / name
    data = "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def options(path: Path, **changes: Any) -> ReplayOptions:
    """Return options with the short names used in these tests."""
    return ReplayOptions(path=path, **{"question_fields": ("q",), "output_field": "o", **changes})


def found(recordings: Recordings, text: str, *, sample_id: str | None = None, repeat: int | None = None) -> str:
    """Return the recorded text, or the code of the fault."""
    try:
        query = Query(protocol="chat", text=text, sample_id=sample_id, repeat=repeat)
        return recordings.find(query).text
    except EndpointFault as fault:
        return fault.code


async def test_serves_recordings_over_http(client: Client, tmp_path: Path) -> None:
    """Chat, completions and streams all give the recorded text; what was not recorded is a 404."""
    path = written(tmp_path, {"q": "How far is it?", "o": "Two miles. ☕"}, name="recorded.jsonl.gz")
    async with running(replay_app(options(path), model="demo")) as url:
        status, chat = await client.chat(url, "Question: How far is it?\nThink.", max_tokens=1)
        _, text = await client.complete(url, "How far is it?")
        events = await client.events(f"{url}/completions", {"prompt": "How far is it?"})
        missing = await client.chat(url, "How far was it?")
    assert status == 200
    assert chat["choices"][0]["message"]["content"] == text["choices"][0]["text"] == "Two miles. ☕"
    assert "".join(event["choices"][0]["text"] for event in events[:-1]) == "Two miles. ☕"
    assert (missing[0], missing[1]["error"]["code"]) == (404, "no_recording")


@pytest.mark.parametrize("body", [{"logprobs": 1}, {"max_tokens": 0, "echo": True}])
async def test_refuses_what_was_not_recorded(client: Client, tmp_path: Path, body: dict[str, Any]) -> None:
    """Log-probabilities are refused, since a made-up one would be scored."""
    path = written(tmp_path, {"q": "How far is it?", "o": "Two miles."})
    async with running(replay_app(options(path), model="demo")) as url:
        status, answer = await client.complete(url, "How far is it?", **body)
    assert (status, answer["error"]["code"]) == (400, "unsupported")


def test_equal_questions_need_an_id(tmp_path: Path) -> None:
    """Equal questions with different outputs are told apart by the id only; equal outputs are no ambiguity."""
    rows = [{"i": "é7", "q": "Who?", "o": "Ann"}, {"i": 8, "q": "Who?", "o": "Bob"}, {"i": 9, "q": "Who?", "o": "Bob"}]
    recordings = read_recordings(options(written(tmp_path, *rows), id_field="i"))
    assert found(recordings, "Who?") == "ambiguous_recording"
    assert found(recordings, "Who?", sample_id="8") == "Bob"
    assert found(recordings, "Who?", sample_id="\\xe97") == "Ann"
    assert found(recordings, "Who?", sample_id="8", repeat=3) == "Bob"
    assert found(recordings, "Who?", sample_id="08") == "no_recording"
    same = read_recordings(options(written(tmp_path, *rows[1:]), id_field="i"))
    assert found(same, "Who?") == "Bob"


def test_repeats_are_in_file_order(tmp_path: Path) -> None:
    """The k-th repeat gets the k-th recording of its sample, and there is none beyond the last."""
    rows = [{"i": 1, "q": "Who?", "o": "Ann"}, {"i": 2, "q": "Who?", "o": "Cid"}, {"i": 1, "q": "Who?", "o": "Bob"}]
    recordings = read_recordings(options(written(tmp_path, *rows), id_field="i"))
    assert [found(recordings, "Who?", sample_id="1", repeat=repeat) for repeat in range(2)] == ["Ann", "Bob"]
    assert found(recordings, "Who?", sample_id="1", repeat=2) == "no_recording"
    assert found(recordings, "Who?", sample_id="2", repeat=9) == "Cid"
    assert found(recordings, "Who?", sample_id="1") == "ambiguous_recording"
    assert found(recordings, "Who?", repeat=0) == "ambiguous_recording"
    without_ids = read_recordings(options(written(tmp_path, *rows)))
    assert found(without_ids, "Who?", sample_id="1", repeat=0) == "ambiguous_recording"


async def test_ambiguity_names_the_rivals_and_the_way_out(client: Client, tmp_path: Path) -> None:
    """A 409 names ids and lines and the header to send, and the headers work over HTTP."""
    rows = [
        {"i": "a", "q": "Who?", "o": "Ann"},
        {"i": "b", "q": "Who?", "o": "Bob"},
        {"i": "b", "q": "Who?", "o": "Bo"},
    ]
    path = written(tmp_path, *rows)
    async with running(replay_app(options(path, id_field="i"), model="demo")) as url:
        status, body = await client.chat(url, "Who?")
        _, with_id = await client.chat(url, "Who?", headers={"X-Nel-Sample-Id": "b", "X-Nel-Repeat": "1"})
        wrong = await client.chat(url, "Who?", headers={"X-Nel-Repeat": "one"})
    async with running(replay_app(options(path), model="demo")) as url:
        _, without_ids = await client.chat(url, "Who?")
    assert (status, body["error"]["code"]) == (409, "ambiguous_recording")
    for word in ("id a (line 1)", "id b (line 2)", "X-Nel-Sample-Id"):
        assert word in body["error"]["message"]
    assert with_id["choices"][0]["message"]["content"] == "Bo"
    assert "line 1" in without_ids["error"]["message"]
    assert "--id-field" in without_ids["error"]["message"]
    assert wrong[0] == 400


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"q": "x", "o": ', ["JSON"]),
        ("[1]", ["an array, not an object"]),
        ({"question": "x", "o": "y"}, ['no field "q"', "question"]),
        ({"q": "x", "o": 5}, ['"o" is a int']),
        ({"q": ["a", 5], "o": "y"}, ['"q"', "neither text"]),
        ({"q": "x", "o": "y", "i": None}, ['"i"']),
    ],
)
def test_unusable_lines_are_named(tmp_path: Path, line: Any, words: list[str]) -> None:
    """An unusable line is an error with the file, the line and what is wrong."""
    path = written(tmp_path, {"q": "fine", "o": "fine", "i": 1}, "", line)
    with pytest.raises(DatasetError) as caught:
        read_recordings(options(path, id_field="i" if "i" in line else None))
    assert f"{path}:3: " in str(caught.value)
    assert all(word in str(caught.value) for word in words)
