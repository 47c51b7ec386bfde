"""`nel judge leaderboard` as a user runs it: real runs, a judge over HTTP that prefers by a known rule, bad input."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.endpoint import Call, Reply, answer, scripted
from tests.support.leaderboards import finished_run, judge, shown_answers, word, write_bench
from tests.support.runs import nel, read_json, read_lines, write_jsonl
from tests.support.schemas import check_schema

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
    check_schema(board, "leaderboard")
    return board, done.stderr


def by_label(board: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {model["label"]: model for model in board["models"]}


def only(folder: Path) -> Path:
    (found,) = folder.glob("*-leaderboard-*")
    return found


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
        rows = read_lines(tmp_path / "pairs.jsonl")
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


def test_verdicts_that_cannot_be_read_are_left_out_and_change_the_exit_code(runs: Runs, tmp_path: Path) -> None:
    """A judge that mumbles on one question: asked once more, then left out; never a tie, never a loss."""

    def script(call: Call, seen: int) -> Reply:
        first, _ = shown_answers(call.text)
        return answer("Hmm.") if number(first) == 5 else judge(WORTH)(call, seen)

    with scripted(script) as endpoint:
        board, said = board_of(
            str(runs["alpha"]), str(runs["beta"]), "--judge-url", endpoint.url, "--judge-id", "s", "-o", "out",
            cwd=tmp_path, code=3,
        )  # fmt: skip
    assert board["counts"]["left_out"] == 1
    assert board["left_out"][0]["of"] == "judge"
    assert board["left_out"][0]["reason"].startswith("judge:")
    assert by_label(board)["alpha"]["win_rate"]["n"] == _N - 1
    assert "resume with: nel judge leaderboard --resume -o" in said


def test_a_judge_that_is_down_stops_resumably(runs: Runs, tmp_path: Path) -> None:
    """Exit 75 and a partial board; when it is back, only what is left is asked, and the board is that of one go."""
    arguments = [str(runs["alpha"]), str(runs["beta"]), "--judge-id", "s", "--concurrency", "2"]
    quick = ["-O", "judge.outage_seconds_max=0.3", "-O", "judge.outage_probe_seconds=0.1"]
    quick = [one.replace("judge.", "judge.panel.0.") for one in quick]
    answered: list[str] = []

    def failing(call: Call, seen: int) -> Reply:
        if len(answered) >= 8:
            return Reply(reset=True)
        answered.append(call.text)
        return judge(WORTH)(call, seen)

    with scripted(failing) as endpoint:
        board, said = board_of(
            *arguments, *quick, "--judge-url", endpoint.url, "-o", "out", cwd=tmp_path, code=75
        )  # fmt: skip
    assert not board["complete"], board["left_out"]
    assert "PARTIAL" in said
    assert f"resume with: nel judge leaderboard --resume -o {Path('out') / only(tmp_path / 'out').name}" in said
    with scripted(judge(WORTH)) as endpoint:
        resumed, _ = board_of(
            "--resume", "-o", "out", "--judge-url", endpoint.url, "--judge-id", "s", cwd=tmp_path
        )  # fmt: skip
        assert len(endpoint.calls) == 2 * _N - len(answered)
        assert {call.text for call in endpoint.calls}.isdisjoint(answered)
        once, _ = board_of(*arguments, "--judge-url", endpoint.url, "-o", "once", cwd=tmp_path)
    volatile = {"run_id", "judge"}
    assert {k: v for k, v in resumed.items() if k not in volatile} == {
        k: v for k, v in once.items() if k not in volatile
    }


def test_a_resume_with_runs_or_another_judge_is_refused(runs: Runs, tmp_path: Path) -> None:
    """A resume has the stored runs; another judge is named, and the leaderboard stays as it was."""
    with scripted(judge(WORTH)) as endpoint:
        flags = ["--judge-url", endpoint.url, "--judge-id", "s", "-o", "out"]
        board_of(str(runs["alpha"]), str(runs["beta"]), *flags, cwd=tmp_path)
        before = (only(tmp_path / "out") / "leaderboard.json").read_bytes()
        drawn = (str(runs["alpha"]), "--baseline", "alpha", "--seed", "3")
        named = nel("judge", "leaderboard", *drawn, *flags, "--resume", cwd=tmp_path)
        assert named.returncode == 2
        assert "with its runs and its pairs; leave out the runs, --baseline, --seed" in named.stderr
        flags[3] = "portia"
        judged = nel("judge", "leaderboard", *flags, "--resume", cwd=tmp_path)
        assert judged.returncode == 2
        assert "judge.panel" in judged.stderr
        assert "undo the change" in judged.stderr
    assert (only(tmp_path / "out") / "leaderboard.json").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["{alpha}", "{bench}"], "there is no run.db"),
        (["{alpha}", "{beta}", "--baseline", "alhpa"], 'no run is called "alhpa"; did you mean "alpha"?'),
        (["--resume"], "there is no leaderboard to resume in eval_results"),
        ([], "at least two models"),
    ],
)
def test_wrong_input_exits_2_and_names_itself(runs: Runs, tmp_path: Path, arguments: list[str], said: str) -> None:
    """One line, nothing sent, nothing written."""
    filled = [argument.format(**{name: str(path) for name, path in runs.items()}) for argument in arguments]
    flags = ["--judge-url", "http://127.0.0.1:9/v1", "--judge-id", "s"]
    done = nel("judge", "leaderboard", *filled, *flags, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_the_benchmark_pairwise_works_by_itself(tmp_path: Path) -> None:
    """`nel eval run --bench pairwise --dataset FILE`: its accuracy is the win rate of the responses."""
    rows = [{"question": f"Say {i}.", "response": f"alpha {i}", "baseline": f"beta {i}"} for i in range(9)]
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with scripted(judge(WORTH)) as endpoint:
        flags = ["--judge-url", endpoint.url, "--judge-id", "s", "--json"]
        done = nel("eval", "run", "--bench", "pairwise", "--dataset", "pairs.jsonl", *flags, cwd=tmp_path)
        assert all("A reference answer" not in call.text for call in endpoint.calls)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["benchmarks"]["pairwise"]["headline"]["value"] == pytest.approx(6 / 9)
    unjudged = nel("eval", "run", "--bench", "pairwise", "--dataset", "pairs.jsonl", cwd=tmp_path)
    assert unjudged.returncode == 2
    assert "give --judge-url and --judge-id" in unjudged.stderr
    (tmp_path / "half.jsonl").write_text('{"question": "Say 1.", "response": "1"}\n', encoding="utf-8")
    half = nel("eval", "run", "--bench", "pairwise", "--dataset", "half.jsonl", *flags, cwd=tmp_path)
    assert half.returncode == 2
    assert "the row has no field 'baseline'" in half.stderr
    bare = nel("eval", "run", "--bench", "pairwise", *flags, cwd=tmp_path)
    assert bare.returncode == 2
    assert "pairwise has no rows of its own; give --dataset FILE" in bare.stderr
