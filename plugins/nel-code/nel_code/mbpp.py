"""MBPP: mostly basic Python problems (Austin et al. 2021, arXiv 2108.07732).

The prompt is the paper's: the task and its three asserts, here for one chat turn and without examples. The rows of the
sanitized set (``prompt``, ``test_imports``) and of the full one (``text``, ``test_setup_code``) are both understood.
"""

from __future__ import annotations

import ast
from typing import Any

from nel import ScorerInput, benchmark, code_sandbox, scorer

PROMPT = """You are an expert Python programmer. {task}

Your code should pass these tests:

```python
{shown_tests}
```

Answer with one Python code block."""


def with_tests(row: dict[str, Any]) -> dict[str, Any]:
    """Return the row with ``task``, ``_test`` and ``entry_point``, the function that the asserts call.

    Raises:
        KeyError: The row has no tests, no task or no reference code.
        ValueError: The asserts call nothing that the reference code defines.
    """
    imports = row.get("test_imports") or row.get("test_setup_code") or []
    before = imports if isinstance(imports, str) else "\n".join(imports)
    asserts = "\n".join(row["test_list"])
    return {
        **row,
        "task": str(row["prompt"] if "prompt" in row else row["text"]).strip(),
        "shown_tests": asserts,
        "_test": f"{before}\n{asserts}".strip(),
        "entry_point": entry_point(row["code"], asserts),
    }


def entry_point(code: str, asserts: str) -> str:
    """Return the function of the reference code that the asserts call; the one called first, where there are several.

    Raises:
        ValueError: There is none, or one of the texts is not Python.

    >>> entry_point("def helper(x): ...\\ndef area(r): ...", "assert set(area(2)) == {1}")
    'area'
    """
    try:
        defined = {node.name for node in ast.parse(code).body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
        calls = [node.func for node in ast.walk(ast.parse(asserts)) if isinstance(node, ast.Call)]
    except SyntaxError as error:
        raise ValueError(f"its code or its tests do not parse: {error}") from error
    named = [call for call in calls if isinstance(call, ast.Name) and call.id in defined]
    functions = [call for call in named if call.id[:1].islower() or call.id[:1] == "_"] or named
    if not functions:
        raise ValueError("its tests call nothing that its code defines")
    return min(functions, key=lambda call: (call.lineno, call.col_offset)).id


def _mbpp(name: str, description: str, dataset: str) -> Any:
    @benchmark(
        name=name,
        description=description,
        dataset=dataset,
        prompt=PROMPT,
        id_field="task_id",
        target_field="code",
        prepare_row=with_tests,
        sandbox="python",
        reducers=("pass_at_k",),
    )
    @scorer
    def judged_by_asserts(sample: ScorerInput) -> dict[str, Any]:
        """Run the asserts against the function, each in a process of its own."""
        found: dict[str, Any] = code_sandbox(sample)
        return found

    return judged_by_asserts


_HUB = "hf://google-research-datasets/mbpp"
mbpp = _mbpp("mbpp", "MBPP (sanitized), Python functions judged by asserts", f"{_HUB}?config=sanitized&split=test")
mbpp_full = _mbpp("mbpp_full", "MBPP (full), 500 Python functions judged by asserts", f"{_HUB}?config=full&split=test")
