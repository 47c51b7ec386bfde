"""MBPP's rows in both shapes, judged in the real sandbox: right programs pass, wrong ones and cheats do not."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from nel_code.mbpp import mbpp, mbpp_full, with_tests

from nel import ScorerInput
from nel.discovery.conformance import check_plugin
from nel.sandbox import Sandbox

CASES: dict[str, dict[str, Any]] = {
    case["name"]: {**case, "row": {"task_id": number, **case["row"]}}
    for number, case in enumerate(
        tomllib.loads(Path(__file__).with_name("mbpp_rows.toml").read_text(encoding="utf-8"))[
            "case"
        ],
        11,
    )
}
ROWS = {name: case["row"] for name, case in CASES.items()}
ENTRY_POINTS = """
    shared ring_area ratio extremes Move_Zeros root take spans_around leaves count_type twice bytes_of round
    ends_with_digit repeated
"""


def judged(sandbox: Sandbox, row: dict[str, Any], code: str) -> Any:
    answer = f"Sure:\n```python\n{code}\n```\nIt passes the tests."
    given = ScorerInput(
        response=answer, target=row["code"], metadata=mbpp.prepared_fields(row), sandbox=sandbox
    )
    return mbpp.scorer(given)


def wrong_code(case: dict[str, Any]) -> str:
    assert case["row"]["code"].count(case["right"]) == 1
    return str(case["row"]["code"].replace(case["right"], case["wrong"]))


def entry_point(code: str, *asserts: str) -> Any:
    return with_tests({"prompt": "Write a function.", "code": code, "test_list": list(asserts)})[
        "entry_point"
    ]


@pytest.mark.docker
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_reference_passes_in_its_mode_and_a_changed_one_does_not(
    case: dict[str, Any], sandbox: Sandbox
) -> None:
    found = judged(sandbox, case["row"], case["row"]["code"])
    assert (found["verdict"], found["mode"]) == ("passed", case["mode"]), found
    found = judged(sandbox, case["row"], wrong_code(case))
    assert found["verdict"] in {"wrong", "runtime_error"}, found
    assert found["mode"] == case["mode"]


@pytest.mark.docker
@pytest.mark.parametrize(
    "body", ["pass", "import os; os._exit(0)", "raise SystemExit(0)", "raise AssertionError"]
)
def test_no_cheat_passes(body: str, sandbox: Sandbox) -> None:
    passed = []
    for name, row in ROWS.items():
        cheat = f"{row['code']}\ndef {with_tests(row)['entry_point']}(*args):\n    {body}"
        if judged(sandbox, row, cheat)["correct"]:
            passed.append(name)
    assert passed == []


@pytest.mark.docker
def test_an_answer_does_not_choose_its_mode(sandbox: Sandbox) -> None:
    code = "import unittest.mock\nclass Test(unittest.TestCase): pass\ndef shared(a, b):\n    return [int, Test]"
    found = judged(sandbox, ROWS["a set"], code)
    assert (found["verdict"], found["mode"]) == ("wrong", "split")


def test_the_prompt_shows_the_task_and_the_asserts() -> None:
    for benchmark, name in ((mbpp, "floats"), (mbpp_full, "a type as argument, as in 533")):
        row = ROWS[name]
        text = benchmark.sample(row, sample_id="1").input
        assert isinstance(text, str)
        task = row.get("prompt") or row["text"]
        assert f"here is your task: {task} Your code should pass these tests:\n\n" in text
        assert "\n".join(row["test_list"]) in text
        assert row["code"] not in text


def test_the_function_under_test_is_what_the_asserts_use_first() -> None:
    assert [with_tests(row)["entry_point"] for row in ROWS.values()] == ENTRY_POINTS.split()
    assert (
        entry_point("def helper(x): ...\ndef area(r): ...", "assert set(area(helper(2))) == {1}")
        == "area"
    )
    assert entry_point("class Pile: ...\ndef helper(x): ...", "assert Pile().size() == 0") == "Pile"
    assert (
        entry_point("double = lambda x: 2 * x", "assert list(map(double, [1])) == [2]") == "double"
    )
    assert entry_point("def f(): ...", "import math", "assert math.isclose(f()[0], 1.0)") == "f"


@pytest.mark.parametrize(
    ("code", "asserts", "message"),
    [
        ("def f(): ...", "assert 1 == 1", "use nothing that its code defines"),
        ("def f(:", "assert f()", "its code cannot be parsed"),
        ("def f(): ...", "assert f(", "its tests cannot be parsed"),
    ],
)
def test_a_row_that_cannot_be_judged_is_refused(code: str, asserts: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        entry_point(code, asserts)


def test_imports_of_the_reference_come_along_only_where_the_asserts_need_them() -> None:
    tests = {name: with_tests(row)["_test"] for name, row in ROWS.items()}
    assert tests["an import of the reference in the asserts, as in 596"].startswith(
        "import sys as system\nassert"
    )
    assert tests["floats"].count("import math") == 1
    assert tests["a pattern without a raw string"].startswith("assert")


@pytest.mark.docker
@pytest.mark.usefixtures("sandbox")
def test_conformance(tmp_path: Path) -> None:
    write_rows(tmp_path, list(ROWS.values()))
    for name in ("mbpp", "mbpp_full"):
        findings = check_plugin(name, dataset=str(tmp_path / "rows.jsonl"))
        assert [finding for finding in findings if not finding.passed] == []


@pytest.mark.docker
@pytest.mark.usefixtures("sandbox")
def test_a_run_over_recorded_answers(tmp_path: Path) -> None:
    rows = [{**row, "answer": f"```python\n{row['code']}\n```"} for row in ROWS.values()]
    for row, case in zip(rows[:3], CASES.values(), strict=False):
        row["answer"] = wrong_code(case)
    rows[3]["answer"] = "I would rather not."
    rows[4]["answer"] = "```python\ndef Move_Zeros(numbers:\n```"
    done = run(tmp_path, rows)
    assert done.returncode == 0, done.stderr
    (bundle,) = tmp_path.glob("eval_results/*/mbpp/eval-mbpp.json")
    scores = json.loads(bundle.read_text(encoding="utf-8"))["benchmark"]["scores"]
    assert scores["pass@1"]["value"] == pytest.approx(10 / 15)
    found = json.loads((bundle.parent / "failure_analysis.json").read_text(encoding="utf-8"))[
        "categories"
    ]
    counts = {name: category["count"] for name, category in found.items()}
    assert counts == {"wrong_answer": 3, "format_error": 1, "syntax_error": 1}


@pytest.mark.docker
@pytest.mark.usefixtures("sandbox")
def test_a_run_that_cannot_judge_a_row_says_so(tmp_path: Path) -> None:
    row = {**ROWS["a set"], "answer": ROWS["a set"]["code"]}
    done = run(tmp_path, [row, {**row, "task_id": 1, "test_list": ["assert 1 == 1"]}])
    assert done.returncode == 3, done.stderr
    assert "1 of 2 unscored by bad_row" in done.stderr


def write_rows(folder: Path, rows: list[dict[str, Any]]) -> None:
    (folder / "rows.jsonl").write_text(
        "".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8"
    )


def run(folder: Path, rows: list[dict[str, Any]]) -> subprocess.CompletedProcess[str]:
    write_rows(folder, rows)
    options = ["--bench", "mbpp", "--dataset", "rows.jsonl", "--response-field", "answer"]
    return subprocess.run(
        [sys.executable, "-m", "nel", "eval", "run", *options],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
