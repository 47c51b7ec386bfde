"""Small problems, each asked in several languages and judged by inputs and outputs.

The problems are in ``problems.toml``, the reference solutions in ``solutions/LANGUAGE.toml``. A
benchmark needs the images of all its languages before its first request, so the four that one base
image serves are one of their own.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Sequence
from importlib.resources import files
from typing import Any

from nel import Benchmark, ScorerInput, benchmark, code_sandbox, scorer

COMMON = ("python", "javascript", "cpp", "bash")
ALL = (*COMMON, "go", "rust", "java")
TITLES = {
    "python": "Python 3",
    "javascript": "JavaScript (Node.js, CommonJS)",
    "cpp": "C++17",
    "bash": "Bash",
    "go": "Go",
    "rust": "Rust (edition 2021)",
    "java": "Java",
}
PROMPT = """Write a program in {title}. It reads standard input and writes standard output.

{task}

For example, for the input

```
{example_input}
```

it prints

```
{example_output}
```

Answer with the whole program in one code block."""


def problems() -> list[dict[str, Any]]:
    """Return the problems: ``name``, ``task``, ``cases`` and, where it is not by lines, how to
    ``compare``.
    """
    rows: list[dict[str, Any]] = _read_toml("problems.toml")["problem"]
    return rows


def solutions(language: str) -> dict[str, str]:
    """Return the reference solutions in a language, by problem."""
    return {
        name: code.strip() for name, code in _read_toml("solutions", f"{language}.toml").items()
    }


def _read_toml(*path: str) -> dict[str, Any]:
    return tomllib.loads(files("nel_code").joinpath(*path).read_text(encoding="utf-8"))


def rows(languages: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield a row for each problem in each language."""
    references = {language: solutions(language) for language in languages}
    for problem in problems():
        example = problem["cases"][0]
        for language in languages:
            yield {
                "id": f"{problem['name']}/{language}",
                "language": language,
                "title": TITLES[language],
                "task": " ".join(problem["task"].split()),
                "example_input": example["stdin"].rstrip("\n"),
                "example_output": example["expected_output"],
                "compare": problem.get("compare", "lines"),
                "solution": references[language][problem["name"]],
                "_cases": problem["cases"],
            }


def common_rows() -> Iterator[dict[str, Any]]:
    """Yield the problems in the four common languages."""
    return rows(COMMON)


def all_rows() -> Iterator[dict[str, Any]]:
    """Yield the problems in all languages."""
    return rows(ALL)


@scorer
def judged_by_outputs(sample: ScorerInput) -> dict[str, Any]:
    """Run the program on every input; all outputs must be right."""
    result: dict[str, Any] = code_sandbox(sample, compare=sample.metadata["compare"])
    return result


def _problems(
    name: str,
    description: str,
    languages: Sequence[str],
    dataset: Callable[[], Iterator[dict[str, Any]]],
) -> Benchmark:
    return benchmark(
        name=name,
        description=description,
        dataset=dataset,
        prompt=PROMPT,
        id_field="id",
        target_field="solution",
        category_field="language",
        sandbox=languages,
        reducers=("pass_at_k",),
    )(judged_by_outputs)


code_problems = _problems(
    "code_problems", "Small problems in Python, JavaScript, C++ and Bash", COMMON, common_rows
)
code_problems_all = _problems(
    "code_problems_all", "Small problems, in Go, Rust and Java as well", ALL, all_rows
)
