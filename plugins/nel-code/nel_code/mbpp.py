"""MBPP: mostly basic Python problems (Austin et al. 2021, arXiv 2108.07732).

The prompt is the paper's, as lm-evaluation-harness has it: the task and its three asserts, here for
one chat turn and without examples. Rows of the sanitized set (``prompt``, ``test_imports``) and of
the full one (``text``, ``test_setup_code``) are both understood; ``challenge_test_list`` is not
used. Some asserts rely on an import of the reference solution; it goes in front of them, since an
answer may do without.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from typing import Any

from nel import Benchmark, ScorerInput, benchmark, code_sandbox, scorer
from nel.byob import Card

REVISION = "4bb6404fdc6cacfda99d4ac4205087b89d32030c"
PROMPT = """You are an expert Python programmer, and here is your task: {task} Your code should pass these tests:

{shown_tests}

Answer with the whole program in one Python code block."""


def with_tests(row: dict[str, Any]) -> dict[str, Any]:
    """Return the row with ``task``, ``shown_tests``, ``_test`` and ``entry_point``, the function
    that the asserts call.

    Raises:
        KeyError: The row has no tests, no task or no reference code.
        ValueError: A text is not Python, or the asserts use nothing that the reference code
            defines.
    """
    asserts = "\n".join(row["test_list"])
    imports = row.get("test_imports") or []
    import_lines = [imports] if isinstance(imports, str) else imports
    tests = "\n".join([*import_lines, row.get("test_setup_code") or "", asserts]).strip()
    reference = _parse(row["code"], "its code")
    return {
        **row,
        "task": str(row["prompt"] if "prompt" in row else row["text"]).strip(),
        "shown_tests": asserts,
        "_test": "\n".join([*_missing_imports(reference, _parse(tests, "its tests")), tests]),
        "entry_point": _entry_point(reference, _parse(asserts, "its tests")),
    }


def _parse(text: str, what: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            # Some references have patterns such as "\d" in a plain text.
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except SyntaxError as error:
        raise ValueError(f"{what} cannot be parsed: {error}") from error


def _entry_point(reference: ast.Module, asserts: ast.Module) -> str:
    """Return what the asserts use first of the reference: a function, else a class."""
    functions: set[str] = set()
    classes: set[str] = set()
    for node in reference.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            functions.add(node.name)
        elif isinstance(node, ast.ClassDef):
            classes.add(node.name)
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
            functions.update(target.id for target in node.targets if isinstance(target, ast.Name))
    uses = sorted((node.lineno, node.col_offset, node.id) for node in _names_read(asserts))
    for defined in (functions, classes):
        for _, _, name in uses:
            if name in defined:
                return name
    raise ValueError("its tests use nothing that its code defines")


def _missing_imports(reference: ast.Module, tests: ast.Module) -> list[str]:
    """Return the imports of the reference that the tests use and do not have."""
    brought = {name for node in ast.walk(tests) for _, name in _imports(node)}
    needed = {node.id for node in _names_read(tests)} - brought
    return [
        statement for node in reference.body for statement, name in _imports(node) if name in needed
    ]


def _imports(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield each import of a statement, as a statement of its own, and the name it binds."""
    if not isinstance(node, (ast.Import, ast.ImportFrom)):
        return
    for alias in node.names:
        line = (
            ast.Import([alias])
            if isinstance(node, ast.Import)
            else ast.ImportFrom(node.module, [alias], node.level)
        )
        yield ast.unparse(line), alias.asname or alias.name.split(".")[0]


def _names_read(tree: ast.Module) -> Iterator[ast.Name]:
    return (
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    )


@scorer
def judged_by_asserts(sample: ScorerInput) -> dict[str, Any]:
    """Run the asserts against the function, each in a process of its own."""
    result: dict[str, Any] = code_sandbox(sample)
    return result


def _mbpp(name: str, description: str, config: str) -> Benchmark:
    return benchmark(
        name=name,
        description=description,
        dataset=(
            f"hf://google-research-datasets/mbpp?config={config}&split=test&revision={REVISION}"
        ),
        prompt=PROMPT,
        id_field="task_id",
        target_field="code",
        prepare_row=with_tests,
        sandbox="python",
        reducers=("pass_at_k",),
        card=Card(
            paper="Program Synthesis with Large Language Models, arXiv 2108.07732",
            licence="CC-BY-4.0",
            citation="Austin et al., 2021",
            metric="accuracy",
            homepage="https://huggingface.co/datasets/google-research-datasets/mbpp",
            revision=REVISION,
            languages=("en",),
        ),
    )(judged_by_asserts)


mbpp = _mbpp("mbpp", "MBPP (sanitized), 257 Python functions judged by asserts", "sanitized")
mbpp_full = _mbpp("mbpp_full", "MBPP (full), 500 Python functions judged by asserts", "full")
