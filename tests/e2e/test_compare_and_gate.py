"""`nel compare` and `nel gate` on runs that the command line made: exit codes, files, one clear line for bad input."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy

from tests.support.compared import lines, write_run
from tests.support.endpoint import Call, Reply, answer, scripted
from tests.support.runs import SHARED, nel, only_run, read_json, read_results, sums, sums_command, write_jsonl
from tests.support.schemas import check_schema

LETTERS = "ABCDEFGHIJ"


def asked(tmp_path: Path, output: str, right: int, *options: str, n: int = 40) -> Path:
    """Run n sums against an endpoint that gets the first ones right, and return the run."""
    sums(tmp_path / "data.jsonl", n)

    def script(call: Call, _: int) -> Reply:
        return answer(f"The answer is {2 * call.number + (call.number >= right)}.")

    with scripted(script, models=["m"]) as endpoint:
        done = nel(*sums_command(endpoint.url, *options, out=output), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    return only_run(tmp_path / output)


def test_two_live_runs_are_compared_and_gated(tmp_path: Path) -> None:
    """A weaker model is worse and NO-GO; against itself the strong one is equivalent, and inconclusive at this size."""
    strong, weak = asked(tmp_path, "strong", 38), asked(tmp_path, "weak", 20)
    shown = nel("compare", f"strong={strong}", f"weak={weak}", "--html", "page.html", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert "weak against strong" in shown.stdout
    assert "gsm8k: WORSE" in shown.stdout
    assert "    candidate: [" in shown.stdout
    assert "13 more samples that changed" in shown.stdout
    assert "The answer is 41." in (tmp_path / "page.html").read_text()
    printed = nel("compare", str(strong), str(weak), "--json", cwd=tmp_path)
    document = json.loads(printed.stdout)
    check_schema(document, "comparison")
    assert document["candidates"][0]["benchmarks"][0]["headline"]["difference"]["losses"] == 18
    (tmp_path / "policy.yaml").write_text("defaults: {max_drop: 0.05}\n")
    summary = {"GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md")}
    gate = ("gate", str(strong), str(weak), "--policy", "policy.yaml")
    done = nel(*gate, "-o", "decided", cwd=tmp_path, env=summary)
    assert (done.returncode, done.stdout.splitlines()[0]) == (4, "NO-GO"), done.stderr
    decision = read_json(tmp_path / "decided" / "decision.json")
    check_schema(decision, "decision")
    assert (tmp_path / "decided" / "decision.md").read_text() in (tmp_path / "summary.md").read_text()
    junit = (tmp_path / "decided" / "decision.junit.xml").read_text()
    assert 'tests="1" failures="1" errors="0"' in junit
    same = nel("gate", str(strong), str(strong), "--policy", "policy.yaml", cwd=tmp_path)
    assert (same.returncode, same.stdout.splitlines()[0]) == (5, "INCONCLUSIVE"), same.stderr
    assert read_json(strong / "decision.json")["exit_code"] == 5


@pytest.mark.parametrize("command", ["compare", "leaderboard"])
def test_what_differs_is_named_by_its_two_values(tmp_path: Path, command: str) -> None:
    """A sample against all, and two scorers, by their names: a user cannot read digests."""
    whole = asked(tmp_path, "whole", 30)
    part = asked(tmp_path, "part", 30, "--sample", "15", "--scorer", "exact_match")
    runs = [str(whole), str(part)] if command == "compare" else [str(part), str(whole)]
    done = nel(command, *runs, cwd=tmp_path)
    assert done.returncode == 2
    assert "scorer.rules: gsm8k and exact_match" in done.stderr
    assert "a sample of 15 of 40" in done.stderr


@pytest.mark.parametrize(("floor", "code", "word"), [("0.3", 0, "GO"), ("0.99", 4, "NO-GO")])
def test_a_run_is_held_against_a_floor(tmp_path: Path, floor: str, code: int, word: str) -> None:
    """The whole interval decides, in `nel eval run` and in `nel gate`, with one exit code and the same files.

    The headline is also called ``pass@1``, as in the bundle of the run.
    """
    sums(tmp_path / "data.jsonl", 20)

    def script(call: Call, _: int) -> Reply:
        number = call.number
        return answer(f"The answer is {2 * number + (number % 4 == 0)}.")

    with scripted(script, models=["m"]) as endpoint:
        done = nel(*sums_command(endpoint.url, "--fail-under", f"accuracy={floor}"), cwd=tmp_path)
    assert (done.returncode, word in done.stdout.splitlines()) == (code, True), done.stderr
    run_dir = only_run(tmp_path / "out")
    first = (run_dir / "decision.json").read_bytes()
    again = nel("gate", str(run_dir), "--fail-under", f"gsm8k:pass@1={floor}", cwd=tmp_path)
    assert (again.returncode, again.stdout.splitlines()[0]) == (code, word)
    assert (run_dir / "decision.json").read_bytes() == first


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("compare", "a"), "needs a baseline and a candidate"),
        (("compare", "a", "nowhere"), "there is no nowhere"),
        (("compare", "a", "b", "--bench", "quizz"), 'did you mean "quiz"'),
        (("compare", "a", "other"), "dataset.sha256"),
        (("compare", "a", "partial"), "not finished"),
        (("compare", "a", "nan"), "results.jsonl:1"),
        (("compare", "one", "one"), "one sample in common"),
        (("gate", "a", "b"), "needs a policy"),
        (("gate", "a", "b", "--policy", "nowhere.yaml"), "nowhere.yaml"),
        (("gate", "a", "b", "--fail-under", "accuracy=0.5"), "one run alone"),
        (("gate", "one", "--fail-under", "accuracy=0.5"), "a single sample"),
    ],
)
def test_bad_input_is_one_clear_line_and_never_a_verdict(bad_input: Path, arguments: Sequence[str], said: str) -> None:
    """Exit 2, one line on stderr, nothing on stdout and no file."""
    done = nel(*arguments, cwd=bad_input)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert not list(bad_input.rglob("decision.*"))


@pytest.fixture(scope="module")
def bad_input(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("bad")
    rewards = [1.0, 0.0] * 20
    for name in "ab":
        write_run(place / name, lines(rewards))
    write_run(place / "other", lines(rewards), fields={"dataset.sha256": "e" * 64})
    write_run(place / "partial", lines(rewards), complete=False)
    write_run(place / "one", lines([1.0]))
    results = write_run(place / "nan", lines(rewards)) / "quiz" / "results.jsonl"
    results.write_text(results.read_text().replace('"reward": 1.0', '"reward": NaN'))
    (place / "empty").mkdir()
    (place / "policy.yaml").write_text("defaults: {max_drop: 0.05}\n")
    return place


def recorded(tmp_path: Path, name: str, rows: Sequence[Mapping[str, Any]]) -> Path:
    """Score recorded answers to MMLU-Pro as a run, and return it."""
    data = str(write_jsonl(tmp_path / f"{name}.jsonl", rows))
    field = ("--response-field", "generated_text")
    done = nel("eval", "run", "--bench", "mmlu_pro", "--dataset", data, *field, "-o", name, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    return only_run(tmp_path / name)


@pytest.mark.shared_data
@pytest.mark.parametrize("n", [600, pytest.param(None, marks=pytest.mark.slow)])
def test_a_planted_effect_in_recorded_outputs_is_found(tmp_path: Path, n: int | None) -> None:
    """A seeded corruption of real outputs: the flips are those that were planted, the p-value is scipy's."""
    with gzip.open(SHARED / "mmlu_pro_outputs_llama31_8b.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [{key: value for key, value in json.loads(line).items() if key != "id"} for line in islice(file, n)]
    left = recorded(tmp_path, "a", rows)
    is_right = {row["sample_id"]: row["reward"] == 1 for row in read_results(left, "mmlu_pro")}
    corrupted, lost, won = [], set(), set()
    for row, chance in zip(rows, np.random.default_rng(7).random(len(rows)), strict=True):
        name = str(row["question_id"])
        if chance >= (0.1 if is_right[name] else 0.02):
            corrupted.append(row)
            continue
        (lost if is_right[name] else won).add(name)
        wrong = next(letter for letter in LETTERS if letter != row["answer"])
        said = wrong if is_right[name] else row["answer"]
        corrupted.append({**row, "generated_text": f"The answer is ({said})."})
    right = recorded(tmp_path, "b", corrupted)
    done = nel("compare", str(left), str(right), "--json", "--flips", "5000", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["candidates"][0]["benchmarks"][0]
    difference = found["headline"]["difference"]
    assert {one["sample_id"] for one in found["flips"]["shown"]} == lost | won
    assert (difference["losses"], difference["wins"]) == (len(lost), len(won))
    expected = scipy.stats.binomtest(len(won), len(won) + len(lost)).pvalue
    assert difference["p_value"] == pytest.approx(expected, rel=1e-9)
    assert found["headline"]["verdict"] == "worse"
    assert difference["value"] == pytest.approx((len(won) - len(lost)) / len(rows))
