"""Every problem has solutions that pass in each language, and cheap ones do not."""

from __future__ import annotations

import os

import pytest
from nel_code.problems import BUILT_FROM_DEBIAN, code_problems, problems, rows, solutions

from nel import NelError, ScorerInput
from nel.sandbox import Sandbox

SOLUTIONS = solutions()
ROWS = {row["id"]: row for row in rows(BUILT_FROM_DEBIAN)()}


def need_language(language: str) -> None:
    try:
        Sandbox().check([language])
    except NelError as error:
        if os.environ.get("NEL_REQUIRE_DOCKER"):
            pytest.fail(f"Docker is required here: {error}")
        pytest.skip(f"no sandbox: {error}")


def test_each_problem_has_cases_and_solutions() -> None:
    names = [problem["name"] for problem in problems()]
    assert len(names) == len(set(names)) == 10
    assert set(SOLUTIONS) == set(names)
    assert all(len(problem["cases"]) >= 5 for problem in problems())
    assert all(set(BUILT_FROM_DEBIAN) == set(by_language) for by_language in SOLUTIONS.values())


@pytest.mark.parametrize("language", BUILT_FROM_DEBIAN)
def test_reference_solutions_pass_and_no_answer_fits_all(language: str) -> None:
    need_language(language)
    nothing = {"python": "pass", "javascript": ";", "cpp": "int main() {}", "bash": ":"}[language]
    failed = {}
    for name, by_language in SOLUTIONS.items():
        row = ROWS[f"{name}/{language}"]
        for code, is_right in ((by_language[language], True), (nothing, False)):
            given = ScorerInput(response=f"```{language}\n{code}\n```", target=language, metadata=dict(row))
            found = code_problems.scorer(given)
            if found["correct"] is not is_right or found["mode"] != "stdio":
                failed[row["id"]] = found
    assert failed == {}
