"""Finds where names come from that tests use and do not define, and which of them hold answers.

Pure functions of the tests and the prompt: the program under test cannot influence the result.
"""

from __future__ import annotations

import ast
import builtins
import re
import symtable
from collections.abc import Collection, Iterator, Mapping
from typing import Final

_ALIASES: Final[Mapping[str, str]] = {"np": "numpy", "pd": "pandas"}
_MODULES: Final = frozenset(
    "cmath collections copy datetime decimal fractions functools heapq io itertools json math"
    " np numpy operator os pandas pd random re sqlite3 statistics string sys time typing"
    " unittest".split()
)
"""Modules that tests may use without an import; the program does not supply them."""
_MEMBERS: Final[Mapping[str, str]] = {
    "collections": "Counter OrderedDict defaultdict deque namedtuple",
    "math": "isclose isnan isinf isfinite sqrt pi inf nan floor ceil gcd factorial comb",
    "copy": "deepcopy copy",
    "fractions": "Fraction",
    "decimal": "Decimal",
    "datetime": "datetime date time timedelta timezone",
    "typing": "Any Callable Dict Iterable Iterator List Optional Sequence Set Tuple Union",
}
"""Names that tests may use without an import, unless the prompt asks the program for them."""
_HOMES: Final = {name: module for module, names in _MEMBERS.items() for name in names.split()}


def unbound_names(tests: str) -> set[str]:
    """Return the names that tests use, and neither bind nor find as builtins."""
    referenced: set[str] = set()
    bound: set[str] = set()
    scopes = [symtable.symtable(tests, "tests.py", "exec")]
    while scopes:
        scope = scopes.pop()
        scopes.extend(scope.get_children())
        for symbol in scope.get_symbols():
            is_global = scope.get_type() == "module" or symbol.is_global()
            if is_global and symbol.is_referenced():
                referenced.add(symbol.get_name())
            if is_global and (symbol.is_assigned() or symbol.is_imported()):
                bound.add(symbol.get_name())
    return referenced - bound - set(dir(builtins)) - {"__file__"}


def supplied_names(
    tree: ast.Module, unbound: set[str], prompt: str, entry_point: str
) -> dict[str, str]:
    """Return the addresses of names that tests use as those of well-known modules.

    An address is ``module`` or ``module:name``.
    """
    called = called_names(tree)
    owners = {
        getattr(node.value, "id", "") for node in ast.walk(tree) if isinstance(node, ast.Attribute)
    }
    addresses = {}
    for name in sorted(unbound):
        if name in _MODULES and name in owners and name not in called:
            addresses[name] = _ALIASES.get(name, name)
        elif name in _HOMES and not re.search(rf"\b(?:def|class)\s+{name}\b|`{name}\b", prompt):
            addresses[name] = f"{_HOMES[name]}:{name}"
    if not entry_point and called & unbound <= addresses.keys():
        # The tests call no other name that the program could define: they test these.
        return {name: address for name, address in addresses.items() if name not in called}
    return addresses


def called_names(tree: ast.AST) -> set[str]:
    """Return the names that tests call."""
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return {function.id for function in calls if isinstance(function, ast.Name)}


def root_of(node: ast.expr) -> str:
    """Return the name that a chain of attributes, items and calls starts from.

    >>> root_of(ast.parse("self.bus.queue[0]", mode="eval").body)
    'bus'
    """
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        value = node.func if isinstance(node, ast.Call) else node.value
        if isinstance(node, ast.Attribute) and getattr(value, "id", "") == "self":
            return node.attr
        node = value
    return getattr(node, "id", "")


def answer_names(nodes: Collection[ast.AST], program: Collection[str]) -> frozenset[str]:
    """Return the program's names, and the names that tests bind to values derived from them.

    >>> tree = ast.parse("s = f(1); t = [x for x in s]; u = 2")
    >>> sorted(answer_names(list(ast.walk(tree)), {"f"}))
    ['f', 's', 't', 'x']
    """
    bindings = []
    for node in nodes:
        targets = [*getattr(node, "targets", ()), *_fields_of(node, "target", "optional_vars")]
        values = _fields_of(node, "value", "iter", "context_expr")
        bindings.append((set(names_in(*targets)), set(names_in(*values))))
    answers = frozenset(program)
    size = 0
    while size != len(answers):  # to a fixed point: in a loop, a later line may feed an earlier one
        size = len(answers)
        for bound, used in bindings:
            if used & answers:
                answers |= bound
    return answers


def _fields_of(node: ast.AST, *names: str) -> list[ast.AST]:
    fields = (getattr(node, name, None) for name in names)
    return [field for field in fields if isinstance(field, ast.AST)]


def names_in(*nodes: ast.AST) -> Iterator[str]:
    """Yield the names within expressions, and the attributes of ``self``."""
    for node in nodes:
        for child in ast.walk(node):
            if isinstance(child, ast.Name) and child.id != "self":
                yield child.id
            elif isinstance(child, ast.Attribute) and getattr(child.value, "id", "") == "self":
                yield child.attr
