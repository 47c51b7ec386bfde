"""Jinja templates: a sandbox that reaches nothing but data, and that bounds what a template writes.

Depends on jinja2. Passes of loops, calls of macros and everything that makes a text or a list are
counted, and each count checks the deadline. Whole numbers stay small. Note: one operation on data
is not interrupted.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from jinja2 import Environment, StrictUndefined, Template, Undefined, meta, nodes
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer

from nel.errors import PromptError
from nel.prompts.values import (
    ELEMENT_CHARS,
    OUTPUT_CHARS_MAX,
    RefusedError,
    measure,
    missing_field,
    spend,
    text_of,
    work_budget,
)

_INT_BITS_MAX: Final = 4096
_LINE_MARK: Final = "<nel prompt>"
_METHODS: Final[Mapping[type, frozenset[str]]] = {
    str: frozenset(
        (
            "capitalize count endswith find index isalnum isalpha isdecimal isdigit islower"
            " isnumeric isspace istitle isupper join lower lstrip partition removeprefix"
            " removesuffix replace rfind rindex rpartition rsplit rstrip split splitlines"
            " startswith strip swapcase title upper"
        ).split()
    ),
    dict: frozenset(("copy", "get", "items", "keys", "values")),
    list: frozenset(("copy", "count", "index")),
    tuple: frozenset(("count", "index")),
}
"""What a template may call of each type of data; other data has no attributes."""
_DATA: Final = (
    str,
    dict,
    list,
    tuple,
    int,
    float,
    complex,
    bytes,
    range,
    set,
    frozenset,
    type(None),
)
_FILTERS: Final = (
    "abs capitalize count d default dictsort first float groupby int items last length list lower"
    " map max min reject rejectattr reverse round select selectattr sort sum title trim truncate"
    " unique upper wordcount"
)
"""Jinja's own filters whose result is no larger than their input."""


def _output(value: object) -> str:
    # str() of what is undefined raises, with its name.
    text = str(value) if isinstance(value, Undefined) else text_of(value)
    spend(len(text))
    return text


def _concat(*values: object) -> str:
    return "".join([_output(value) for value in values])


def _join(values: Iterable[object], separator: object = "") -> str:
    between = text_of(separator)
    parts = []
    for value in values:
        parts.append(_output(value))
        spend(len(between))
    return between.join(parts)


def _replace(value: object, search: object, substitute: object, count: int = -1) -> str:
    text, before, after = text_of(value), text_of(search), text_of(substitute)
    spend(len(text) + text.count(before) * len(after))
    return text.replace(before, after, count)


def _tojson(value: object, indent: int | None = None) -> str:
    measure(value)
    return json.dumps(
        value, ensure_ascii=False, indent=None if indent is None else min(int(indent), 8)
    )


def _small(value: Any) -> Any:  # any number, which is returned as it is
    if isinstance(value, int) and value.bit_length() > _INT_BITS_MAX:
        raise RefusedError(f"computes a number of more than {_INT_BITS_MAX} bits")
    return value


_OWN_FILTERS: Final[dict[str, Callable[..., object]]] = {
    "join": _join,
    "replace": _replace,
    "string": _output,
    "tojson": _tojson,
}


def _check_operands(operator: str, left: object, right: object) -> None:
    """Refuse the operations whose result can be far larger than their operands."""
    if operator == "%" and isinstance(left, str):
        raise RefusedError("formats text with %")
    are_whole = isinstance(_small(left), int) and isinstance(_small(right), int)
    if are_whole and _bits_of(operator, left, right) > _INT_BITS_MAX:
        raise RefusedError(f"computes a number of more than {_INT_BITS_MAX} bits")
    # "ab" * 3 is 3 * "ab", and a list is repeated in the same way.
    for value, factor in ((left, right), (right, left)):
        size = 0
        if isinstance(value, str):
            size = len(value)
        elif isinstance(value, list | tuple):
            size = ELEMENT_CHARS * len(value)
        times = factor if operator == "*" and isinstance(factor, int) else 1
        spend(size * max(times, 0))


def _bits_of(operator: str, left: Any, right: Any) -> int:  # whole numbers
    """Return an upper bound of the size of a power or a product; 0 for any other operation."""
    # A number of b bits is below 2**b: to the power of n it has b * n bits at most.
    if operator == "**":
        return int(left.bit_length() * abs(right))
    return int(left.bit_length() + right.bit_length()) if operator == "*" else 0


class _Sandbox(ImmutableSandboxedEnvironment):
    intercepted_binops = frozenset({"+", "-", "*", "/", "//", "**", "%"})
    spend = staticmethod(spend)
    concat_values = staticmethod(_concat)

    def call_binop(self, context: Context, operator: str, left: object, right: object) -> object:
        _check_operands(operator, left, right)
        return super().call_binop(context, operator, left, right)

    def wrap_str_format(self, value: object) -> None:
        """Return None: `is_safe_attribute` refuses ``str.format``."""

    def is_safe_attribute(self, obj: object, attr: str, value: object) -> bool:
        if isinstance(obj, _DATA):
            return any(isinstance(obj, kind) and attr in names for kind, names in _METHODS.items())
        return super().is_safe_attribute(obj, attr, value)

    def getattr(self, obj: object, attribute: str) -> object:
        # A field called `items` or `values` before the method of that name.
        if isinstance(obj, dict) and attribute in obj:
            return obj[attribute]
        return super().getattr(obj, attribute)

    def call(self, context: Context, function: object, /, *args: Any, **kwargs: Any) -> object:
        # The methods of texts whose result can be far larger than their operands.
        owner, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
        if isinstance(owner, str) and name == "join":
            return _join(args[0], owner)
        if isinstance(owner, str) and name == "replace":
            return _replace(owner, *args)
        return super().call(context, function, *args, **kwargs)


@functools.cache
def _environment() -> Environment:
    environment = _Sandbox(
        undefined=StrictUndefined,
        autoescape=False,
        keep_trailing_newline=True,
        loader=None,
        finalize=_output,
    )
    environment.filters = {
        **{name: environment.filters[name] for name in _FILTERS.split()},
        **_OWN_FILTERS,
    }
    environment.globals = {
        name: environment.globals[name] for name in ("range", "dict", "namespace")
    }
    return environment


def compile_jinja(
    text: str, name: str
) -> tuple[frozenset[str], Callable[[Mapping[str, object]], str]]:
    """Compile a template; return the fields that it names, and the function that fills it.

    Raises:
        PromptError: It cannot be parsed, or uses a forbidden feature.
    """
    environment = _environment()
    with work_budget():
        try:
            tree = environment.parse(text)
            fields = meta.find_undeclared_variables(tree) - set(environment.globals)
            code = environment.compile(_guard(tree, environment), filename=_LINE_MARK)
        except Exception as error:
            raise _jinja_error(name, error, {}) from error
    compiled = environment.template_class.from_code(environment, code, dict(environment.globals))
    return frozenset(fields), functools.partial(_fill_jinja, name, compiled)


def _guard(tree: nodes.Template, environment: Environment) -> nodes.Template:
    """Return the tree with its loops and calls counted; refuse references to other files."""
    for node in tree.find_all((nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)):
        raise RefusedError("names another template; includes are not supported", node.lineno)
    # Each pass of a body pays for the plain text in it. One that is empty still costs a character,
    # see `spend`: loops in loops would run for hours and write nothing.
    bodies: tuple[type[Any], ...] = (nodes.For, nodes.Macro, nodes.CallBlock)
    for node in tree.find_all(bodies):
        n_chars = sum(len(data.data) for data in node.find_all(nodes.TemplateData))
        payment = _call("spend", [nodes.Const(n_chars, lineno=node.lineno)], node.lineno)
        node.body.insert(0, nodes.ExprStmt(payment, lineno=node.lineno))
    guarded: nodes.Template = _Guard().visit(tree)
    guarded.set_environment(environment)
    return guarded


def _call(attribute: str, arguments: list[nodes.Expr], line: int) -> nodes.Call:
    target = nodes.EnvironmentAttribute(attribute, lineno=line)
    return nodes.Call(target, arguments, [], None, None, lineno=line)


class _Guard(NodeTransformer):
    """Counts what ``~`` writes, which the sandbox does not see."""

    def visit_Concat(self, node: nodes.Concat) -> nodes.Call:  # noqa: N802 - jinja2 looks it up by this name
        self.generic_visit(node)
        return _call("concat_values", node.nodes, node.lineno)


def _fill_jinja(name: str, compiled: Template, values: Mapping[str, object]) -> str:
    pieces: list[str] = []
    n_chars = 0
    with work_budget():
        try:
            for piece in compiled.generate(dict(values)):
                pieces.append(piece)
                n_chars += len(piece)
                if n_chars > OUTPUT_CHARS_MAX:
                    raise RefusedError(f"gives more than {OUTPUT_CHARS_MAX} characters")
        except Exception as error:
            raise _jinja_error(name, error, values) from error
    return "".join(pieces)


def _jinja_error(name: str, error: Exception, values: Mapping[str, object]) -> PromptError:
    undefined = re.fullmatch(r"'(\w+)' is undefined", str(error))
    if undefined:
        return missing_field(name, undefined[1], values)
    # The innermost line of the template in the traceback, as for errors of filters.
    line = getattr(error, "lineno", None)
    traceback = error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == _LINE_MARK:
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    where = f'template "{name}"' + (f", line {line}" if line else "")
    if isinstance(error, RefusedError):
        return PromptError(f"{where}: it {error}")
    return PromptError(f"{where}: {type(error).__name__}: {str(error)[:300]}")
