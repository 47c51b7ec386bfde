"""What a task's own text says of its tests: which names are theirs, and how they can be run.

Pure functions of tests, prompt and entry point. No program has a say in any of it.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import re
import symtable
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from types import ModuleType
from typing import Any, Final

from nel.core.python_trees import parse_python
from nel.sandbox.agent.dependence import Dependence
from nel.sandbox.agent.running import MARK
from nel.sandbox.shapes import can_fail, class_names, is_named, judge_of, wrong_call

_OWN_STREAMS: Final = re.compile(
    r"\b(?:redirect_stdout|redirect_stderr|capsys|sys\.std(?:in|out|err)|asyncio|inspect|pytest|tempfile|monkeypatch"
    r"|assertLogs|assertNoLogs|assertWarns\w*|catch_warnings|os\.(?:environ|putenv|chdir|makedirs|mkdir)|sys\.argv"
    r"|write_text|write_bytes|builtins\.\w+[ ]*=(?!=))"
    r"|\bopen\([^)\n]*,[ ]*(?:mode=)?['\"][wax]"
)
"""In tests: what the program prints, what it is, or what both use of files, environment and modules, matters."""
_ALIASES: Final[Mapping[str, str]] = {
    "np": "numpy",
    "numpy": "numpy",
    "pd": "pandas",
    "pandas": "pandas",
    "plt": "matplotlib.pyplot",
    "scipy": "scipy",
    "nx": "networkx",
    "networkx": "networkx",
    "torch": "torch",
    "tf": "tensorflow",
    "sympy": "sympy",
    "sklearn": "sklearn",
}
_MEMBERS: Final[Mapping[str, str]] = {
    "collections": "Counter OrderedDict defaultdict deque namedtuple ChainMap",
    "math": "isclose isnan isinf isfinite sqrt pi e inf nan tau floor ceil fabs gcd factorial comb perm log log2 log10"
    " exp sin cos tan hypot prod fsum isqrt",
    "itertools": "accumulate chain combinations combinations_with_replacement groupby islice permutations product"
    " zip_longest starmap takewhile dropwhile",
    "functools": "reduce partial cmp_to_key lru_cache",
    "copy": "deepcopy copy",
    "heapq": "heapify heappop heappush nlargest nsmallest",
    "bisect": "bisect bisect_left bisect_right insort",
    "fractions": "Fraction",
    "decimal": "Decimal",
    "datetime": "datetime date time timedelta",
    "statistics": "mean median stdev pstdev variance",
    "random": "randint shuffle choice",
    "string": "ascii_letters ascii_lowercase ascii_uppercase digits punctuation",
    "typing": "Any Callable Dict Iterable Iterator List Optional Sequence Set Tuple Union",
    "types": "SimpleNamespace",
    "enum": "Enum",
    "dataclasses": "dataclass",
    "pathlib": "Path",
    "io": "StringIO BytesIO",
    "pprint": "pprint",
}
_ENDS: Final = (ast.Return, ast.Raise, ast.Break, ast.Continue)
_PLAIN_CALLS: Final = frozenset(
    "abs all any ascii bin bool bytes bytearray chr complex dict divmod float format frozenset hex int isinstance len"
    " list max min oct ord pow print range repr round set sorted str sum tuple Counter OrderedDict deque Decimal"
    " Fraction isclose deepcopy sqrt date datetime timedelta".split()
)
"""What they return has a plain form where their arguments have."""
_PLAIN_MODULES: Final = frozenset("cmath copy datetime decimal fractions json math random statistics string".split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What tests, prompt and entry point say."""

    tests: str
    prompt: str
    entry_point: str
    supplied: Mapping[str, str] = field(default_factory=dict)
    """Names that tests use without defining them, and where they are to come from: ``module`` or ``module:name``."""
    wanted: tuple[str, ...] = ()
    """Names that the program has to give."""
    constants: tuple[str, ...] = ()
    """Those of them that may be plain values."""
    classes: tuple[str, ...] = ()
    """Those of them that are classes."""
    modules: tuple[str, ...] = ()
    """What of the standard library they import."""
    prompt_classes: tuple[str, ...] = ()
    """Classes that the prompt defines, which the program is likely to hold, too."""
    stubs: tuple[str, ...] = ()
    """Functions and classes that the prompt only outlines."""
    marked: str = ""
    """The tests with a mark in front of each assertion."""
    owed: tuple[int, ...] = ()
    """Lines of assertions that must be reached, whatever the program does."""
    apart: Dependence | None = None
    """What depends on the program where only plain values cross; None where the tests cannot be parsed here."""
    together: Dependence | None = None
    """What may depend on a program that shares the process."""
    needs_same_process: bool = False
    """By their very text: mocks, streams, files that both use, subclasses of what the program defines."""
    crosses: bool = True
    """Whether, by their very text, all that the tests pass to the program has a plain form."""
    can_fail: bool = False
    """Whether, by their very text, an assertion compares what the program answers; in doubt they are tried."""
    broken: str = ""
    """Why the tests are of no use."""

    def payload(self, *, shares_process: bool) -> dict[str, Any]:
        """Return what the process of the tests is given."""
        return {
            "tests": self.tests,
            "marked": self.marked or self.tests,
            "owed": list(self.owed),
            "prompt": self.prompt,
            "entry_point": self.entry_point,
            "supplied": dict(self.supplied),
            "wanted": list(self.wanted),
            "constants": list(self.constants),
            "classes": list(self.classes),
            "modules": list(self.modules),
            "prompt_classes": list(self.prompt_classes),
            "stubs": list(self.stubs),
            "shares_process": shares_process,
        }

    def is_own(self, lines: Sequence[int], position: Sequence[int] = (), *, shares_process: bool) -> bool:
        """Return whether what the tests raised on these lines has nothing to do with the program."""
        dependence = self.together if shares_process else self.apart
        return dependence is not None and dependence.is_own(lines, position)


@lru_cache(maxsize=1024)
def read_task(tests: str, prompt: str = "", entry_point: str = "") -> Task:
    """Return what the text of a task says."""
    tree = _parsed(tests)
    if tree is None:  # the interpreter of the container has the last word
        return Task(tests=tests, prompt=prompt, entry_point=entry_point)
    unbound = _unbound(tests)
    helpers, stubs = _prompt_names(prompt, entry_point)
    supplied = _supplied(tree, unbound - helpers - {entry_point}, prompt, entry_point)
    wanted = sorted(unbound - set(supplied) | ({entry_point} if entry_point else set()))
    constants = [name for name in wanted if is_named(name, prompt)]
    if not entry_point and _called_names(tree).isdisjoint(wanted):
        constants = wanted  # the tests are about constants
    given = set(wanted) - helpers | {entry_point or "candidate", "candidate"}
    marked = _marked(tests, tree)
    tree = _parsed(marked) or tree
    apart = Dependence(tree, given, supplied)
    together = Dependence(tree, given, supplied, shares_process=True)
    needs_same_process = _needs_same_process(tests, tree, given)
    owed = sorted(_owed(tree.body, together))
    return Task(
        tests=tests,
        prompt=prompt,
        entry_point=entry_point,
        supplied=supplied,
        wanted=tuple(wanted),
        constants=tuple(constants),
        classes=tuple(sorted(class_names(tree, wanted, prompt))),
        modules=tuple(sorted(_modules(tree) | ({"unittest"} if "TestCase" in tests else set()))),
        prompt_classes=tuple(
            sorted(name for name in helpers if re.search(rf"^class[ ]+{name}\b", prompt, re.MULTILINE))
        ),
        stubs=tuple(sorted(stubs)),
        marked=marked,
        owed=tuple(owed),
        apart=apart,
        together=together,
        needs_same_process=needs_same_process,
        crosses=_crosses(_parsed(tests) or tree, given, supplied),
        can_fail=can_fail(tree, owed, apart),
        broken=_undefined(tree, set(wanted) - helpers - set(constants) - {entry_point})
        or judge_of(tree, set(wanted) - helpers - {entry_point, "candidate"}, prompt, apart, entry_point)
        or wrong_call(tree)
        or _dead_assertion(tree)
        or ("" if needs_same_process else _idle_assertions(tree, together)),
    )


def _modules(tree: ast.Module) -> set[str]:
    nodes = list(ast.walk(tree))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {str(node.module) for node in nodes if isinstance(node, ast.ImportFrom) and not node.level}
    return {name for name in names if name.split(".")[0] in sys.stdlib_module_names}


def _parsed(text: str) -> ast.Module | None:
    try:
        return parse_python(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _unbound(tests: str) -> set[str]:
    """Return the names that tests look up in their module and neither bind there nor find among the builtins."""
    used, bound = set(), set()
    scopes = [symtable.symtable(tests, "tests.py", "exec")]
    while scopes:
        scope = scopes.pop()
        scopes.extend(scope.get_children())
        is_module = scope.get_type() == "module"
        for symbol in scope.get_symbols():
            is_global = is_module or symbol.is_global()
            if is_global and symbol.is_referenced():
                used.add(symbol.get_name())
            if is_global and (symbol.is_assigned() or symbol.is_imported()):
                bound.add(symbol.get_name())
    return used - bound - set(dir(builtins)) - {"__file__"}


def _prompt_names(prompt: str, entry_point: str) -> tuple[set[str], set[str]]:
    """Return what the code of a prompt defines, and what it only outlines."""
    tree = _parsed(prompt) or _parsed(f"{prompt}\n    pass\n")
    if tree is None:
        return set(), set()
    defined: set[str] = set()
    stubs: set[str] = set()
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            (stubs if _is_outline(node) or node.name == entry_point else defined).add(node.name)
        else:
            parts = [part for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)]
            defined.update(part.id for part in parts)
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            defined.update(alias.asname or alias.name.split(".")[0] for alias in node.names)
    return defined - stubs, stubs


def _is_outline(node: ast.stmt) -> bool:
    body: list[ast.stmt] = getattr(node, "body", [])
    if isinstance(node, ast.ClassDef):
        methods = [part for part in body if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef))]
        return bool(methods) and all(_is_outline(method) for method in methods if method.name != "__init__")
    return all(
        isinstance(part, (ast.Pass, ast.Raise)) or (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))
        for part in body
    )


def _supplied(tree: ast.Module, unbound: set[str], prompt: str, entry_point: str) -> dict[str, str]:
    """Return where names come from that tests use as those of well-known modules."""
    uses: dict[str, set[str]] = {name: set() for name in unbound}
    called = _called_names(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in uses:
            uses[node.value.id].add(node.attr)
    found = {}
    for name in sorted(unbound):
        place = _place_of(name, uses[name], is_called=name in called)
        if place and (":" not in place or not re.search(rf"\b(?:def|class)\s+{name}\b|`{name}\b", prompt)):
            found[name] = place
    if not entry_point and called & unbound <= set(found):
        # The tests call nothing else that a program could define, so that these are what they are about.
        return {name: place for name, place in found.items() if name not in called}
    return found


def _called_names(tree: ast.Module) -> set[str]:
    return {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}


def _place_of(name: str, attributes: set[str], *, is_called: bool) -> str | None:
    if attributes and not is_called:
        if name in _ALIASES:
            return _ALIASES[name]
        if name in sys.stdlib_module_names and not name.startswith("_"):
            module = _module(name)
            if module is not None and all(hasattr(module, attribute) for attribute in attributes):
                return name
    home = _homes().get(name)
    return None if home is None else f"{home}:{name}"


@cache
def _homes() -> Mapping[str, str]:
    return {name: module for module, names in reversed(list(_MEMBERS.items())) for name in names.split()}


@cache
def _module(name: str) -> ModuleType | None:
    if name in ("antigravity", "this", "idlelib", "tkinter", "turtle", "turtledemo", "test"):
        return None
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def _needs_same_process(tests: str, tree: ast.Module, given: set[str]) -> bool:
    if _OWN_STREAMS.search(tests) or re.search(r"^\s*(?:from|import)\s+solution\b", tests, re.MULTILINE):
        return True
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            bases = {part.id for base in node.bases for part in ast.walk(base) if isinstance(part, ast.Name)}
            if bases & given or any("AsyncioTestCase" in ast.unparse(base) for base in node.bases):
                return True
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
        if any(name.split(".")[0] in ("pytest", "mock") or name == "unittest.mock" for name in names):
            return True
    return False


def _crosses(tree: ast.Module, given: set[str], supplied: Mapping[str, str]) -> bool:
    """Return whether nothing in tests could make a value without a plain form; in doubt it could."""
    nodes = list(ast.walk(tree))
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    bases = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
    sole = {id(node.args[0]) for node in nodes if isinstance(node, ast.Call) and len(node.args) == 1}
    functions = {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    own = {name for name in functions if name == "check" or name.startswith("test")}
    imports = [node for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom))]
    imported = {alias.asname or alias.name.split(".")[0] for node in imports for alias in node.names}
    no_values = set(dir(builtins)) | functions | imported | set(supplied)
    for node in nodes:
        if isinstance(node, (ast.Lambda, ast.ClassDef, ast.AsyncFunctionDef, ast.Yield, ast.YieldFrom, ast.With)):
            return False
        if isinstance(node, ast.FunctionDef) and (node.name not in own or node.decorator_list):
            return False
        if isinstance(node, ast.Call) and not _is_plain_call(node, given, own):
            return False
        if isinstance(node, ast.GeneratorExp) and id(node) not in sole:
            return False
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and id(node) not in called:
            return False
        is_value = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in called | bases
        if is_value and node.id in no_values:  # type: ignore[attr-defined]
            return False
    return True


def _is_plain_call(call: ast.Call, given: set[str], own: set[str]) -> bool:
    function = call.func
    if isinstance(function, ast.Name):
        if function.id in given:
            return not any(isinstance(value, ast.GeneratorExp) for value in call.args)
        return function.id in _PLAIN_CALLS or function.id in own
    if not isinstance(function, ast.Attribute):
        return False
    base = function.value
    if isinstance(base, ast.Name) and base.id in sys.stdlib_module_names:
        return base.id in _PLAIN_MODULES
    return function.attr in ("append", "extend", "join", "split", "items", "keys", "values", "lower", "upper")


def _undefined(tree: ast.Module, names: set[str]) -> str:
    """Return which of these names the tests use as a plain value, which neither they nor the prompt define."""
    others: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            others.update(id(part) for part in (node.func, *node.args, *(keyword.value for keyword in node.keywords)))
        elif isinstance(node, ast.Attribute):
            others.add(id(node.value))
        elif isinstance(node, (ast.ClassDef, ast.ExceptHandler)) or hasattr(node, "decorator_list"):
            parts = [getattr(node, "type", None), *getattr(node, "bases", ()), *getattr(node, "decorator_list", ())]
            others.update(id(part) for one in parts if one is not None for part in ast.walk(one))
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id in names]
    values = {node.id for node in found} - {node.id for node in found if id(node) in others}
    return f"the tests use {min(values)}, which neither they nor the prompt define" if values else ""


def _dead_assertion(tree: ast.Module) -> str:
    """Return why an assertion can never be reached, whatever the program does; empty where there is none."""
    for block in _blocks(tree):
        for place, stmt in enumerate(block):
            if isinstance(stmt, _ENDS) or _is_exit(stmt):
                skipped = [node.lineno for rest in block[place + 1 :] for node in _asserts(rest)]
                reason = f"the tests leave in line {stmt.lineno}"
            elif isinstance(stmt, (ast.If, ast.While)) and isinstance(stmt.test, ast.Constant):
                skipped = [
                    node.lineno for rest in (stmt.orelse if stmt.test.value else stmt.body) for node in _asserts(rest)
                ]
                reason = f"the condition of line {stmt.lineno} never changes"
            else:
                continue
            if skipped:
                return f"{reason}, so that the assertion of line {skipped[0]} is never reached"
    return ""


def _idle_assertions(tree: ast.Module, dependence: Dependence) -> str:
    """Return why no assertion of tests can fail because of the program; empty where one can, or there is none."""
    swallowed = {
        id(node)
        for guard in ast.walk(tree)
        if isinstance(guard, ast.Try) and any(_swallows(handler) for handler in guard.handlers)
        for stmt in guard.body
        for node in _asserts(stmt)
    }
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Assert)]
    swallowed |= {id(node) for node in found if _is_true(node.test)}
    raises = any(isinstance(node, ast.Raise) or _is_exit(node) for node in ast.walk(tree))
    if raises or not found or any(dependence.depends(node.lineno) and id(node) not in swallowed for node in found):
        return ""
    return f"no assertion of the tests can fail because of the program (line {found[0].lineno})"


def _is_true(test: ast.expr) -> bool:
    """Return whether a condition holds by its form alone, as a tuple of a comparison and a message does."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        return any(_is_true(value) for value in test.values)
    return bool(getattr(test, "elts", None)) or (isinstance(test, ast.Constant) and bool(test.value))


def _swallows(handler: ast.ExceptHandler) -> bool:
    """Return whether a handler takes a failed assertion and does nothing about it."""
    names = {"Exception", "BaseException", "AssertionError"}
    kinds = [] if handler.type is None else [part.id for part in ast.walk(handler.type) if isinstance(part, ast.Name)]
    if handler.type is not None and names.isdisjoint(kinds):
        return False
    for stmt in handler.body:
        is_print = isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Call) and _name_of(stmt.value) == "print"
        is_constant = isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Constant)
        if not (isinstance(stmt, (ast.Pass, ast.Continue)) or is_print or is_constant):
            return False
    return True


def _name_of(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _marked(tests: str, tree: ast.Module) -> str:
    """Return tests with a mark in front of each assertion, on its line."""
    lines = [line.encode() for line in re.split(r"(?<=\n)", tests.replace("\r\n", "\n").replace("\r", "\n"))]
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Assert)]
    for node in sorted(found, key=lambda one: (one.lineno, one.col_offset), reverse=True):
        line, place = lines[node.lineno - 1], node.col_offset
        lines[node.lineno - 1] = line[:place] + f"{MARK}({node.lineno}); ".encode() + line[place:]
    marked = b"".join(lines).decode()
    return marked if _parsed(marked) is not None else tests


def _owed(body: Sequence[ast.stmt], dependence: Dependence) -> Iterator[int]:
    """Yield the lines of assertions that only the tests themselves can leave out, as by a loop over nothing."""
    for stmt in body:
        is_function = isinstance(stmt, ast.FunctionDef) and (stmt.name == "check" or stmt.name.startswith("test"))
        is_class = isinstance(stmt, ast.ClassDef) and stmt.name.startswith("Test")
        if isinstance(stmt, ast.Assert):
            if not dependence.is_controlled(stmt.lineno):
                yield stmt.lineno
        elif is_function or is_class or isinstance(stmt, (ast.For, ast.With, ast.Try)):
            yield from _owed(getattr(stmt, "body", []), dependence)


def _blocks(tree: ast.Module) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                yield block


def _asserts(stmt: ast.stmt) -> Iterator[ast.Assert]:
    if not isinstance(stmt, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield from (node for node in ast.walk(stmt) if isinstance(node, ast.Assert))


def _is_exit(stmt: ast.AST) -> bool:
    if not (isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Call)):
        return False
    return ast.unparse(stmt.value.func) in ("sys.exit", "exit", "quit", "os._exit", "os.abort")
