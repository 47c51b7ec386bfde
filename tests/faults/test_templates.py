"""Templates and rows from strangers: what they try reaches neither the machine nor the endpoint."""

from __future__ import annotations

import io
import pickle
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

import nel
from nel.errors import NelError
from tests.faults.runs import config
from tests.faults.server import Server, answer, serving
from tests.support.runs import write_jsonl

BENCH = """
from nel import benchmark, scorer

@benchmark(name="b", dataset={data!r}, target_field="a", **{options!r})
@scorer
def b(sample):
    return {{"correct": sample.response.strip() == sample.target}}
"""
ROLES = ("prompt", "system_prompt", "preamble", "fewshot_prefix", "fewshot_template", "fewshot_target_template")
ROWS = [{"x": "one", "a": "1"}, {"x": "two", "a": "2"}, {"x": "three", "a": "3"}]


def written(tmp_path: Path, server: Server, rows: list[Any] | None = None, **options: Any) -> dict[str, Any]:
    """Write a benchmark with the options and return the configuration of a run of it."""
    data = write_jsonl(tmp_path / "data.jsonl", rows or ROWS)
    path = tmp_path / "bench.py"
    path.write_text(BENCH.format(data=str(data), options={"prompt": "{x}", **options}), encoding="utf-8")
    settings = config(tmp_path, server.url)
    settings["benchmarks"] = [{"name": str(path)}]
    return settings


def refused(settings: dict[str, Any], server: Server) -> str:
    """Return why a run is refused, having sent nothing and left nothing."""
    with pytest.raises(NelError) as caught:
        nel.evaluate(settings)
    assert caught.value.exit_code == 2
    assert server.calls == []
    assert not list(Path(settings["output"]["dir"]).glob("*/run.db"))
    return str(caught.value)


ATTACKS = dict(zip(ROLES, [
    "{x.__class__.__mro__}", "{x!r}", "{x:>9999999999}", "{# #}{{ x.__class__ }}", "{% include '/etc/passwd' %}",
    "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}{{ x }}",
], strict=True))  # fmt: skip


@pytest.mark.parametrize("role", ROLES)
def test_a_template_that_reaches_for_more_than_data(tmp_path: Path, role: str) -> None:
    """Wherever a template stands, it is refused before a request; `tests/prompts` has every attack."""
    with serving() as server:
        reason = refused(written(tmp_path, server, num_fewshot=1, **{role: ATTACKS[role]}), server)
    assert "prompt" in reason or "template" in reason


def test_f82_a_row_that_names_a_file_or_an_address(tmp_path: Path) -> None:
    """What a row names is neither read nor fetched; the model gets the name."""
    values = ["file:///etc/passwd", "/etc/passwd", "http://169.254.169.254/latest/meta-data", "../../etc/passwd"]
    names = ("x", "image", "url", "system")
    rows = [{**dict.fromkeys(names, value), "files": [value], "a": "1"} for value in values]
    with serving(lambda call: answer("1")) as server:
        assert nel.evaluate(written(tmp_path, server, rows)).exit_code == 0
        messages = [call.body["messages"] for call in server.calls]
    assert all(len(turns) == 1 and turns[0]["role"] == "user" for turns in messages)
    assert sorted(turns[0]["content"] for turns in messages) == sorted(values)


class _Payload:
    def __reduce__(self) -> Any:
        return (Path("nel-was-here").write_text, ("x",))  # what the pickle would do


def _zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../../outside.jsonl", '{"x": "1", "a": "1"}\n')


def _tar(path: Path) -> None:
    with tarfile.open(path, "w:gz") as archive:
        data = b'{"x": "1", "a": "1"}\n'
        entry = tarfile.TarInfo("../../outside.jsonl")
        entry.size = len(data)
        archive.addfile(entry, io.BytesIO(data))


def _pickle(path: Path) -> None:
    path.write_bytes(pickle.dumps(_Payload()))


@pytest.mark.parametrize(
    ("role", "name", "make"),
    [
        ("dataset", "d.pkl", _pickle),
        ("dataset", "d.jsonl", _pickle),
        ("dataset", "d.jsonl.gz", _tar),
        ("fewshot_dataset", "d.zip", _zip),
        ("fewshot_dataset", "d.tar.gz", _tar),
        ("fewshot_dataset", "d.pt", _pickle),
    ],
    ids=["f83-pickle", "f83-pickle-as-jsonl", "f83-tar-as-gz", "f83-zip", "f83-tar", "f83-checkpoint"],
)
def test_a_dataset_that_would_run_or_unpack(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, role: str, name: str, make: Any
) -> None:
    """Pickles are not loaded and archives not unpacked, whatever they are called."""
    monkeypatch.chdir(tmp_path)
    make(tmp_path / name)
    before = sorted(path.name for path in tmp_path.parent.iterdir())
    with serving() as server:
        settings = written(tmp_path, server, num_fewshot=1)
        settings["benchmarks"][0][role] = str(tmp_path / name)
        refused(settings, server)
    assert sorted(path.name for path in tmp_path.parent.iterdir()) == before
    assert not (tmp_path / "nel-was-here").exists()
