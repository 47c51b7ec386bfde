"""`nel judge leaderboard` as a user runs it: real runs, a judge over HTTP that prefers by a known rule, bad input."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from nel.artifacts.schema import load_schema
from tests.support.endpoint import Call, Reply, answer, scripted
from tests.support.leaderboards import finished_run, judge, word, write_bench
from tests.support.runs import nel, read_json, write_jsonl

Runs = dict[str, Path]
_N = 12


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Return the runs of four models on twelve questions; `cut` is cut off twice and lost to the server once."""
    root = tmp_path_factory.mktemp("runs")
    bench = write_bench(root / "bench", n=_N)

    def cut(number: int, _: int) -> Reply:
        if number == 2:
            return Reply(status=500, body={"error": {"message": "broken"}})
        return answer(f"cut {number}", finish="length" if number < 2 else "stop")

    return {
        "alpha": finished_run(root, bench, "alpha", word("alpha")),
        "beta": finished_run(root, bench, "beta", word("beta")),
        "gamma": finished_run(root, bench, "gamma", word("gamma")),
        "cut": finished_run(root, bench, "cut", cut),
        "bench": bench,
    }


def named(text: str) -> str:
    found = re.search(r"(alpha|beta|gamma|cut|long) \d+", text)
    assert found is not None, text
    return found[1]


def number(text: str) -> int:
    found = re.search(r"(?:alpha|beta|gamma|cut|long) (\d+)", text)
    assert found is not None, text
    return int(found[1])


def by_worth(worth: dict[str, int]) -> Callable[[str, str], str]:
    """Return who prefers the worthier model, but the other one on every third question."""

    def prefers(first: str, second: str) -> str:
        better = worth[named(first)] > worth[named(second)]
        return "A" if better != (number(first) % 3 == 0) else "B"

    return prefers


WORTH = by_worth({"alpha": 3, "beta": 2, "gamma": 1, "cut": 0})


def board_of(*arguments: str, cwd: Path, code: int = 0) -> tuple[dict[str, Any], str]:
    """Run `nel judge leaderboard --json` and return what it printed, after the schema, with stderr."""
    done = nel("judge", "leaderboard", *arguments, "--json", cwd=cwd)
    assert done.returncode == code, done.stderr
    board = json.loads(done.stdout)
    jsonschema.Draft202012Validator(load_schema("leaderboard")).validate(board)
    return board, done.stderr


def by_label(board: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {model["label"]: model for model in board["models"]}


def only(folder: Path) -> Path:
    (found,) = folder.glob("*-leaderboard-*")
    return found


def comes_to(holds: Callable[[], bool]) -> None:
    """Wait until something holds that will."""
    deadline = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.slow
def test_peoples_labels_of_pairs_correct_the_win_rates(runs: Runs, tmp_path: Path) -> None:
    """Label the judging's pairs, take the labels in, count again: the worthier model wins every labelled pair."""
    with scripted(judge(WORTH)) as endpoint:
        names = (str(runs["beta"]), str(runs["alpha"]))
        flags = ("--judge-url", endpoint.url, "--judge-id", "solomon")
        board, _ = board_of(*names, *flags, "-o", "out", cwd=tmp_path)
        assert all("label_corrected" not in one for one in board["models"])
        directory = only(tmp_path / "out")
        drawn = nel("judge", "calibrate", str(directory / "judging"), "--out", "pairs.jsonl", cwd=tmp_path)
        assert drawn.returncode == 0, drawn.stderr
        rows = [json.loads(line) for line in (tmp_path / "pairs.jsonl").read_text().splitlines()]
        for row in rows:
            row["label"] = "A" if named(row["answer_a"]) == "alpha" else "B"
        write_jsonl(tmp_path / "labelled.jsonl", rows)
        taken = nel("judge", "calibrate", str(directory / "judging"), "--labels", "labelled.jsonl", cwd=tmp_path)
        assert taken.returncode == 0, taken.stderr
        before = len(endpoint.calls)
        again, _ = board_of("--resume", "-o", str(directory), cwd=tmp_path)
        assert len(endpoint.calls) == before
    alpha = by_label(again)["alpha"]
    assert alpha["win_rate"]["value"] == pytest.approx(8 / 12)
    assert (alpha["label_corrected"]["value"], alpha["label_corrected"]["n_labelled"]) == (1.0, 12)


def test_a_judge_with_a_known_rule_gives_the_known_ranking(runs: Runs, tmp_path: Path) -> None:
    """Two of three questions go to the worthier: win rates, strengths and matrix follow; both orders were asked."""
    with scripted(judge(WORTH)) as endpoint:
        board, _ = board_of(
            *(str(runs[name]) for name in ("beta", "alpha", "gamma")),
            "--judge-url", endpoint.url, "--judge-id", "solomon", "-o", "out",
            cwd=tmp_path,
        )  # fmt: skip
        assert len(endpoint.calls) == 3 * _N * 2
        assert endpoint.resent() == 0
    assert [model["label"] for model in board["models"]] == ["alpha", "beta", "gamma"]
    models = by_label(board)
    assert models["alpha"]["win_rate"]["value"] == pytest.approx(2 / 3)
    assert models["beta"]["win_rate"]["value"] == pytest.approx(1 / 2)
    assert models["beta"]["elo"]["value"] == pytest.approx(1000, abs=1e-6)
    assert (models["alpha"]["rank"], models["gamma"]["rank"]) == (1, 3)
    assert board["position"]["flips"]["value"] == 0
    assert board["position"]["n_pairs"] == 3 * _N
    assert board["counts"] == {"pairs": 36, "judged": 36, "forfeits": 0, "left_out": 0, "questions": _N}
    assert board["judge"]["panel"] == [{"name": "solomon", "model": "solomon", "url": endpoint.url}]
    directory = only(tmp_path / "out")
    assert read_json(directory / "leaderboard.json") == board
    assert "alpha" in (directory / "leaderboard.html").read_text(encoding="utf-8")
    assert (directory / "judging" / "report.html").is_file()
    shown = (directory / "comparisons.json").read_text(encoding="utf-8") + json.dumps(board)
    assert str(tmp_path) not in shown


def test_a_killed_leaderboard_goes_on_from_any_directory(runs: Runs, tmp_path: Path) -> None:
    """Killed by SIGKILL half way: at most one request a worker is sent again; a third resume sends nothing."""
    seen: list[str] = []
    killed = threading.Event()

    def held(call: Call, times: int) -> Reply:
        seen.append(call.text)
        return replace(judge(WORTH)(call, times), wait=killed if len(seen) > 20 else None)

    with scripted(held) as endpoint:
        three = [str(runs[name]) for name in ("alpha", "beta", "gamma")]
        command = [
            sys.executable, "-m", "nel", "judge", "leaderboard", *three,
            "--judge-url", endpoint.url, "--judge-id", "s", "-o", str(tmp_path / "out"), "--concurrency", "2",
        ]  # fmt: skip
        with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            try:
                comes_to(lambda: len(seen) >= 22)
            finally:
                process.send_signal(signal.SIGKILL)
        killed.set()
        assert len(seen) == 22
        (tmp_path / "elsewhere").mkdir()
        moved = only(tmp_path / "out").rename(tmp_path / "elsewhere" / "board")
        board, _ = board_of("--resume", "-o", "board", cwd=tmp_path / "elsewhere")
        assert endpoint.resent() <= 2
        assert len(endpoint.calls) <= 72 + 2
        before = len(endpoint.calls)
        again, _ = board_of("--resume", "-o", str(moved), "--length-control", cwd=tmp_path)
        assert len(endpoint.calls) == before
    assert board["complete"]
    assert board["counts"]["judged"] == 36
    assert again["statistics"]["length_control"]
    assert by_label(again)["beta"]["win_rate"] == by_label(board)["beta"]["win_rate"]
