"""Every problem has solutions that pass in each language, and programs that are nearly right, or cheap, do not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from nel_code.problems import (
    ALL,
    COMMON,
    code_problems,
    code_problems_all,
    problems,
    rows,
    solutions,
)

from nel import ScorerInput
from nel.discovery.conformance import check_plugin
from nel.sandbox import Sandbox

ROWS = {row["id"]: row for row in rows(ALL)}
NAMES = [problem["name"] for problem in problems()]
ENDS_EARLY = {
    "python": "raise SystemExit(0)\n",
    "javascript": "process.exit(0);\n",
    "cpp": "#include <cstdlib>\nstatic int early = (std::exit(0), 0);\n",
    "bash": "exit 0\n",
}
PRINTS_NOTHING = {"python": "pass", "javascript": ";", "cpp": "int main() {}", "bash": ":"}
PRINTS = {
    "python": "print('''{}''')",
    "javascript": "console.log(`{}`);",
    "cpp": '#include <cstdio>\nint main() {{ std::puts(R"({})"); }}',
    "bash": "cat << 'END'\n{}\nEND",
}
OFF_BY_A_LITTLE = {
    "sum_lines": ("range(n)", "range(n - 1)"),
    "reverse_words": ("print(*reversed(input().split()))", "print(input()[::-1])"),
    "count_vowels": ("aeiouAEIOU", "aeiou"),
    "fizz": (") + 1)", "))"),
    "brackets": ("return not open_ones", "return True"),
    "gcd": ("print(math.gcd(*map(int, input().split())))", "print(min(map(int, input().split())))"),
    "most_frequent": ("(-counts[word], word)", "-counts[word]"),
    "run_lengths": ("len(list(run))", "len(list(run)) % 10"),
    "mean": (":.9f", ":.2f"),
    "primes": ("int(i**0.5) + 1", "int(i**0.5)"),
    "covered": ("max(end, b)", "b"),
    "islands": (", (y, x - 1)", ""),
    "steps": ("0, 0, 1", "0, 1, 1"),
    "route": ("points[1:]", "points[2:]"),
}


def judged(sandbox: Sandbox, row: dict[str, Any], code: str) -> Any:
    answer = f"A program:\n```{row['language']}\n{code}\n```"
    given = ScorerInput(
        response=answer, target=row["solution"], metadata=dict(row), sandbox=sandbox
    )
    return code_problems_all.scorer(given)


def test_each_problem_is_well_made() -> None:
    assert len(NAMES) == len(set(NAMES)) >= 12
    for language in ALL:
        assert sorted(solutions(language)) == sorted(NAMES)
    for problem in problems():
        inputs = [case["stdin"] for case in problem["cases"]]
        assert len(inputs) == len(set(inputs)) >= 5, problem["name"]
        answers = Counter(case["expected_output"] for case in problem["cases"])
        assert answers.total() / max(answers.values()) >= 1.5, (
            f"{problem['name']}: one answer fits most cases"
        )


@pytest.mark.docker
@pytest.mark.parametrize("language", ALL)
def test_reference_solutions_pass(language: str, sandbox_of: Callable[..., Sandbox]) -> None:
    sandbox = sandbox_of(language)
    found = {
        name: judged(sandbox, ROWS[f"{name}/{language}"], solutions(language)[name])
        for name in NAMES
    }
    assert {name: one for name, one in found.items() if not one["correct"]} == {}
    assert {one["mode"] for one in found.values()} == {"outside"}


@pytest.mark.docker
@pytest.mark.parametrize("name", NAMES)
def test_a_nearly_right_program_fails(name: str, sandbox: Sandbox) -> None:
    right, wrong = OFF_BY_A_LITTLE[name]
    code = solutions("python")[name]
    assert code.count(right) == 1
    assert judged(sandbox, ROWS[f"{name}/python"], code.replace(right, wrong))["verdict"] == "wrong"


@pytest.mark.docker
@pytest.mark.parametrize("language", COMMON)
def test_cheap_programs_fail(language: str, sandbox_of: Callable[..., Sandbox]) -> None:
    sandbox = sandbox_of(language)
    found = {}
    for name in NAMES if language == "python" else ("brackets", "fizz"):
        row = ROWS[f"{name}/{language}"]
        example = PRINTS[language].format(row["example_output"])
        for code in (PRINTS_NOTHING[language], ENDS_EARLY[language] + row["solution"], example):
            found[name, code] = judged(sandbox, row, code)["verdict"]
    assert {key: verdict for key, verdict in found.items() if verdict != "wrong"} == {}


def test_the_prompt_names_the_language_and_shows_one_case() -> None:
    row = ROWS["mean/cpp"]
    text = code_problems.sample(row, sample_id="1").input
    assert isinstance(text, str)
    assert text.startswith("Write a program in C++17.")
    assert "```\n4\n1 2 3 4\n```\n\nit prints\n\n```\n2.50000000\n```" in text
    assert "1.3333" not in text


@pytest.mark.docker
@pytest.mark.parametrize(
    ("name", "languages"), [("code_problems", COMMON), ("code_problems_all", ALL)]
)
def test_conformance(
    name: str, languages: tuple[str, ...], sandbox_of: Callable[..., Sandbox]
) -> None:
    sandbox_of(*languages)
    assert [
        finding for finding in check_plugin(name, samples_max=len(languages)) if not finding.passed
    ] == []
