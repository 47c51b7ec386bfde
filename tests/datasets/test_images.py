"""Images of rows: data and addresses as they are, files from below the dataset's folder alone, whatever links say."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

import nel
from nel.apps.byob.shipping.source import read_source
from nel.datasets import images
from nel.datasets.images import image_urls, with_images
from nel.errors import ConfigError, DatasetError, PluginError
from nel.models.wire.base import prompt_bytes, text_length
from nel.types import Message, Request
from tests.faults.runs import QUICK
from tests.support.endpoint import answer, scripted

PNG = b"\x89PNG\r\n\x1a\n and the rest"
URL = f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
SECRET = b"\x89PNG\r\n\x1a\n of somebody else"
BENCHMARK = """
name: colours
prompt: 'What is on it, {name}?'
images_field: image
dataset: rows.jsonl
checks: [{contains: red}]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A dataset's folder with an image, links to it and out of it, and files that are none."""
    data = tmp_path / "data"
    (data / "pictures").mkdir(parents=True)
    (data / "pictures" / "a.png").write_bytes(PNG)
    (data / "b.png").symlink_to(data / "pictures" / "a.png")
    (tmp_path / "secret.png").write_bytes(SECRET)
    (data / "link.png").symlink_to(tmp_path / "secret.png")
    (data / "out").symlink_to(tmp_path)
    (data / "notes.txt").write_text("text", encoding="utf-8")
    return data


@pytest.mark.parametrize(
    ("value", "urls"),
    [
        ("pictures/a.png", [URL]),
        ("pictures/../b.png", [URL]),
        (["b.png", URL, "https://host/x.png"], [URL, URL, "https://host/x.png"]),
        (None, []),
    ],
)
def test_images_that_may_be_sent(folder: Path, value: object, urls: list[str]) -> None:
    """A link may lead to another file of the folder; an address is passed on and not fetched."""
    assert image_urls({"image": value}, "image", folder) == urls


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("../secret.png", "lies outside the dataset's folder"),
        ("link.png", "lies outside the dataset's folder"),
        ("/etc/passwd", "lies outside the dataset's folder"),
        ("pictures", "is not a file in the dataset's folder"),
        ("notes.txt", "is neither PNG, JPEG, GIF nor WebP"),
        ("a\0b", "cannot be read"),
        ("data:text/plain;base64,eA==", "is not an image"),
        (3, "holds a int"),
    ],
)
def test_images_that_may_not(folder: Path, value: object, said: str) -> None:
    """Nothing outside the folder is read, by whatever way; each message names what was given."""
    with pytest.raises(DatasetError, match=said):
        image_urls({"image": value}, "image", folder)


def test_what_has_no_bound_or_no_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is too large is not read; a dataset without a folder has no files."""
    monkeypatch.setattr(images, "BYTES_MAX", 5)
    with pytest.raises(DatasetError, match="an image may have 5"):
        image_urls({"image": "b.png"}, "image", folder)
    with pytest.raises(DatasetError, match="in no folder"):
        image_urls({"image": "b.png"}, "image", None)
    with pytest.raises(DatasetError, match="image"):
        image_urls({}, "image", folder)


def test_where_they_stand_and_what_they_count() -> None:
    """After the text of the last message of the user; an estimate counts an image and not its data."""
    first, last = Message(role="user", content="a"), Message(role="user", content="bcd")
    found = with_images((first, Message(role="assistant", content="x"), last), [URL * 1000])
    assert [one.content for one in found[:2]] == ["a", "x"]
    assert [part["type"] for part in found[2].content] == ["text", "image_url"]  # type: ignore[index]
    assert text_length(found[2]) == 3
    body = json.dumps([URL * 1000]).encode()
    request = Request(protocol="chat", model="m", sample_id="s", repeat=0, messages=found)
    assert prompt_bytes(request, body) < 7000 < len(body)


def _config(folder: Path, url: str, **more: Any) -> dict[str, Any]:
    (folder / "colours.yaml").write_text(BENCHMARK, encoding="utf-8")
    rows = [{"name": "a", "image": "b.png"}, {"name": "b", "image": "link.png"}, {"name": "c", "image": None}]
    (folder / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return {
        "endpoint": {**QUICK, "url": url, "api_key_env": None, **more},
        "benchmarks": [{"name": str(folder / "colours.yaml")}],
        "output": {"dir": str(folder.parent / "out")},
    }


def test_a_run_about_images(folder: Path) -> None:
    """A row that points out of the folder is not a sample; the others are asked with their image."""
    with scripted(lambda *_: answer("red"), models=["m"]) as endpoint:
        result = nel.evaluate(_config(folder, endpoint.url))
    parts = [call.body["messages"][0]["content"] for call in endpoint.calls]
    assert sorted(parts, key=str) == [
        "What is on it, c?",
        [{"type": "text", "text": "What is on it, a?"}, {"type": "image_url", "image_url": {"url": URL}}],
    ]
    accounting = result.benchmarks[0].accounting
    assert (accounting["n_scored"], accounting["unscored"]["bad_row"]["n"], result.exit_code) == (2, 1, 3)
    secret = base64.b64encode(SECRET)
    assert not any(secret in path.read_bytes() for path in result.run_dir.rglob("*") if path.is_file())


def test_a_prompt_has_no_images(folder: Path) -> None:
    """Completions would lose them: refused before anything is sent."""
    with pytest.raises(ConfigError, match="needs the chat protocol"):
        nel.evaluate(_config(folder, "http://127.0.0.1:1/v1", protocol="completions"))


def test_a_benchmark_with_images_is_not_packed(folder: Path) -> None:
    path = folder / "colours.py"
    path.write_text(
        "from nel import benchmark, scorer\n\n\n"
        '@benchmark(name="colours", dataset="rows.jsonl", prompt="{name}", images_field="image")\n'
        "@scorer\ndef colours(sample):\n    return {}\n",
        encoding="utf-8",
    )
    with pytest.raises(PluginError, match="the images of colours are not packed"):
        read_source(path)
