"""Two sides are paired by content, refused where they are unequal, and judged on all that was measured."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy

from nel.comparison.fields import part_of
from nel.errors import OutputError, UsageError
from tests.comparison.conftest import compared
from tests.support.compared import FIELDS, line, lines, lm_eval_lines, nemo_lines, write_lm_eval, write_nemo, write_run
from tests.support.runs import recorded_run


def coins(n: int, share: float, seed: int = 0) -> list[float]:
    return [float(one) for one in np.random.default_rng(seed).random(n) < share]


def only(document: dict[str, Any]) -> dict[str, Any]:
    (benchmark,) = document["candidates"][0]["benchmarks"]
    found: dict[str, Any] = benchmark
    return found


def headline(document: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = only(document)["headline"]
    return found


BEFORE = coins(400, 0.6)
WORSE = [0.0 if idx % 5 == 0 else reward for idx, reward in enumerate(BEFORE)]


@pytest.fixture
def sides(tmp_path: Path) -> tuple[Path, Path]:
    return write_run(tmp_path / "a", lines(BEFORE)), write_run(tmp_path / "b", lines(WORSE))


def test_a_harm_is_worse_with_the_exact_p_value_and_its_flips(sides: tuple[Path, Path]) -> None:
    """A planted drop is found, its p-value is scipy's binomial test, and the flips are the planted samples."""
    found = compared(*sides)
    planted = {f"q{idx}" for idx, (old, new) in enumerate(zip(BEFORE, WORSE, strict=True)) if old != new}
    difference = headline(found)["difference"]
    assert headline(found)["verdict"] == "worse"
    assert difference["p_value"] == pytest.approx(scipy.stats.binomtest(0, len(planted)).pvalue, rel=1e-12)
    assert (difference["wins"], difference["losses"]) == (0, len(planted))
    assert {one["sample_id"] for one in only(found)["flips"]["shown"]} == planted
    first = only(found)["flips"]["shown"][0]
    assert (first["baseline"]["response"], first["candidate"]["response"]) == ("said 1.0", "said 0.0")


def test_a_run_against_itself_is_equivalent_within_a_margin(sides: tuple[Path, Path]) -> None:
    """No difference is no harm: equivalent where there is a margin, inconclusive without one."""
    assert headline(compared(sides[0], sides[0], margin=0.05))["verdict"] == "equivalent"
    assert headline(compared(sides[0], sides[0]))["verdict"] == "inconclusive"


def test_reordered_files_give_the_identical_result(tmp_path: Path, sides: tuple[Path, Path]) -> None:
    """Pairs are made by content: a candidate whose lines are shuffled compares as before, to the last byte."""
    rows = lines(WORSE)
    order = np.random.default_rng(1).permutation(len(rows))
    shuffled = write_run(tmp_path / "other" / "b", [rows[place] for place in order])
    assert json.dumps(compared(sides[0], shuffled)) == json.dumps(compared(*sides))


def test_repeated_rows_are_occurrences(tmp_path: Path) -> None:
    """Rows of equal content have ids with a number, and each is paired with its own occurrence."""
    digest = "0123456789abcdef"
    rows = [line(0, 1.0, sample_id=digest), line(1, 0.0, sample_id=f"{digest}#2", question="Question 0?", expected=0)]
    rows += [line(idx, 1.0) for idx in range(2, 30)]
    found = compared(write_run(tmp_path / "a", rows), write_run(tmp_path / "b", rows[::-1]))
    assert only(found)["pairs"]["n"] == 30
    assert headline(found)["difference"]["ties"] == 30


@pytest.mark.parametrize(
    ("field", "value", "part"),
    [
        ("dataset.sha256", "e" * 64, "dataset"),
        ("prompt.sha256", "e" * 64, "prompt"),
        ("num_fewshot", 5, "prompt"),
        ("scorer.rules", "e" * 64, "scorer"),
        ("judge.panel", [{"model": "x"}], "judge"),
        ("generation.temperature", 1.0, "decoding"),
    ],
)
def test_unequal_runs_are_refused_unless_told(tmp_path: Path, field: str, value: object, part: str) -> None:
    """Each field that changes what a score means is named with both values, and its part may be waved through."""
    left = write_run(tmp_path / "a", lines(BEFORE))
    right = write_run(tmp_path / "b", lines(WORSE), fields={field: value})
    with pytest.raises(UsageError) as refused:
        compared(left, right)
    assert field in str(refused.value)
    assert f"--despite {part}" in str(refused.value)
    assert only(compared(left, right, despite=(part,)))["differs"][0]["field"] == field


def test_another_model_at_another_url_is_compared(tmp_path: Path) -> None:
    """The model is what is compared: it may differ, and the page says so."""
    left = write_run(tmp_path / "a", lines(BEFORE))
    other = {"endpoint.model": "n", "endpoint.url": "http://127.0.0.1:1/v1"}
    right = write_run(tmp_path / "b", lines(WORSE, served_model="other"), fields=other)
    found = only(compared(left, right))
    assert found["differs"] == []
    assert {one["field"] for one in found["fields_differ"]} == {"endpoint.model", "endpoint.url"}
    assert found["models"] == [{"served": 400}, {"other": 400}]


def test_missing_samples_are_refused_and_counted(tmp_path: Path) -> None:
    """A candidate with part of the samples is refused; waved through, the rest is paired and the gap counted."""
    left, right = write_run(tmp_path / "a", lines(BEFORE)), write_run(tmp_path / "b", lines(WORSE[:200]))
    with pytest.raises(UsageError, match="200 samples only in the baseline"):
        compared(left, right)
    pairs = only(compared(left, right, despite=("dataset",)))["pairs"]
    assert (pairs["n"], pairs["n_only_baseline"], pairs["n_only_candidate"]) == (200, 200, 0)


def test_changed_gold_answers_are_refused(tmp_path: Path) -> None:
    """The same ids with other gold answers are other samples, whatever the digest of the dataset says."""
    left, right = write_run(tmp_path / "a", lines(BEFORE)), write_run(tmp_path / "b", lines(WORSE, expected="x"))
    with pytest.raises(UsageError, match="400 samples with other content"):
        compared(left, right)


def test_prompts_that_differ_in_bytes_are_refused(tmp_path: Path) -> None:
    """What was sent is compared sample by sample, beyond the digest in the bundle."""
    left = write_run(tmp_path / "a", lines(BEFORE))
    right = write_run(tmp_path / "b", [{**row, "prompt": row["prompt"] + "!"} for row in lines(WORSE)])
    with pytest.raises(UsageError, match="other bytes in 400 of 400"):
        compared(left, right)
    assert only(compared(left, right, despite=("prompt",)))["n_prompts_differ"] == 400


def test_a_line_that_stands_twice_is_an_error(tmp_path: Path) -> None:
    """A copied line is not a second measurement, even where its score differs."""
    rows = lines(BEFORE)
    left, right = write_run(tmp_path / "a", rows), write_run(tmp_path / "b", [*rows, {**rows[3], "reward": 0.0}])
    with pytest.raises(UsageError, match="position 3 repeat 0 stands there twice"):
        compared(left, right)


@pytest.mark.parametrize("value", ["NaN", "Infinity", '"1"', "1e999"])
def test_a_score_that_is_no_number_is_an_error(tmp_path: Path, value: str) -> None:
    left, right = write_run(tmp_path / "a", lines(BEFORE)), write_run(tmp_path / "b", lines(BEFORE))
    path = right / "quiz" / "results.jsonl"
    first, *rest = path.read_text().splitlines()
    changed = first.replace(f'"reward": {BEFORE[0]}', f'"reward": {value}')
    assert changed != first
    path.write_text("\n".join([changed, *rest]) + "\n")
    with pytest.raises((UsageError, OutputError), match=r"results\.jsonl:1"):
        compared(left, right)


def test_a_run_that_is_not_finished_is_refused(tmp_path: Path) -> None:
    """Neither a partial run nor a file that was cut off is compared."""
    left = write_run(tmp_path / "a", lines(BEFORE))
    with pytest.raises(OutputError, match="not finished"):
        compared(left, write_run(tmp_path / "b", lines(BEFORE), complete=False))
    with pytest.raises(OutputError, match="cut off or edited"):
        compared(left, write_run(tmp_path / "c", lines(BEFORE), n_total=500))


def test_unscored_samples_bound_the_difference(tmp_path: Path) -> None:
    """A gain among what was scored that the unscored samples could undo is inconclusive, and the bounds say so; an answer
    that never came has no length.
    """
    before = [0.0] * 100 + [1.0] * 100
    after: list[float | None] = [*([1.0] * 12), *([0.0] * 88), *([1.0] * 70), *([None] * 30)]
    left, right = write_run(tmp_path / "a", lines(before)), write_run(tmp_path / "b", lines(after))
    benchmark = only(compared(left, right))
    assert benchmark["moved"]["characters"] == {"baseline": len("said 1.0"), "candidate": len("said 1.0")}
    found = benchmark["headline"]
    assert found["difference"]["ci_lower"] > 0
    assert found["verdict"] == "inconclusive"
    assert found["bounds"]["lower"] == pytest.approx((12 - 30) / 200)
    assert found["bounds"]["upper"] == pytest.approx(12 / 200)
    assert "unscored" in found["reason"]


def test_clusters_widen_the_interval_and_a_changed_verdict_is_said(tmp_path: Path) -> None:
    """Samples of one passage are not independent evidence: four passages, and the difference lies in one of them."""
    before = [1.0] * 200
    after = [0.0 if 10 <= idx < 50 else 1.0 for idx in range(200)]
    grouped = [lines(rewards) for rewards in (before, after)]
    for rows in grouped:
        for row in rows:
            row["group"] = f"passage {row['problem_idx'] // 50}"
    found = headline(compared(write_run(tmp_path / "a", grouped[0]), write_run(tmp_path / "b", grouped[1])))
    assert found["difference"]["n_clusters"] == 4
    assert found["difference"]["naive_ci_upper"] < 0
    assert found["verdict"] == "inconclusive"
    assert "independent it would be worse" in found["notes"][0]


def test_repeats_are_averaged_and_their_variance_split(tmp_path: Path) -> None:
    """Two answers to a question are one pair, and the variance within questions is shown."""
    rows = [line(idx, float((idx + repeat) % 3 == 0), repeat=repeat) for idx in range(60) for repeat in range(2)]
    found = only(compared(write_run(tmp_path / "a", rows), write_run(tmp_path / "b", rows)))
    assert found["pairs"]["n"] == 60
    assert found["repeats"][0]["within"] > 0
    with pytest.raises(UsageError, match="--despite repeats"):
        compared(tmp_path / "a", write_run(tmp_path / "c", [row for row in rows if row["repeat"] == 0]))


def test_slices_are_adjusted_and_moved_categories_shown(tmp_path: Path) -> None:
    """A harm in one of two categories is found there, with Benjamini-Hochberg over both."""
    rows = [[line(i, score, category="ab"[i % 2]) for i, score in enumerate(scores)] for scores in (BEFORE, BEFORE)]
    rows[1] = [{**row, "reward": 0.0} if row["metadata"]["category"] == "a" else row for row in rows[1]]
    found = only(compared(write_run(tmp_path / "a", rows[0]), write_run(tmp_path / "b", rows[1])))
    assert {one["metric"]: one["verdict"] for one in found["slices"]} == {"a": "worse", "b": "inconclusive"}


def test_holm_covers_all_benchmarks(tmp_path: Path) -> None:
    """A p-value just below 0.05 is not a finding among five benchmarks."""
    quiet = [1.0] * 40
    moved = [0.0] * 6 + [1.0] * 34
    left = write_run(tmp_path / "a", {f"b{n}": lines(quiet) for n in range(5)})
    right = write_run(tmp_path / "b", {f"b{n}": lines(moved if n == 0 else quiet) for n in range(5)})
    first = compared(left, right)["candidates"][0]["benchmarks"][0]["headline"]
    assert first["difference"]["p_value"] == pytest.approx(0.03125)
    assert first["p_adjusted"] == pytest.approx(0.15625)
    assert (first["verdict"], "Holm" in first["reason"]) == ("inconclusive", True)


def test_results_of_nemo_evaluator_are_paired_by_content(tmp_path: Path) -> None:
    """A result folder whose rows carry prompts pairs by them, in any order, against its like and against a run."""
    left = write_nemo(tmp_path / "a", nemo_lines(BEFORE))
    rows = nemo_lines(WORSE)[::-1]
    found = only(compared(left, write_nemo(tmp_path / "b", rows)))
    assert (found["pairs"]["by"], found["pairs"]["n"], found["headline"]["verdict"]) == ("row", 400, "worse")
    ours = write_run(tmp_path / "c", lines(WORSE))
    mixed = only(compared(left, ours))
    assert (mixed["pairs"]["by"], mixed["pairs"]["n"]) == ("question", 400)
    assert "judge" in mixed["unchecked"]


def test_results_with_positions_alone_are_refused_unless_told(tmp_path: Path) -> None:
    """Rows that carry only a position are paired by it only where the user says so."""
    bare = [{"problem_idx": idx, "reward": reward} for idx, reward in enumerate(BEFORE)]
    left, right = write_nemo(tmp_path / "a", bare), write_nemo(tmp_path / "b", bare)
    with pytest.raises(UsageError, match="--despite pairing"):
        compared(left, right)
    assert only(compared(left, right, despite=("pairing",)))["pairs"]["by"] == "position"


def test_sample_files_of_lm_eval_are_paired_by_document(tmp_path: Path) -> None:
    """Sample files pair by the hash of the document; each filter is compared for itself."""
    left = write_lm_eval(tmp_path / "a", lm_eval_lines(BEFORE, filters=("strict", "flexible")))
    right = write_lm_eval(tmp_path / "b", lm_eval_lines(WORSE, filters=("strict", "flexible"))[::-1])
    found = compared(left, right)["candidates"][0]["benchmarks"]
    assert [one["benchmark"] for one in found] == ["quiz,flexible", "quiz,strict"]
    assert [one["headline"]["verdict"] for one in found] == ["worse", "worse"]
    assert found[0]["headline"]["metric"] == "exact_match"


@pytest.mark.parametrize(("gold", "target"), [(42, "42"), ("42", "42"), (["a", "b"], '["a","b"]'), (None, "")])
def test_a_sample_file_stands_against_a_run(tmp_path: Path, gold: object, target: str) -> None:
    """A run and a sample file pair by prompt and gold answer, which the file has as text, also where it is none."""
    left = write_lm_eval(tmp_path / "a", [{**row, "target": target} for row in lm_eval_lines(BEFORE)])
    right = write_run(tmp_path / "b", [{**row, "expected_answer": gold} for row in lines(WORSE)])
    found = only(compared(left, right))
    assert (found["pairs"]["by"], found["headline"]["verdict"]) == ("question", "worse")


def test_recorded_answers_are_paired_by_question(tmp_path: Path) -> None:
    """Rows that hold the answers themselves have ids that depend on them; the question pairs them nonetheless."""
    recorded = {"mode": "recorded responses"}
    sides = []
    for name, rewards in (("a", BEFORE), ("b", WORSE)):
        rows = [
            line(idx, reward, sample_id=hashlib.sha256(f"{name}{idx}".encode()).hexdigest()[:16])
            for idx, reward in enumerate(rewards)
        ]
        fields = {**recorded, "dataset.sha256": name, "prompt.sha256": name}
        sides.append(write_run(tmp_path / name, rows, fields=fields))
    found = only(compared(*sides))
    assert (found["pairs"]["by"], found["pairs"]["n"], found["headline"]["verdict"]) == ("question", 400, "worse")


def test_a_recorded_answer_that_is_missing_is_unscored_and_no_other_dataset(tmp_path: Path) -> None:
    """The row of one side whose answer is null keeps its question, so that it is paired and counted both ways."""
    sides = []
    for name, answers in (("a", ["1", "3", "4"]), ("b", ["2", None, "4"])):
        (tmp_path / name).mkdir()
        rows = (
            {"question": f"{n}?", "answer": f"#### {n}", "said": said}
            for n, said in zip((2, 3, 4), answers, strict=True)
        )
        sides.append(recorded_run(tmp_path / name, rows, "-O", "engine.unscored_rate_max=0.5"))
    pairs = only(compared(*sides))["pairs"]
    assert (pairs["by"], pairs["n"], pairs["n_not_scored"]) == ("question", 3, 1)


@pytest.mark.parametrize("name", ["nowhere", "empty"])
def test_what_is_no_result_is_refused(tmp_path: Path, name: str) -> None:
    """A missing path and an empty directory are named, with what could stand there."""
    left = write_run(tmp_path / "a", lines(BEFORE))
    (tmp_path / "empty").mkdir()
    with pytest.raises(OutputError, match=name):
        compared(left, tmp_path / name)


def test_the_fields_of_a_run_have_known_parts() -> None:
    """Every field that a run's identity has is compared or is what is compared: the model and its URL."""
    assert [name for name in FIELDS if part_of(name) is None] == ["endpoint.model"]


@pytest.mark.parametrize(
    "changes",
    [
        {"metadata": [1]},
        {"outcome": None},
        {"scoring_details": {"metrics": {"correct": "yes"}}},
        {"problem_idx": 2**70},
        {"repeat": None},
    ],
)
def test_a_damaged_line_is_named(tmp_path: Path, changes: dict[str, object]) -> None:
    """A line of another shape is an error with its place, never a traceback and never a guess."""
    left = write_run(tmp_path / "a", lines(BEFORE))
    right = write_run(tmp_path / "b", [{**lines(BEFORE)[0], **changes}, *lines(BEFORE)[1:]])
    with pytest.raises((OutputError, UsageError), match=r"results\.jsonl:1"):
        compared(left, right)


@pytest.mark.parametrize("name", ["metrics.json", "eval-quiz.json"])
@pytest.mark.parametrize("content", ["{}", "[]", "{", '{"complete": true, "config": 1}', ""])
def test_a_damaged_file_is_named(tmp_path: Path, name: str, content: str) -> None:
    """Files beside the results that do not hold what they should are an error too."""
    left, right = write_run(tmp_path / "a", lines(BEFORE)), write_run(tmp_path / "b", lines(BEFORE))
    (right / "quiz" / name).write_text(content)
    with pytest.raises(OutputError, match=r"quiz|/b "):
        compared(left, right)
