"""Small problems, each asked in several languages and judged by inputs and outputs."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Sequence
from importlib.resources import files
from typing import Any

from nel import ScorerInput, benchmark, code_sandbox, scorer

BUILT_FROM_DEBIAN = ("python", "javascript", "cpp", "bash")
ALL = (*BUILT_FROM_DEBIAN, "go", "rust", "java")
TITLES = {
    "python": "Python 3",
    "javascript": "JavaScript (Node.js, CommonJS)",
    "cpp": "C++17",
    "bash": "Bash",
    "go": "Go",
    "rust": "Rust",
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
    """Return the problems: ``name``, ``task``, ``compare`` and ``cases``."""
    found: list[dict[str, Any]] = _read("problems.toml")["problem"]
    return found


def solutions() -> dict[str, dict[str, str]]:
    """Return reference solutions by problem and language; Go, Rust and Java have none."""
    return _read("solutions.toml")


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads(files("nel_code").joinpath(name).read_text(encoding="utf-8"))


def rows(languages: Sequence[str]) -> Callable[[], Iterator[dict[str, Any]]]:
    """Return a source of one row for each problem and language."""

    def source() -> Iterator[dict[str, Any]]:
        known = solutions()
        for problem in problems():
            first = problem["cases"][0]
            for language in languages:
                yield {
                    "id": f"{problem['name']}/{language}",
                    "language": language,
                    "title": TITLES[language],
                    "task": problem["task"].strip(),
                    "example_input": first["stdin"].strip("\n"),
                    "example_output": first["expected_output"].strip("\n"),
                    "compare": problem.get("compare", "lines"),
                    "solution": known[problem["name"]].get(language, "(no reference)").strip(),
                    "_cases": problem["cases"],
                }

    return source


def _problems(name: str, description: str, languages: Sequence[str]) -> Any:
    @benchmark(
        name=name,
        description=description,
        dataset=rows(languages),
        prompt=PROMPT,
        id_field="id",
        target_field="solution",
        category_field="language",
        sandbox=languages,
        reducers=("pass_at_k",),
    )
    @scorer
    def judged_by_outputs(sample: ScorerInput) -> dict[str, Any]:
        """Run the program on every input; all outputs must be right."""
        found: dict[str, Any] = code_sandbox(sample, compare=sample.metadata["compare"])
        return found

    return judged_by_outputs


code_problems = _problems("code_problems", "Ten problems in Python, JavaScript, C++ and Bash", BUILT_FROM_DEBIAN)
code_problems_all = _problems("code_problems_all", "Ten problems in seven languages", ALL)
