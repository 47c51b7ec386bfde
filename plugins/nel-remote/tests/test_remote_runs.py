"""Runs whose directory is a URL: uploaded, resumed on another machine, read, and never lost."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from nel_remote.objects import Objects
from nel_remote.places import local_copy, resumable
from nel_remote.snapshots import read_manifest
from nel_remote.uploading import uploads

from nel.artifacts.exporting.frames import to_pandas
from nel.comparison.reading import read_sides
from nel.engine.progress import Progress
from nel.runs.evaluation import RunResult, evaluate, stored_config
from nel.runs.verification import verify_run
from tests.support.endpoint import Call, Reply, answer, scripted
from tests.support.processes import started_nel, wait_until
from tests.support.runs import nel, read_results, sums, without_volatile

ROWS = 12


def _config(home: Path, url: str, endpoint: str, **more: Any) -> dict[str, Any]:
    sums(home / "rows.jsonl", ROWS)
    return {
        "benchmarks": [{"name": "gsm8k", "dataset": str(home / "rows.jsonl")}],
        "endpoint": {"url": endpoint, "model": "m"},
        "engine": {"concurrency": 2, "preflight": False},
        "output": {"dir": url, "run_id": "one", "upload_seconds": 0.05},
        **more,
    }


def _say_four(call: Call, number: int) -> Reply:
    return answer("#### 4")


def _rows(result: RunResult) -> list[dict[str, Any]]:
    return without_volatile(read_results(result.run_dir, "gsm8k"))


@pytest.fixture
def machines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return what makes this process another machine, by its cache."""

    def on(name: str) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / name))

    on("a")
    return on


@pytest.mark.parametrize("kind", ["memory", "file"])
def test_a_run_goes_on_on_another_machine(kind: str, tmp_path: Path, machines: Any) -> None:
    """Stopped by its budget on one machine, resumed on another: equal to a run that was never stopped, and verified."""
    url = f"memory://{tmp_path.name}" if kind == "memory" else f"file://{tmp_path}/far"
    with scripted(_say_four) as endpoint:
        stopped = evaluate(_config(tmp_path, url, endpoint.url, budget={"max_requests": 5}))
        assert stopped.exit_code == 75
        assert stopped.resume_command == f"nel eval resume {url}/one"
        machines("b")
        run_dir = resumable(f"{url}/one")
        config = stored_config(run_dir, overrides=["budget.max_requests=null"])
        resumed = evaluate(config, resume=True)
        assert (resumed.exit_code, resumed.url) == (0, f"{url}/one")
        assert len(endpoint.calls) == ROWS
        machines("c")
        whole = evaluate(_config(tmp_path, str(tmp_path / "here"), endpoint.url))
    assert _rows(resumed) == _rows(whole)
    copy = local_copy(f"{url}/one")
    assert copy.is_relative_to(tmp_path / "c")
    assert all(check.passed for check in verify_run(copy).checks)
    (side,) = read_sides([f"far={url}/one"])
    assert side.label == "far"
    assert local_copy(url) == copy.parent
    machines("a")  # whose live run is older now
    assert (resumable(f"{url}/one") / "gsm8k" / "results.jsonl").is_file()
    assert list((tmp_path / "a").glob("**/one.superseded-1"))


def test_commands_that_read_take_urls_and_others_refuse_them(tmp_path: Path, machines: Any) -> None:
    """A run at a URL is exported and made a DataFrame as one on this machine; what writes into it says what takes URLs."""
    with scripted(_say_four) as endpoint:
        evaluate(_config(tmp_path, f"file://{tmp_path}/far", endpoint.url))
    machines("b")
    url = f"file://{tmp_path}/far/one"
    exported = nel("export", url, "--to", "csv", "-o", "out", cwd=tmp_path)
    assert (exported.returncode, (tmp_path / "out/samples.csv").is_file()) == (0, True), (
        exported.stderr
    )
    assert len(to_pandas(url)) == ROWS
    for command in ("score", "salvage", "watch", "reproduce"):
        refused = nel("eval", command, url, cwd=tmp_path)
        assert (refused.returncode, f"{url} is a URL" in refused.stderr) == (2, True), (
            refused.stderr
        )


def test_an_upload_that_fails_loses_nothing(tmp_path: Path, machines: Any) -> None:
    """The store is gone for a while: the run is whole here, says so, and is uploaded by the next session."""
    far, away = tmp_path / "far", tmp_path / "away"
    with scripted(_say_four) as endpoint:
        ended = evaluate(_config(tmp_path, f"file://{far}", endpoint.url))
    progress, slept = Progress(), list[float]()
    with uploads(ended.run_dir, progress, every_seconds=600, sleep=slept.append) as mirror:
        far.rename(away)
        far.write_text("no directory")
        (ended.run_dir / "note.txt").write_text("new")
    assert mirror is not None
    assert mirror.problem is not None
    assert slept == [1, 2, 4, 8]
    (note,) = progress.notes
    assert note.startswith(f"the run is kept in {ended.run_dir} and was not uploaded: cannot")
    assert note.endswith(f"nel eval resume file://{far}/one uploads it")
    assert len(_rows(ended)) == ROWS
    far.unlink()
    away.rename(far)
    with uploads(ended.run_dir, progress, every_seconds=600, sleep=slept.append) as mirror:
        pass
    manifest = read_manifest(Objects(f"file://{far}"), "one")
    assert manifest is not None
    assert manifest.complete
    assert "note.txt" in manifest.files


@pytest.mark.slow
def test_a_killed_run_goes_on_elsewhere(tmp_path: Path) -> None:
    """Killed in mid-run, the newest snapshot goes on on another machine; what was uploaded is not asked again."""
    sums(tmp_path / "rows.jsonl", 60)
    url = f"file://{tmp_path}/far"

    def command(endpoint: str) -> list[str]:
        return [
            *("eval", "run", "--bench", "gsm8k", "--dataset", "rows.jsonl", "--model-url", endpoint, "--model-id", "m"),
            *("-o", url, "--run-id", "one", "--concurrency", "1", "-O", "output.upload_seconds=0.05"),
        ]  # fmt: skip

    def uploaded() -> int:
        manifest = read_manifest(Objects(url), "one")
        return 0 if manifest is None else manifest.number

    with scripted(_say_four) as endpoint:
        there = {"XDG_CACHE_HOME": str(tmp_path / "a")}
        with started_nel(
            *command(endpoint.url), cwd=tmp_path, env={**os.environ, **there}
        ) as process:
            wait_until(lambda: uploaded() >= 2, process)
            process.kill()
            process.wait()
        elsewhere = {"XDG_CACHE_HOME": str(tmp_path / "b")}
        ended = nel("eval", "resume", f"{url}/one", cwd=tmp_path, env=elsewhere)
        assert ended.returncode == 0, ended.stderr
        assert f"uploaded to {url}/one" in ended.stderr
        checked = nel("verify", f"{url}/one", cwd=tmp_path, env=elsewhere)
        assert checked.returncode == 0, checked.stdout
