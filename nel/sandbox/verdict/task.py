"""What a task's own text says of its tests: which names are theirs, and which mode judges them.

Pure functions of tests, prompt and entry point. No program has a say in any of it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any, Final

from nel.reading.programs.python_trees import parse_python
from nel.sandbox.verdict.agent.standard import CLASSES
from nel.sandbox.verdict.modes import needs_shared
from nel.sandbox.verdict.names import (
    answer_names,
    called_names,
    root_of,
    supplied_names,
    unbound_names,
)

_PLAIN_ATTRIBUTES: Final = frozenset(
    name
    for kind in CLASSES.values()
    if isinstance(kind, type) and not issubclass(kind, Exception)
    for name in dir(kind)
)
_CLASS_NAME: Final = re.compile(r"_*[A-Z][^_]*")
_ENDS: Final = ("SystemExit", "exit", "quit", "sys.exit", "os._exit")


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What tests, prompt and entry point say."""

    tests: str
    prompt: str
    entry_point: str
    supplied: Mapping[str, str] = field(default_factory=dict)
    """Names that tests use without defining them: ``module`` or ``module:name``."""
    program_names: tuple[str, ...] = ()
    """Names that the program has to give."""
    asks_objects: bool = False
    """Whether objects of the program are asked whether they equal a plain value."""
    prompt_classes: tuple[str, ...] = ()
    """Classes that the prompt defines, of which the program is likely to have its own."""
    stubs: tuple[str, ...] = ()
    """Functions and classes that the prompt only outlines."""
    shared: str = ""
    """Why the tests have to share the program's process; empty where they do not."""
    fault: str = ""
    """Why the tests are of no use."""

    def payload(self) -> dict[str, Any]:
        """Return what the process of the tests is given."""
        return asdict(self)


@lru_cache(maxsize=1024)
def read_task(tests: str, prompt: str = "", entry_point: str = "") -> Task:
    """Return what the text of a task says."""
    tree = _parse(tests)
    if tree is None:  # the interpreter of the container has the last word
        return Task(tests=tests, prompt=prompt, entry_point=entry_point)
    helpers, stubs, prompt_classes = _prompt_names(prompt, entry_point)
    unbound = unbound_names(tests) - {entry_point}
    supplied = supplied_names(tree, unbound - helpers, prompt, entry_point)
    program_names = unbound.difference(supplied)
    if entry_point:
        program_names.add(entry_point)
    others = program_names - helpers - {entry_point}
    # As `check(candidate)` calls it.
    program = (program_names - helpers) | {entry_point or "candidate", "candidate"}
    nodes = list(ast.walk(tree))
    answers = answer_names(nodes, program)
    is_about_objects = _is_about_classes(nodes, program_names, prompt)
    reason = needs_shared(tests, tree, program, prompt_classes)
    fault = _undefined_function(tree, others, prompt, entry_point)
    return Task(
        tests=tests,
        prompt=prompt,
        entry_point=entry_point,
        supplied=supplied,
        program_names=tuple(sorted(program_names)),
        asks_objects=is_about_objects or _uses_attributes(nodes, answers),
        prompt_classes=tuple(sorted(prompt_classes)),
        stubs=tuple(sorted(stubs)),
        shared=reason or _uses_values(tree, others - stubs),
        fault=fault or _early_end(tree, answers),
    )


def _is_about_classes(nodes: Collection[ast.AST], names: Collection[str], prompt: str) -> bool:
    """Return whether one of the names is spelled like a class, or the prompt defines one.

    A name such as ``Linked_List`` is one where tests keep what it makes, which ``Find_Max`` is not.
    """
    if re.search(r"^class\b", prompt, re.MULTILINE):
        return True
    assigned = [node.value for node in nodes if isinstance(node, (ast.Assign, ast.Attribute))]
    makers = {name for value in assigned for name in called_names(value)}
    functions = set(re.findall(r"\bdef\s+(\w+)", prompt))
    for name in set(names) - functions:
        is_capital = name.lstrip("_")[:1].isupper()
        if _CLASS_NAME.fullmatch(name) or (is_capital and name in makers):
            return True
    return False


def _uses_attributes(nodes: Collection[ast.AST], answers: Collection[str]) -> bool:
    """Return whether tests use an attribute of an answer that values of plain classes do not have.

    >>> nodes = list(ast.walk(ast.parse("assert f(1).upper() == f(2).name")))
    >>> _uses_attributes(nodes, {"f"})
    True
    """
    for node in nodes:
        if not isinstance(node, ast.Attribute) or node.attr in _PLAIN_ATTRIBUTES:
            continue
        if not node.attr.startswith("__") and root_of(node) in answers:
            return True
    return False


def _uses_values(tree: ast.Module, names: set[str]) -> str:
    """Return which plain value of the program the tests use; empty where there is none."""
    for name in sorted(names - called_names(tree)):
        if name.isupper() or name.islower():
            return f"the tests use {name}, a value of the program"
    return ""


def _undefined_function(tree: ast.Module, names: set[str], prompt: str, entry_point: str) -> str:
    """Return which function of the tests nothing defines; empty where there is none.

    Without code to complete, only a function counts that an assertion takes at its word.
    """
    if not entry_point:
        return ""
    if prompt.strip():
        called = called_names(tree)
    else:
        assertions = [node for node in ast.walk(tree) if isinstance(node, ast.Assert)]
        judges = [node.test for node in assertions if _uses(node.test, entry_point)]
        called = {getattr(getattr(judge, "func", None), "id", "") for judge in judges}
    for name in sorted(names & called):
        if name.islower() and not re.search(rf"\b{name}\b", prompt):
            return f"the tests use {name}, which neither they nor the prompt define"
    return ""


def _early_end(tree: ast.Module, answers: Collection[str]) -> str:
    """Return where tests end themselves as if all were well, and an assertion is to come.

    Either for every program, or by its answer, which must not choose whether it is judged.
    """
    owed = [stmt.lineno for stmt in tree.body if isinstance(stmt, ast.Assert)]
    functions = [stmt for stmt in tree.body if isinstance(stmt, ast.FunctionDef)]
    enders = {function.name for function in functions if any(map(_is_end, function.body))}
    for stmt in tree.body:
        body = [stmt]
        if isinstance(stmt, ast.If):
            names = {getattr(node, "id", "") for node in ast.walk(stmt.test)}
            body = [stmt] if names.isdisjoint(answers) else stmt.body
        is_end = any(map(_is_end, body))
        if isinstance(stmt, ast.Expr):
            is_end = is_end or not enders.isdisjoint(called_names(stmt))
        if is_end and owed and owed[-1] > stmt.lineno:
            return f"line {stmt.lineno} ends the tests before their assertion of line {owed[-1]}"
    return ""


def _is_end(stmt: ast.stmt) -> bool:
    """Return whether a statement ends the process with status 0."""
    if not isinstance(stmt, (ast.Raise, ast.Expr)):
        return False
    node = stmt.exc if isinstance(stmt, ast.Raise) else stmt.value
    if isinstance(node, ast.Call):
        # exit(), exit(0) and exit(None) say that all was well; exit(1) and exit(code) may not.
        if any(getattr(value, "value", "unknown") for value in node.args[:1]):
            return False
        node = node.func
    elif isinstance(stmt, ast.Expr):
        return False
    return node is not None and ast.unparse(node) in _ENDS


def _uses(node: ast.expr, entry_point: str) -> bool:
    names = {getattr(child, "id", "") for child in ast.walk(node)}
    return not names.isdisjoint((entry_point, "candidate"))


def _parse(text: str) -> ast.Module | None:
    try:
        return parse_python(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _prompt_names(prompt: str, entry_point: str) -> tuple[set[str], set[str], set[str]]:
    """Return what the code of a prompt defines, what it outlines, and its classes."""
    tree = _parse(prompt) or _parse(f"{prompt}\n    pass\n")
    defined: set[str] = set()
    stubs: set[str] = set()
    classes: set[str] = set()
    for node in tree.body if tree is not None else ():
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            is_stub = _is_outline(node) or node.name == entry_point
            (stubs if is_stub else defined).add(node.name)
            if isinstance(node, ast.ClassDef) and not is_stub:
                classes.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            defined.update(alias.asname or alias.name.split(".")[0] for alias in node.names)
        else:
            for name in ast.walk(node):
                if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store):
                    defined.add(name.id)
    return defined - stubs, stubs, classes


def _is_outline(node: ast.stmt) -> bool:
    body: list[ast.stmt] = getattr(node, "body", [])
    if isinstance(node, ast.ClassDef):
        methods = [
            stmt for stmt in body if isinstance(stmt, (ast.FunctionDef, ast.AsyncFunctionDef))
        ]
        return bool(methods) and all(
            _is_outline(stmt) for stmt in methods if stmt.name != "__init__"
        )
    return all(
        isinstance(stmt, (ast.Pass, ast.Raise))
        or (isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Constant))
        for stmt in body
    )
