"""Only the user can read what nel writes, unless it is asked to share it; then everything of it can be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from nel.artifacts.exporting.archive import write_archive
from nel.artifacts.exporting.writers import export_run
from nel.artifacts.importing.writers import import_results
from tests.support.runs import nel, write_jsonl

PRIVATE, SHARED = {0o600, 0o700}, {0o644, 0o755}


def modes(path: Path) -> set[int]:
    return {one.stat().st_mode & 0o777 for one in (path, *path.rglob("*"))}


@pytest.mark.parametrize(("shared", "expected"), [(False, PRIVATE), (True, SHARED)])
def test_a_run_is_shared_where_it_is_wanted(tmp_path: Path, shared: bool, expected: set[int]) -> None:
    """After the run, and after its artifacts were made again with a further report, which no flag says it to."""
    write_jsonl(tmp_path / "data.jsonl", [{"question": "Q?", "answer": "#### 18", "said": "The answer is 18."}])
    recorded = ("--bench", "gsm8k", "--dataset", "data.jsonl", "--response-field", "said", "--run-id", "r")
    done = nel("eval", "run", *recorded, *["--share-permissions"] * shared, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    run_dir = tmp_path / "eval_results" / "r"
    assert modes(run_dir) == expected
    assert nel("report", str(run_dir), "-f", "csv", cwd=tmp_path).returncode == 0
    assert (run_dir / "summary.csv").is_file()
    assert modes(run_dir) == expected


@pytest.mark.parametrize(("shared", "expected"), [(False, PRIVATE), (True, SHARED)])
def test_exports_imports_and_archives_are_shared_where_it_is_wanted(
    finished: Path, tmp_path: Path, shared: bool, expected: set[int]
) -> None:
    """Each has the permissions that were asked for, its directory included."""
    export_run("nemo", finished, tmp_path / "out", shared=shared)
    import_results(tmp_path / "out", tmp_path / "run", shared=shared)
    archive = write_archive(finished, tmp_path / "run.tar.gz", shared=shared)
    assert modes(tmp_path / "out") == expected
    assert modes(tmp_path / "run") == expected
    assert modes(archive) <= expected
