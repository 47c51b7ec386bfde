"""What changed between two sessions of a run: refused where it would mix two runs, and cheap where it would not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import nel
from tests.faults.invariants import nothing_paid_twice, same_artifacts
from tests.faults.runs import run
from tests.faults.server import serving

CHANGES: dict[str, tuple[dict[str, Any], str]] = {
    "f58-model": ({"endpoint": {"model": "other"}}, "model"),
    "f58-protocol": ({"endpoint": {"protocol": "completions"}}, "protocol"),
    "f58-temperature": ({"generation": {"temperature": 0.5}}, "temperature"),
    "f58-max_tokens": ({"generation": {"max_tokens": 9}}, "max_tokens"),
    "f58-top_p": ({"generation": {"top_p": 0.5}}, "top_p"),
    "f58-seed": ({"generation": {"seed": 5}}, "seed"),
    "f58-stop": ({"generation": {"stop": ["x"]}}, "stop"),
    "f58-extra": ({"generation": {"extra": {"top_k": 3}}}, "extra"),
    "f58-system_prompt": ({"benchmark": {"system_prompt": "Be brief."}}, "system_prompt"),
}


def test_f58_a_resume_that_would_mix_two_settings_is_refused(tmp_path: Path) -> None:
    """Whatever can move an answer may not change on the way; the message names it and nothing is sent."""
    with serving() as server:
        first = run(tmp_path, server)
        for change, named in CHANGES.values():
            with pytest.raises(nel.NelError, match=named):
                run(tmp_path, server, resume=True, **change)
        assert len(server.calls) == 3
        same_artifacts(first, run(tmp_path, server, resume=True))


def test_f58_what_moves_no_answer_may_change(tmp_path: Path) -> None:
    """Concurrency, timeouts, retries and tolerances may change on the way, in the middle and after the end."""
    endpoint = {"total_timeout_seconds": 50, "idle_timeout_seconds": 40, "attempts_max": 9, "retry_budget": 0.5}
    others = {"engine": {"concurrency": 1, "unscored_rate_max": 0.5}, "endpoint": endpoint}
    with serving() as server:
        assert run(tmp_path, server, budget={"max_requests": 1}).exit_code == 75
        finished = run(tmp_path, server, resume=True, **others)
        same_artifacts(finished, run(tmp_path, server, resume=True))
        assert len(server.calls) == 3
    assert finished.states == ["scored"] * 3


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ('{"question": "What is 2 plus 2?", "answer": "#### 5"}\n', r"with other settings \(dataset.sha256: "),
        ("", "started with 5 rows and there are fewer now"),
    ],
    ids=["f59-edited", "f59-removed"],
)
def test_a_changed_dataset_is_seen(tmp_path: Path, row: str, message: str) -> None:
    """An edited or a missing row refuses the resume, and nothing is sent."""
    with serving() as server:
        run(tmp_path, server, n=5)
        data = tmp_path / "sums5.jsonl"
        lines = data.read_text().splitlines(keepends=True)
        data.write_text("".join([*lines[:2], row, *lines[3:]]))
        with pytest.raises(nel.NelError, match=message):
            run(tmp_path, server, n=5, resume=True)
        assert len(server.calls) == 5


def test_f59_an_added_row_is_asked_for_alone(tmp_path: Path) -> None:
    """A row at the end of the dataset is asked for by a resume, and the others keep their answers."""
    with serving() as server:
        run(tmp_path, server, n=5)
        with (tmp_path / "sums5.jsonl").open("a") as data:
            data.write('{"question": "What is 5 plus 5?", "answer": "#### 10"}\n')
        ran = run(tmp_path, server, n=5, resume=True)
        assert ran.states == ["scored"] * 6
        assert len(server.calls) == 6


def test_f61_more_repeats_ask_for_what_is_missing(tmp_path: Path) -> None:
    """Two repeats more and a larger limit: only the missing requests are sent, once each."""
    with serving() as server:
        few = {"benchmark": {"max_problems": 3}, "generation": {"seed": 7}}
        run(tmp_path, server, n=6, **few)
        more = {"benchmark": {"max_problems": 5, "repeats": 3}, "generation": {"seed": 7}}
        ran = run(tmp_path, server, n=6, resume=True, **more)
        nothing_paid_twice(server)
        assert len(server.calls) == 15
    assert ran.states == ["scored"] * 15
