"""MBPP's rows in both shapes, judged in the real sandbox."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from nel_code.mbpp import entry_point, mbpp, with_tests

from nel import NelError, ScorerInput, plugins
from nel.conformance import check_plugin, shape_error
from nel.sandbox import Sandbox

SANITIZED = {
    "task_id": 1,
    "prompt": "Write a function to return the distinct numbers of a list as a set.",
    "code": "def distinct(xs):\n    return set(xs)",
    "test_imports": ["import math"],
    "test_list": ["assert set(distinct([1, 1, 2])) == {1, 2}", "assert math.isclose(sum(distinct([1, 1])), 1)"],
}
FULL = {
    "task_id": 2,
    "text": "Write a function to build the mirror of a binary tree.",
    "code": "class Node:\n    def __init__(self, data):\n        self.data, self.left, self.right = data, None, None\n"
    "def mirror(node):\n    if node:\n        node.left, node.right = mirror(node.right), mirror(node.left)\n"
    "    return node",
    "test_setup_code": "",
    "test_list": [
        "root = Node(1)\nroot.left = Node(2)\nassert mirror(root).right.data == 2",
        "assert mirror(None) is None",
    ],
    "challenge_test_list": [],
}
RAISES = {
    "task_id": 3,
    "prompt": "Write a function to take the square root, and to refuse negative numbers with ValueError.",
    "code": "def root(x):\n    if x < 0:\n        raise ValueError('negative')\n    return x ** 0.5",
    "test_imports": [],
    "test_list": [
        "assert abs(root(2) - 1.41421356) < 1e-6",
        "try:\n    root(-1)\n    assert False\nexcept ValueError:\n    pass",
    ],
}
APPLIES = {
    "task_id": 4,
    "prompt": "Write a function to apply a function to each item of a list in place.",
    "code": "def apply(f, xs):\n    xs[:] = [f(x) for x in xs]",
    "test_imports": [],
    "test_list": ["xs = [1, 2]\napply(lambda x: x + 1, xs)\nassert xs == [2, 3]"],
}
ROWS = (SANITIZED, FULL, RAISES, APPLIES)


def need_engine() -> None:
    try:
        Sandbox().check()
    except NelError as error:
        if os.environ.get("NEL_REQUIRE_DOCKER"):
            pytest.fail(f"Docker is required here: {error}")
        pytest.skip(f"no sandbox: {error}")


def judged(row: dict[str, Any], answer: str) -> Any:
    prepared = with_tests(dict(row))
    return mbpp.scorer(ScorerInput(response=answer, target=prepared["entry_point"], metadata=prepared))


def test_conformance() -> None:
    need_engine()
    for name in ("mbpp", "mbpp_full", "code_problems", "code_problems_all"):
        (ref,) = [ref for ref in plugins.discover("benchmarks") if ref.name == name]
        assert plugins.describe(ref, shape_error).error is None
    # Those of the hub need the hub; this one has its rows with it.
    assert [finding for finding in check_plugin("code_problems") if not finding.passed] == []


def test_the_function_under_test_is_the_one_the_asserts_call() -> None:
    assert [with_tests(dict(row))["entry_point"] for row in ROWS] == ["distinct", "mirror", "root", "apply"]
    assert entry_point("def sum(a, b): return a + b", "assert sum(1, 2) == 3") == "sum"
    with pytest.raises(ValueError, match="call nothing"):
        entry_point("def f(): ...", "assert 1 == 1")
    with pytest.raises(ValueError, match="do not parse"):
        entry_point("def f(:", "assert f()")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row["task_id"]))
def test_reference_solutions_pass_and_others_do_not(row: dict[str, Any]) -> None:
    need_engine()
    right = judged(row, f"Sure:\n```python\n{row['code']}\n```")
    assert right["correct"], right
    assert right["mode"] == ("same_process" if row is APPLIES else "split")
    name = with_tests(dict(row))["entry_point"]
    for body in ("pass", "import os; os._exit(0)", "raise SystemExit(0)"):
        assert not judged(row, f"```python\ndef {name}(*args):\n    {body}\n```")["correct"]


def test_a_run_over_recorded_answers(tmp_path: Path) -> None:
    need_engine()
    lines = [json.dumps({**row, "answer": f"```python\n{row['code']}\n```"}) for row in ROWS[:3]]
    lines.append(json.dumps({**APPLIES, "answer": "def apply(f, xs): return xs"}))
    (tmp_path / "rows.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    command = ["eval", "run", "--bench", "mbpp", "--dataset", "rows.jsonl", "--response-field", "answer", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "nel", *command], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    (bundle,) = tmp_path.glob("eval_results/*/mbpp/eval-mbpp.json")
    scores = json.loads(bundle.read_text(encoding="utf-8"))["benchmark"]["scores"]
    assert scores["pass@1"]["value"] == 0.75
