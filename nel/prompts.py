"""Prompt templates that are safe to take from strangers: plain ``{field}`` text, and sandboxed Jinja.

Owns parsing and filling in; knows nothing of rows, datasets or models. A template is compiled once, and data
is never parsed as a template, so braces, ``%s`` and backslashes in a row reach the model byte for byte. Trap:
in a plain template ``{{name}}`` is an escaped brace and not a Jinja expression; only ``{%``, ``{#`` or a file
name ending in ``.jinja`` makes a template Jinja.
"""

from __future__ import annotations

import functools
import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from nel.errors import PromptError, did_you_mean

Kind: TypeAlias = Literal["format", "jinja"]

OUTPUT_CHARS_MAX: Final = 1024 * 1024
"""The longest prompt a Jinja template may give."""
RENDER_SECONDS_MAX: Final = 1.0
"""CPU time that one Jinja rendering may take; a busy machine makes it wait, not fail."""
TEMPLATE_BYTES_MAX: Final = 1024 * 1024
"""The largest template."""
_WORK_CHARS_MAX: Final = 8 * OUTPUT_CHARS_MAX
_INT_BITS_MAX: Final = 4096

_FILE_NAMES: Final = (".txt", ".md", ".jinja", ".jinja2")
_JINJA_NAMES: Final = (".jinja", ".jinja2")
_JINJA_MARKS: Final = ("{%", "{#")
_TOKEN: Final = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_NAME: Final = re.compile(r"[^\W\d](?:[\w -]*\w)?(?:\.[^\W\d](?:[\w -]*\w)?)*")
_LOOKS_LIKE_JINJA: Final = re.compile(r"\{\{ +[\w.]+ +\}\}")
_ALLOWED: Final = "only {name} and {name.key} are allowed, and {{ or }} for a brace"
_SHOWN_MAX: Final = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A compiled template."""

    name: str
    """For messages: the file name, or what the text is used for."""
    kind: Kind
    text: str
    """The source."""
    fields: frozenset[str]
    """The top-level fields it names; Jinja may do without one that it tests with ``is defined``."""
    _fill: Callable[[Mapping[str, Any]], str] = field(repr=False, compare=False)

    def render(self, values: Mapping[str, Any]) -> str:
        """Return the text with the values filled in.

        Strings are taken as they are, numbers as Python writes them, lists and objects as JSON.

        Raises:
            PromptError: A field is missing or null, or a Jinja template failed or exceeded its limits.
        """
        return self._fill(values)


def load_template(path_or_text: str | Path, base_dir: Path | None = None, *, name: str = "prompt") -> Template:
    """Compile a template given as text, or as the name of a text, Markdown or Jinja file.

    Args:
        path_or_text: A line that ends like a file name and names a file is read; all else is a template.
        base_dir: Where a relative name is looked for before the working directory.
        name: What messages call a template given as text.

    Raises:
        PromptError: The file is missing, too large or not UTF-8, or the template is not valid.
    """
    text = str(path_or_text)
    is_path = isinstance(path_or_text, Path)
    if not is_path and ("\n" in text or not text.lower().endswith(_FILE_NAMES)):
        return compile_template(text, name=name)
    folders = [Path()] if base_dir is None else [base_dir, Path()]
    for folder in folders:
        if _is_file(folder / text):
            return compile_template(_read(folder / text, text), name=Path(text).name)
    if is_path or not re.search(r"[\s{}]", text):
        near = [entry.name for folder in folders for entry in (folder / text).parent.glob("*.*")]
        hint = did_you_mean(Path(text).name, near) or "; check the path"
        raise PromptError(f"template file {text} does not exist{hint}")
    return compile_template(text, name=name)


def is_template_file(text: str) -> bool:
    """Return whether a template is given as the path of a file that is there."""
    return "\n" not in text and text.lower().endswith(_FILE_NAMES) and _is_file(Path(text))


def compile_template(text: str, *, name: str) -> Template:
    """Compile a template: Jinja if its text or its name says so, else plain ``{field}`` text.

    Raises:
        PromptError: It is empty, too large, cannot be parsed, or uses what is not allowed.
    """
    if not text.strip():
        raise PromptError(f'template "{name}" is empty')
    if len(text) > TEMPLATE_BYTES_MAX:
        raise PromptError(f'template "{name}" is longer than {TEMPLATE_BYTES_MAX} characters')
    if name.lower().endswith(_JINJA_NAMES) or any(mark in text for mark in _JINJA_MARKS):
        return _compile_jinja(text, name)
    return _compile_format(text, name)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # too long for a name, or holds a NUL: then it is text
        return False


def _read(path: Path, shown: str) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(TEMPLATE_BYTES_MAX + 1)
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise PromptError(f"template file {shown}: invalid UTF-8 (byte {error.start + 1})") from error
    except OSError as error:
        raise PromptError(f"template file {shown} cannot be read: {error.strerror}") from error
    if len(data) > TEMPLATE_BYTES_MAX:
        raise PromptError(f"template file {shown} is larger than {TEMPLATE_BYTES_MAX} bytes")
    return text


def _missing(name: str, wanted: str, values: Mapping[str, Any]) -> PromptError:
    known = sorted(str(key) for key in values)
    hint = did_you_mean(wanted, known) or ";"
    more = f" and {len(known) - _SHOWN_MAX} more" if len(known) > _SHOWN_MAX else ""
    has = ", ".join(known[:_SHOWN_MAX]) or "no fields"
    return PromptError(f'template "{name}" needs the field "{wanted}", which is missing{hint} the row has {has}{more}')


# Plain templates


def _compile_format(text: str, name: str) -> Template:
    parts: list[str] = []
    slots: list[tuple[int, str]] = []
    end = 0
    for token in _TOKEN.finditer(text):
        parts.append(text[end : token.start()])
        end = token.end()
        if token[1] is None and len(token[0]) == 2:  # noqa: PLR2004 - an escaped brace
            parts.append(token[0][0])
            continue
        problem = _field_problem(token[0])
        if problem:
            line = text.count("\n", 0, token.start()) + 1
            raise PromptError(f'template "{name}", line {line}: {problem}; {_ALLOWED}')
        slots.append((len(parts), token[1]))
        parts.append("")
    parts.append(text[end:])
    if not slots and _LOOKS_LIKE_JINJA.search(text):
        raise PromptError(
            f'template "{name}" names no field: {{{{ x }}}} is an escaped brace here; write {{x}}, '
            "or put the template in a file that ends in .jinja"
        )
    fields = frozenset(path.partition(".")[0] for _, path in slots)
    fill = functools.partial(_fill_format, name, parts, slots)
    return Template(name=name, kind="format", text=text, fields=fields, _fill=fill)


def _field_problem(token: str) -> str | None:
    inside = token[1:-1]
    if len(token) == 1:
        return f'a single "{token}"'
    if not inside or inside[0].isdigit():
        return f"the positional field {token}"
    if "[" in inside:
        return f"the index in {token}"
    if "!" in inside:
        return f"the conversion in {token}"
    if ":" in inside and _NAME.fullmatch(inside.partition(":")[0]):
        return f"the format in {token}"
    if any(part.startswith("__") for part in inside.split(".")):
        return f"the private name in {token}"
    return None if _NAME.fullmatch(inside) else f"{token[:60]} is not a field name"


def _fill_format(name: str, parts: list[str], slots: list[tuple[int, str]], values: Mapping[str, Any]) -> str:
    filled = parts.copy()
    for index, path in slots:
        value = values[path] if path in values else _below(name, path, values)
        filled[index] = value if type(value) is str else _shown(name, path, value)
    return "".join(filled)


def _below(name: str, path: str, values: Mapping[str, Any]) -> Any:
    """Return the value at a dotted path of keys; attributes are never looked at."""
    value: Any = values
    for key in path.split("."):
        if not isinstance(value, Mapping) or key not in value:
            raise _missing(name, path, values)
        value = value[key]
    return value


def _shown(name: str, path: str, value: Any) -> str:
    try:
        return _text(value)
    except (_RefusedError, ValueError, TypeError, RecursionError) as error:
        raise PromptError(f'template "{name}": the field "{path}" {error}') from error


def _text(value: Any) -> str:
    if isinstance(value, str):
        return str(value)
    if value is None:
        raise _RefusedError("is null; mend the row or leave it out")
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, Mapping | list | tuple):
        _measure(value)
        return json.dumps(value, ensure_ascii=False)
    raise _RefusedError(f"is a {type(value).__name__}, which has no text form")


# Jinja templates. jinja2 is imported only here, when the first one is met.

_LINE_MARK: Final = "<nel prompt>"
_STR_METHODS: Final = (
    "capitalize count endswith find index isalnum isalpha isdecimal isdigit islower isnumeric isspace "
    "istitle isupper join lower lstrip partition removeprefix removesuffix replace rfind rindex "
    "rpartition rsplit rstrip split splitlines startswith strip swapcase title upper"
)
_FILTERS: Final = (
    "abs capitalize count d default dictsort first float groupby int items last length list lower map max "
    "min reject rejectattr reverse select selectattr sort title trim truncate unique upper wordcount"
)
"""Those of Jinja's own filters whose result is no larger than what they are given."""


class _RefusedError(Exception):
    """A template or a value did what is not allowed; the message follows the place where it did."""

    def __init__(self, message: str, lineno: int | None = None) -> None:
        super().__init__(message)
        self.lineno = lineno


@dataclass(slots=True)
class _Budget:
    deadline: float
    spent: int = 0


_BUDGET: Final[ContextVar[_Budget | None]] = ContextVar("nel_prompt_budget", default=None)


@contextmanager
def _bounded() -> Iterator[None]:
    token = _BUDGET.set(_Budget(deadline=time.thread_time() + RENDER_SECONDS_MAX))
    try:
        yield
    finally:
        _BUDGET.reset(token)


def _spend(n_chars: int) -> None:
    """Count work against the running rendering; plain templates have no budget, since they cannot amplify."""
    budget = _BUDGET.get()
    if budget is None:
        return
    budget.spent += n_chars + 1
    if budget.spent > _WORK_CHARS_MAX:
        raise _RefusedError(f"handles more than {_WORK_CHARS_MAX} characters")
    if time.thread_time() > budget.deadline:
        raise _RefusedError(f"takes longer than {RENDER_SECONDS_MAX:g} s")


def _measure(value: Any) -> None:
    """Spend the size of a value, counting what is referred to twice twice, as writing it out would."""
    pending = [value]
    while pending:
        item = pending.pop()
        _spend(len(item) if isinstance(item, str) else 8)
        if isinstance(item, Mapping):
            pending.extend(item.keys())
            pending.extend(item.values())
        elif isinstance(item, list | tuple):
            pending.extend(item)


def _output(value: Any) -> str:
    text = str(value) if type(value).__name__ == "StrictUndefined" else _text(value)  # str() says what is undefined
    _spend(len(text))
    return text


def _concat(*values: Any) -> str:
    return "".join([_output(value) for value in values])


def _join(values: Iterable[Any], separator: Any = "") -> str:
    between = _text(separator)
    parts = []
    for value in values:
        parts.append(_output(value))
        _spend(len(between))
    return between.join(parts)


def _replace(text: Any, old: Any, new: Any, count: int = -1) -> str:
    text, old, new = _text(text), _text(old), _text(new)
    _spend(len(text) + text.count(old) * len(new))
    return str(text.replace(old, new, count))


def _tojson(value: Any, indent: int | None = None) -> str:
    _measure(value)
    return json.dumps(value, ensure_ascii=False, indent=None if indent is None else min(int(indent), 8))


def _round(value: Any, precision: int = 0) -> float:
    return float(round(value, precision))


def _sum(values: Iterable[Any]) -> float:
    total: float = 0
    for value in values:
        if not isinstance(value, int | float):
            raise _RefusedError(f"sums a {type(value).__name__}")
        total += value
    return total


_OWN_FILTERS: Final[dict[str, Callable[..., Any]]] = {
    "join": _join,
    "replace": _replace,
    "round": _round,
    "string": _output,
    "sum": _sum,
    "tojson": _tojson,
}


def _check_operands(operator: str, left: Any, right: Any) -> None:
    """Refuse the operations whose result can be far larger than their operands."""
    if operator == "%" and isinstance(left, str):
        raise _RefusedError("formats text with %")
    ints = isinstance(left, int) and isinstance(right, int)
    if operator == "**" and ints and left.bit_length() * abs(right) > _INT_BITS_MAX:
        raise _RefusedError(f"computes a number of more than {_INT_BITS_MAX} bits")
    if operator == "*" and ints and left.bit_length() + right.bit_length() > _INT_BITS_MAX:
        raise _RefusedError(f"computes a number of more than {_INT_BITS_MAX} bits")
    sizes = [len(value) for value in (left, right) if isinstance(value, str | list | tuple)]
    if operator == "+":
        _spend(sum(sizes))
    elif operator == "*" and sizes:
        times = right if isinstance(right, int) else left
        _spend(sizes[0] * max(times, 0) if isinstance(times, int) else 0)


@functools.cache
def _environment() -> Any:
    from jinja2 import StrictUndefined  # noqa: PLC0415 - only when a Jinja template is met
    from jinja2.sandbox import ImmutableSandboxedEnvironment  # noqa: PLC0415 - as above

    class Sandbox(ImmutableSandboxedEnvironment):
        intercepted_binops = frozenset({"+", "*", "**", "%"})
        spend = staticmethod(_spend)
        concat_values = staticmethod(_concat)

        def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
            _check_operands(operator, left, right)
            return super().call_binop(context, operator, left, right)

        def wrap_str_format(self, value: Any) -> None:
            """Leave ``str.format`` to `is_safe_attribute`, which refuses it."""

        def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
            known = not isinstance(obj, str) or attr in _STR_METHODS.split()
            return known and super().is_safe_attribute(obj, attr, value)

        def getattr(self, obj: Any, attribute: str) -> Any:
            return obj[attribute] if isinstance(obj, dict) and attribute in obj else super().getattr(obj, attribute)

        def call(self, context: Any, function: Any, /, *args: Any, **kwargs: Any) -> Any:
            _spend(0)
            owner, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
            if isinstance(owner, str) and name == "join":
                return _join(args[0], owner)
            if isinstance(owner, str) and name == "replace":
                return _replace(owner, *args)
            return super().call(context, function, *args, **kwargs)

    environment = Sandbox(
        undefined=StrictUndefined, autoescape=False, keep_trailing_newline=True, loader=None, finalize=_output
    )
    environment.filters = {name: environment.filters[name] for name in _FILTERS.split()} | _OWN_FILTERS
    environment.globals = {name: environment.globals[name] for name in ("range", "dict", "namespace")}
    return environment


def _compile_jinja(text: str, name: str) -> Template:
    from jinja2 import meta  # noqa: PLC0415 - only when a Jinja template is met

    environment = _environment()
    with _bounded():
        try:
            tree = environment.parse(text)
            fields = meta.find_undeclared_variables(tree) - set(environment.globals)
            code = environment.compile(_guarded(tree, environment), filename=_LINE_MARK)
        except Exception as error:
            raise _jinja_error(name, error, {}) from error
    compiled = environment.template_class.from_code(environment, code, dict(environment.globals))
    fill = functools.partial(_fill_jinja, name, compiled)
    return Template(name=name, kind="jinja", text=text, fields=frozenset(fields), _fill=fill)


def _guarded(tree: Any, environment: Any) -> Any:
    """Return the tree with each loop and macro counted, each ``~`` measured, and no way to other files."""
    from jinja2 import nodes  # noqa: PLC0415 - only when a Jinja template is met
    from jinja2.visitor import NodeTransformer  # noqa: PLC0415 - as above

    def call(attribute: str, arguments: list[Any], line: int) -> Any:
        target = nodes.EnvironmentAttribute(attribute, lineno=line)
        return nodes.Call(target, arguments, [], None, None, lineno=line)

    class Guard(NodeTransformer):
        def visit_Concat(self, node: Any) -> Any:  # noqa: N802 - jinja2 looks it up by this name
            self.generic_visit(node)
            return call("concat_values", node.nodes, node.lineno)

    for node in tree.find_all((nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)):
        raise _RefusedError("names another template; a template stands alone", node.lineno)
    for node in tree.find_all((nodes.For, nodes.Macro, nodes.CallBlock)):
        n_chars = sum(len(data.data) for data in node.find_all(nodes.TemplateData))
        spend = call("spend", [nodes.Const(n_chars, lineno=node.lineno)], node.lineno)
        node.body.insert(0, nodes.ExprStmt(spend, lineno=node.lineno))
    return Guard().visit(tree).set_environment(environment)


def _fill_jinja(name: str, compiled: Any, values: Mapping[str, Any]) -> str:
    pieces: list[str] = []
    n_chars = 0
    with _bounded():
        try:
            for piece in compiled.generate(dict(values)):
                pieces.append(piece)
                n_chars += len(piece)
                if n_chars > OUTPUT_CHARS_MAX:
                    raise _RefusedError(f"gives more than {OUTPUT_CHARS_MAX} characters")
        except Exception as error:
            raise _jinja_error(name, error, values) from error
    return "".join(pieces)


def _jinja_error(name: str, error: Exception, values: Mapping[str, Any]) -> PromptError:
    undefined = re.fullmatch(r"'(\w+)' is undefined", str(error))
    if undefined:
        return _missing(name, undefined[1], values)
    line = getattr(error, "lineno", None)
    traceback = error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == _LINE_MARK:
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    where = f'template "{name}"' + (f", line {line}" if line else "")
    if isinstance(error, _RefusedError):
        return PromptError(f"{where}: it {error}")
    return PromptError(f"{where}: {type(error).__name__}: {str(error)[:300]}")
