"""Which mode judges tests in Python: by the task's text, never by the program.

What only a run can tell, that tests pass or compare a value without a plain form, is told by the
run in `split` mode, which then ends (`codec.CannotCross`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection
from typing import Final

from nel.sandbox.verdict.names import answer_names, names_in, root_of

_SHARED_STATE: Final = re.compile(
    r"\b(?P<what>redirect_std(?:out|err)|capsys|sys\.std(?:in|out|err)|sys\.argv|asyncio|inspect|pytest"
    r"|mock|monkeypatch|weakref|pandas|pd|tempfile|sqlite3|assertLogs|assertNoLogs|assertWarns\w*|catch_warnings"
    r"|__cause__|__context__|__notes__|ExceptionGroup|singledispatch\w*|ast\.(?:dump|unparse|walk)|gc\.\w+"
    r"|os\.(?:environ|putenv|chdir|makedirs|mkdir|remove|path\.\w+|listdir|unlink)|shutil"
    r"|(?:read|write)_(?:text|bytes)|IsolatedAsyncioTestCase|random\.seed"
    r"|builtins\.\w+[ ]*=(?!=)|(?:from|import) solution)\b"
    r"|(?<![.\w])(?P<id>id)\(|(?P<group>except[ ]*\*)"
    r"|\b(?P<open>open\([^)\n]*)"
)
"""What tests share with a program: output, coroutines, random numbers, files, environment, and what
asks an object for its class without asking the object.
"""
_CLASS_USERS: Final = ("super", "issubclass")
"""Builtin functions that take a class and no stand-in for it."""


def needs_shared(
    tests: str, tree: ast.Module, program: Collection[str], prompt_classes: Collection[str]
) -> str:
    """Return why tests have to share the program's process; empty where they run apart from it.

    Args:
        program: Names that the program gives.
        prompt_classes: Classes of the prompt, of which tests and program would each have their own.

    >>> tests = "class Mine(f): pass"
    >>> needs_shared(tests, ast.parse(tests), {"f"}, ())
    'line 1 derives from a class of the program'
    """
    if match := _SHARED_STATE.search(tests):
        return f"the tests use {match['what'] or match['id'] or match['group'] or 'open'}"
    nodes = list(ast.walk(tree))
    answers = answer_names(nodes, program)
    users = {*_CLASS_USERS, *_imported_names(nodes)}
    for node in nodes:
        line = f"line {getattr(node, 'lineno', 0)}"
        if isinstance(node, ast.ClassDef) and not answers.isdisjoint(map(root_of, node.bases)):
            return f"{line} derives from a class of the program"
        if isinstance(node, ast.Name) and node.id in prompt_classes:
            return f"{line} uses {node.id}, a class of the prompt"
        if (
            isinstance(node, ast.Call)
            and root_of(node.func) in users
            and any(_is_class(argument, program) for argument in node.args)
        ):
            return f"{line} hands a class of the program to {root_of(node.func)}"
        if isinstance(node, ast.Match) and not answers.isdisjoint(names_in(node.subject)):
            return f"{line} matches patterns with what the program returns"
    return ""


def _is_class(node: ast.expr, program: Collection[str]) -> bool:
    """Return whether an argument is a class of the program, by its name."""
    if not isinstance(node, ast.Name) or node.id not in program:
        return False
    name = node.id.lstrip("_")
    return name[:1].isupper()


def _imported_names(nodes: Collection[ast.AST]) -> set[str]:
    names = set()
    for node in nodes:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                package = alias.name.partition(".")[0]
                names.add(alias.asname or package)
    return names
