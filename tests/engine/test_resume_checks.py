"""A large run asks again before all of it was read, and never reads a large and unchanged dataset to its end."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import nel
from nel.engine.asking.resume_checks import ROWS_FIRST
from nel.engine.planning.resolution import make_plans
from nel.engine.progress import Progress
from nel.engine.run import run_session
from nel.engine.session_spec import Runtime, SessionSpec
from nel.engine.store.projections.intact import count_unreadable
from nel.engine.store.snapshot import Snapshot
from nel.errors import ResumeRefused
from nel.runs.evaluation import RunResult, stored_config
from tests.support.endpoint import Endpoint, answer, scripted
from tests.support.runs import run_config, sums

N = ROWS_FIRST + 500
FIRST = 20
EDITED = N - 3
BENCH = f"""
import os
from nel import benchmark, scorer
def edited(row):
    late = os.environ.get("NEL_TEST_EDITED") and int(row["question"].split()[2]) >= {ROWS_FIRST}
    return {{**row, "question": row["question"] + " Think!" if late else row["question"]}}
@benchmark(name="mine", dataset="data.jsonl", prompt="{{question}}", target_field="answer", prepare_row=edited)
@scorer
def mine(sample):
    return {{"correct": True}}
"""


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with scripted(lambda call, number: answer("42"), models=["m"]) as endpoint:
        yield endpoint


def _run(folder: Path, endpoint: Endpoint, most: int, *, resume: bool = False) -> RunResult:
    config: dict[str, Any] = run_config(
        endpoint.url,
        [{"name": str(folder / "bench.py")}],
        folder / "out",
        budget={"max_requests": most},
        engine={"concurrency": 4},
    )
    return nel.evaluate(config, resume=resume)


@pytest.fixture
def begun(tmp_path: Path, endpoint: Endpoint) -> Path:
    """A run that has asked its first samples and stopped there."""
    sums(tmp_path / "data.jsonl", N)
    (tmp_path / "bench.py").write_text(BENCH)
    assert _run(tmp_path, endpoint, FIRST).exit_code == 75
    return tmp_path


def test_a_changed_file_is_refused_before_anything_is_asked(begun: Path, endpoint: Endpoint) -> None:
    """Its last row counts as much as its first."""
    sums(begun / "data.jsonl", N)
    with (begun / "data.jsonl").open("r+") as file:
        text = file.read()
        file.seek(0)
        file.write(text.replace(f"What is {EDITED} plus", f"What be {EDITED} plus"))
    before = len(endpoint.calls)
    with pytest.raises(ResumeRefused, match=r"dataset\.sha256: .*prompt\.sha256: "):
        _run(begun, endpoint, N, resume=True)
    assert len(endpoint.calls) == before


def test_a_prompt_that_changed_late_in_an_unchanged_file_changes_no_request(
    begun: Path, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a large file the first rows are rendered again; all that is asked is what the run itself holds."""
    monkeypatch.setenv("NEL_TEST_EDITED", "yes")
    endpoint.calls.clear()
    assert _run(begun, endpoint, FIRST + 100, resume=True).exit_code == 75
    asked = [call for call in endpoint.calls if call.path.endswith("/chat/completions")]
    assert max(call.number for call in asked) >= ROWS_FIRST
    assert not any("Think!" in call.text for call in asked)


@pytest.mark.slow
def test_a_damaged_record_of_a_large_run_stops_it_and_is_made_again_by_the_next(
    begun: Path, endpoint: Endpoint
) -> None:
    """The session that finds it while it asks ends resumably; the next one reads before it asks."""
    (run_db,) = begun.glob("out/*/run.db")
    with closing(sqlite3.connect(run_db)) as connection, connection:
        connection.execute("UPDATE steps SET response = '{\"state\":' WHERE seq = 2")
    config = stored_config(run_db.parent, overrides=[f"budget.max_requests={10 * N}"])
    plans = make_plans(config, resuming=True)
    large = Runtime(verify_first_bytes_max=0)
    ending = run_session(
        SessionSpec(run_dir=run_db.parent, config=config, plans=plans, progress=Progress(), runtime=large)
    )
    assert (ending.exit_code, "1 records of run.db could not be read" in ending.reason) == (75, True)
    progress = Progress()
    capped = stored_config(run_db.parent, overrides=["budget.max_requests=1"])
    run_session(SessionSpec(run_dir=run_db.parent, config=capped, plans=plans, progress=progress, runtime=large))
    assert any("could not be read" in note for note in progress.notes)
    with Snapshot(run_db) as snapshot:
        assert count_unreadable(snapshot) == 0
        assert not snapshot.meta("unreadable")
