"""A resume of a finished run says its result again and touches nothing, as long as nothing was changed."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from nel.engine.store.snapshot import FILE_NAME, Snapshot
from tests.support.endpoint import Call, Endpoint, Reply, answer, scripted
from tests.support.runs import comparable, nel, only_run, read_json, sums

N = 12
_VOLATILE = {".lock", ".finished.json", "progress.json", "run.log"}
_SCORER = (
    "from nel import benchmark, scorer\n"
    "@benchmark(name='mine', dataset='data.jsonl', prompt='{question}', target_field='answer')\n"
    "@scorer\n"
    "def mine(sample):\n"
    "    return {'correct': 'Answer' in sample.response}\n"
)
_PROMPT = (
    "from nel import benchmark\n"
    "from nel.scoring import exact_match\n"
    "def prepared(row):\n"
    "    return row\n"
    "mine = benchmark(\n"
    "    name='mine', dataset='data.jsonl', prompt='{question}', target_field='answer', prepare_row=prepared\n"
    ")(exact_match)\n"
)


def _script(call: Call, _: int) -> Reply:
    return answer(f"Answer: {2 * call.number + (call.number % 3 == 0)}")


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with scripted(_script, models=["m"]) as endpoint:
        yield endpoint


def _run(endpoint: Endpoint, folder: Path, *more: str, bench: str = "gsm8k") -> subprocess.CompletedProcess[str]:
    return nel(
        "eval", "run", "--bench", bench, "--dataset", "data.jsonl", "--model-url", endpoint.url, "--model-id", "m",
        "-o", "out", *more, cwd=folder,
    )  # fmt: skip


def _resume(folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    return nel("eval", "resume", str(only_run(folder / "out").relative_to(folder)), *more, cwd=folder)


def _sessions(folder: Path) -> int:
    with Snapshot(only_run(folder / "out") / FILE_NAME) as snapshot:
        return len(snapshot.sessions())


def _bytes(folder: Path) -> dict[str, bytes]:
    run_dir = only_run(folder / "out")
    files = [path for path in sorted(run_dir.rglob("*")) if path.is_file() and path.name != ".lock"]
    return {str(path.relative_to(run_dir)): path.read_bytes() for path in files}


def test_an_unchanged_run_is_told_again_and_not_written(endpoint: Endpoint, tmp_path: Path) -> None:
    """Text, JSON, exit code and every byte are those of a resume that does all again; nothing is asked."""
    sums(tmp_path / "data.jsonl", N)
    assert _run(endpoint, tmp_path, "-O", "output.reports=[junit]").returncode == 0
    mark = only_run(tmp_path / "out") / ".finished.json"
    mark.unlink()
    again = _resume(tmp_path)
    mark.unlink()
    as_json = _resume(tmp_path, "--json")
    assert _sessions(tmp_path) == 3
    before = _bytes(tmp_path)
    short, short_json = _resume(tmp_path), _resume(tmp_path, "--json")
    assert (short.returncode, short.stdout, short.stderr) == (0, again.stdout, again.stderr)
    assert (short_json.returncode, short_json.stdout) == (0, as_json.stdout)
    assert _bytes(tmp_path) == before
    assert len(endpoint.calls) == N


def test_every_file_that_is_changed_is_written_again(endpoint: Endpoint, tmp_path: Path) -> None:
    """An artifact that is edited, cut short or deleted comes back, and a file beside them is read."""
    sums(tmp_path / "data.jsonl", N)
    assert _run(endpoint, tmp_path, "-O", "output.reports=[junit]").returncode == 0
    run_dir = only_run(tmp_path / "out")
    names = sorted(_bytes(tmp_path).keys() - _VOLATILE - {FILE_NAME})
    assert len(names) == 8
    first = {name: comparable(read_json(run_dir / name)) for name in names if name.endswith("metrics.json")}
    for number, name in enumerate(names):
        path = run_dir / name
        whole = path.read_bytes()
        if number % 2:
            path.unlink()
        else:
            path.write_bytes(whole.replace(b"0", b"1"))
        assert _resume(tmp_path).returncode == 0
        assert _sessions(tmp_path) == number + 2, name
        assert len(path.read_bytes()) > len(whole) - 100
    assert {name: comparable(read_json(run_dir / name)) for name in first} == first
    (run_dir / "gsm8k" / "labels.jsonl").write_text('{"id": "none of these", "label": 1}\n')
    assert _resume(tmp_path).returncode == 2
    assert len(endpoint.calls) == N


def test_a_changed_store_is_not_trusted(endpoint: Endpoint, tmp_path: Path) -> None:
    """A byte of run.db that is another one is found, as by a resume that asks."""
    sums(tmp_path / "data.jsonl", N)
    assert _run(endpoint, tmp_path).returncode == 0
    store = only_run(tmp_path / "out") / FILE_NAME
    content = store.read_bytes()
    assert content.count(b"Answer: 2") >= 1
    store.write_bytes(content.replace(b"Answer: 2", b"Answer: 9"))
    assert _resume(tmp_path).returncode == 0
    assert _sessions(tmp_path) == 2
    assert len(endpoint.calls) > N


def test_a_scorer_and_settings_of_now_count(endpoint: Endpoint, tmp_path: Path) -> None:
    """A scorer that is edited scores again, and a setting is taken."""
    sums(tmp_path / "data.jsonl", N)
    bench = tmp_path / "mine.py"
    bench.write_text(_SCORER)
    assert _run(endpoint, tmp_path, bench="mine.py").returncode == 0
    told = _resume(tmp_path)
    assert "100.00 %" in told.stdout
    assert _sessions(tmp_path) == 1
    bench.write_text(_SCORER.replace("'Answer' in", "'Answer: 2' in"))
    scored = _resume(tmp_path)
    assert scored.returncode == 0
    assert "100.00 %" not in scored.stdout
    assert _sessions(tmp_path) == 2
    assert _resume(tmp_path).stdout == scored.stdout
    assert _resume(tmp_path, "-O", "engine.concurrency=3").returncode == 0
    assert _sessions(tmp_path) == 3
    assert len(endpoint.calls) == N


def test_a_prompt_that_changes_for_a_late_row_is_refused(endpoint: Endpoint, tmp_path: Path) -> None:
    """The code that makes prompts is compared whole, also where the scorer is none of it."""
    sums(tmp_path / "data.jsonl", 300)
    bench = tmp_path / "mine.py"
    bench.write_text(_PROMPT)
    assert _run(endpoint, tmp_path, bench="mine.py").returncode == 0
    assert _resume(tmp_path).returncode == 0
    assert _sessions(tmp_path) == 1
    late = "return row if '299' not in row['question'] else {**row, 'question': row['question'].upper()}"
    bench.write_text(_PROMPT.replace("return row", late))
    assert "prompt.sha256" in _resume(tmp_path).stderr
    assert len(endpoint.calls) == 300


def test_what_a_resume_asks_again_is_not_finished(tmp_path: Path) -> None:
    """A sample that the endpoint failed is asked again, also where so much is tolerated."""
    sums(tmp_path / "data.jsonl", N)
    down = [True]

    def script(call: Call, number: int) -> Reply:
        return Reply(status=400) if down[0] and "What is 3 " in call.text else _script(call, number)

    with scripted(script, models=["m"]) as endpoint:
        more = ("-O", "engine.unscored_rate_max=0.5")
        assert _run(endpoint, tmp_path, *more).returncode == 0
        down[0] = False
        assert _resume(tmp_path).returncode == 0
        assert len(endpoint.calls) == N + 1
