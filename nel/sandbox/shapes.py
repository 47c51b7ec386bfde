"""What tests show of the names that a program has to give: which are classes, and which could only pass judgement.

Pure functions of the tests' tree and the prompt. No program has a say in any of it.
"""

from __future__ import annotations

import ast
import collections
import re
from collections.abc import Collection, Iterator
from typing import Final

from nel.sandbox.agent.dependence import Dependence

_BUILTIN_ATTRIBUTES: Final = frozenset(
    name
    for kind in (str, bytes, list, tuple, dict, set, int, float, complex, range, collections.deque, collections.Counter)
    for name in dir(kind)
)


def class_names(tree: ast.Module, names: Collection[str], prompt: str) -> frozenset[str]:
    """Return those of the names that are classes: by the prompt, else by how the tests use what a call gives.

    >>> tree = ast.parse("s = Stack(); s.push(1); assert s.size == 1; assert Sum(2).real == 3")
    >>> sorted(class_names(tree, {"Stack", "Sum"}, ""))
    ['Stack']
    """
    functions = {name for name in names if re.search(rf"\bdef\s+{name}\b", prompt)}
    found = {name for name in names if re.search(rf"\bclass\s+{name}\b", prompt)}
    shown = set(_shown(tree, {name for name in names if name.lstrip("_")[:1].isupper()}))
    return frozenset((found | shown) - functions)


def _shown(tree: ast.Module, names: set[str]) -> Iterator[str]:
    made: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            name = _called(node.value)
            made.update((target.id, name) for target in node.targets if isinstance(target, ast.Name) and name in names)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr not in _BUILTIN_ATTRIBUTES:
            if isinstance(node.value, ast.Name):
                yield from {node.value.id} & names
                yield from (made[one] for one in {node.value.id} & made.keys())
            yield from (name for name in _calls_in(node.value) if name in names)
        elif isinstance(node, ast.Call) and _called(node) in ("isinstance", "issubclass") and node.args[1:]:
            yield from (part.id for part in ast.walk(node.args[1]) if isinstance(part, ast.Name) and part.id in names)


def _calls_in(node: ast.expr) -> Iterator[str]:
    """Yield what is called for an expression's value, not for an argument of a call."""
    if isinstance(node, ast.Call):
        yield _called(node)
    elif isinstance(node, (ast.BinOp, ast.UnaryOp)):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                yield from _calls_in(child)


def _called(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def can_fail(tree: ast.Module, owed: Collection[int], dependence: Dependence) -> bool:
    """Return whether an assertion that is always reached compares an answer of the program with something else.

    Nothing may stand in tests that could pass over its failure, such as a ``try``, a ``with`` or a decorator.

    >>> tree = ast.parse("assert f(1) == 2")
    >>> can_fail(tree, [1], Dependence(tree, ["f"]))
    True
    """
    for node in ast.walk(tree):
        if isinstance(node, (ast.Try, ast.With, ast.AsyncWith, ast.Return)) or getattr(node, "decorator_list", None):
            return False
        if type(node).__name__ == "TryStar" or (isinstance(node, ast.Call) and "exit" in ast.unparse(node.func)):
            return False
    asserts = [node for node in ast.walk(tree) if isinstance(node, ast.Assert) and node.lineno in owed]
    for node in asserts:
        test = node.test
        if isinstance(test, ast.Compare) and len(test.comparators) == 1 and isinstance(test.ops[0], (ast.Eq, ast.Is)):
            sides = dependence.uses_program(test.left), dependence.uses_program(test.comparators[0])
            if sides in ((True, False), (False, True)):
                return True
    return False


def wrong_call(tree: ast.Module) -> str:
    """Return why tests call a function of their own in a way that it does not take; empty where none does.

    >>> wrong_call(ast.parse("def same(a, b): return a == b\\nassert same(f(1))"))
    'the tests call same in line 2 with arguments that it does not take'
    """
    bound = collections.Counter(
        getattr(node, "name", "") or getattr(node, "id", "") or getattr(node, "arg", "")
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.arg))
        or (isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load))
    )
    functions = {
        node.name: node.args
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and not node.decorator_list and bound[node.name] == 1
    }
    guards = [node for node in ast.walk(tree) if isinstance(node, (ast.Try, ast.With))]
    guarded = {id(part) for guard in guards for part in ast.walk(guard)}  # which may be there to raise
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or id(node) in guarded:
            continue
        if (takes := functions.get(_called(node))) and not _fits(node, takes):
            return f"the tests call {_called(node)} in line {node.lineno} with arguments that it does not take"
    return ""


def _fits(call: ast.Call, takes: ast.arguments) -> bool:
    """Return whether a function takes the arguments of a call; so far as the text tells."""
    keywords = {word.arg for word in call.keywords}
    if None in keywords or any(isinstance(one, ast.Starred) for one in call.args):
        return True
    places = [one.arg for one in (*takes.posonlyargs, *takes.args)]
    by_name = {one.arg for one in (*takes.args, *takes.kwonlyargs)}
    needed = set(places[: len(places) - len(takes.defaults)])
    needed |= {one.arg for one, default in zip(takes.kwonlyargs, takes.kw_defaults, strict=True) if default is None}
    given = set(places[: len(call.args)])
    too_many = len(call.args) > len(places) and takes.vararg is None
    unknown = bool(keywords - by_name) and takes.kwarg is None
    return not (too_many or unknown or keywords & given or needed - given - keywords)


def is_named(name: str, prompt: str) -> bool:
    """Return whether a prompt names a value that a program is to define, and does not just use the word.

    >>> is_named("expected", "Return the expected value."), is_named("MOD", "Take it modulo MOD.")
    (False, True)
    """
    if name.isupper() or "_" in name:
        return re.search(rf"\b{name}\b", prompt) is not None
    return re.search(rf"[`'\"]{name}\b|^{name}[ ]*(?::[^=\n]*)?=|\bdef[ ]+{name}\b", prompt, re.MULTILINE) is not None


def judge_of(tree: ast.Module, names: Collection[str], prompt: str, dependence: Dependence, entry_point: str) -> str:
    """Return why a function that only the program could define would judge its own answers; empty where none does.

    What the tests pass an answer to and take at its word, as in ``assert almost_equal(f(1), 2)``, is a helper of theirs
    that is not there, unless the prompt asks for it.
    """
    if not entry_point:
        return ""
    trusted = {id(part) for node in ast.walk(tree) for part in _taken_at_their_word(node)}
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)) or node.func.id not in names:
            continue
        name = node.func.id
        if name.lstrip("_")[:1].isupper() or re.search(rf"\b{name}\b", prompt):
            continue
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        if prompt.strip() or (id(node) in trusted and any(dependence.uses_program(part) for part in given)):
            return f"the tests use {name}, which neither they nor the prompt define"
    return ""


def _taken_at_their_word(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, (ast.Assert, ast.If, ast.While, ast.IfExp)):
        yield node.test
    elif isinstance(node, ast.Expr):
        yield node.value
    elif isinstance(node, ast.BoolOp):
        yield from node.values
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, ast.Compare):
        sides = (node.left, *node.comparators)
        if any(isinstance(side, ast.Constant) and isinstance(side.value, bool) for side in sides):
            yield from sides
