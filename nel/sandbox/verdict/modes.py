"""Decides the mode in which Python tests run, by the text of the task and never by the program.

Only a run can tell whether tests use a value without a plain form: a run in `split` mode then ends
with `codec.CannotCross`.
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
"""Uses of state that tests share with a program (output, coroutines, random numbers, files,
environment), and of functions that read an object's class or identity without its cooperation.
"""
_CLASS_USERS: Final = ("super", "issubclass")
"""Builtin functions that do not accept a proxy for a class."""


def needs_shared(
    tests: str, tree: ast.Module, program: Collection[str], prompt_classes: Collection[str]
) -> str:
    """Return why tests must run in the program's process; empty where they can run outside of it.

    Args:
        program: Names that the program defines.
        prompt_classes: Classes of the prompt; in two processes each would have its own copy.

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
    """Return whether an argument is a class of the program; a capital letter decides."""
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
