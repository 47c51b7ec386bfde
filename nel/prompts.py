"""Prompt templates that are safe to run when untrusted: plain ``{field}`` text, and sandboxed Jinja.

A template is compiled once, and data is never parsed as a template, so braces, ``%s`` and backslashes in a row reach
the model byte for byte. In a plain template ``{{name}}`` is an escaped brace and not a Jinja expression; only ``{%``,
``{#`` or a file name ending in ``.jinja`` makes a template Jinja.
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
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from nel.errors import PromptError, did_you_mean

if TYPE_CHECKING:
    from jinja2 import Environment, nodes
    from jinja2 import Template as JinjaTemplate
    from jinja2.runtime import Context

Kind: TypeAlias = Literal["format", "jinja"]

OUTPUT_CHARS_MAX: Final = 1024 * 1024
"""The longest prompt that a Jinja template may render."""
RENDER_SECONDS_MAX: Final = 1.0
"""CPU time limit of one Jinja rendering; time spent waiting for a CPU is not counted."""
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
    """For messages: the file name, or the use of the text."""
    kind: Kind
    text: str
    """The source."""
    fields: frozenset[str]
    """The top-level fields that it names; Jinja does not need one that it tests with ``is defined``."""
    _fill: Callable[[Mapping[str, object]], str] = field(repr=False, compare=False)

    def render(self, values: Mapping[str, object]) -> str:
        """Return the text with the values filled in.

        Strings are inserted unchanged, numbers in Python's notation, lists and objects as JSON.

        Raises:
            PromptError: A field is missing or null, or a Jinja template failed or exceeded its limits.
        """
        return self._fill(values)


def load_template(path_or_text: str | Path, base_dir: Path | None = None, *, name: str = "prompt") -> Template:
    """Compile a template given as text, or as the name of a text, Markdown or Jinja file.

    Args:
        path_or_text: A line that ends like a file name and names a file is read; anything else is a template.
        base_dir: Folder that is searched for a relative name before the working directory.
        name: Name of a template given as text, for messages.

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
    """Return whether a template is given as the path of an existing file."""
    return "\n" not in text and text.lower().endswith(_FILE_NAMES) and _is_file(Path(text))


def compile_template(text: str, *, name: str) -> Template:
    """Compile a template: Jinja by its text or its name, else plain ``{field}`` text.

    Raises:
        PromptError: It is empty, too large, cannot be parsed, or uses a forbidden feature.
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
    except (OSError, ValueError):  # too long for a file name, or holds a NUL: a template text
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


def _missing(name: str, wanted: str, values: Mapping[str, object]) -> PromptError:
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


def _fill_format(name: str, parts: list[str], slots: list[tuple[int, str]], values: Mapping[str, object]) -> str:
    filled = parts.copy()
    for index, path in slots:
        value = values[path] if path in values else _below(name, path, values)
        filled[index] = value if type(value) is str else _shown(name, path, value)
    return "".join(filled)


def _below(name: str, path: str, values: Mapping[str, object]) -> object:
    """Return the value at a dotted path of keys; attributes are never read."""
    value: object = values
    for key in path.split("."):
        if not isinstance(value, Mapping) or key not in value:
            raise _missing(name, path, values)
        value = value[key]
    return value


def _shown(name: str, path: str, value: object) -> str:
    try:
        return _text(value)
    except (_RefusedError, ValueError, TypeError, RecursionError) as error:
        raise PromptError(f'template "{name}": the field "{path}" {error}') from error


def _text(value: object) -> str:
    if isinstance(value, str):
        return str(value)
    if value is None:
        raise _RefusedError("is null; fix the row or leave it out")
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, Mapping | list | tuple):
        _measure(value)
        return json.dumps(value, ensure_ascii=False)
    raise _RefusedError(f"is a {type(value).__name__}, which has no text form")


# Jinja templates. jinja2 is imported when the first one is compiled.

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
"""Jinja's own filters whose result is no larger than their input."""


class _RefusedError(Exception):
    """A template or a value violated a limit; the message continues a sentence that names the place."""

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
    """Count work against the budget of the current rendering; plain templates have none, since they cannot amplify."""
    budget = _BUDGET.get()
    if budget is None:
        return
    budget.spent += n_chars + 1
    if budget.spent > _WORK_CHARS_MAX:
        raise _RefusedError(f"handles more than {_WORK_CHARS_MAX} characters")
    if time.thread_time() > budget.deadline:
        raise _RefusedError(f"takes longer than {RENDER_SECONDS_MAX:g} s")


def _measure(value: object) -> None:
    """Spend the size of a value, counting an object once for each reference, as serializing it would."""
    pending: list[object] = [value]
    while pending:
        item = pending.pop()
        _spend(len(item) if isinstance(item, str) else 8)
        if isinstance(item, Mapping):
            pending.extend(item.keys())
            pending.extend(item.values())
        elif isinstance(item, list | tuple):
            pending.extend(item)


def _output(value: object) -> str:
    text = (
        str(value) if type(value).__name__ == "StrictUndefined" else _text(value)
    )  # str() raises with the undefined name
    _spend(len(text))
    return text


def _concat(*values: object) -> str:
    return "".join([_output(value) for value in values])


def _join(values: Iterable[object], separator: object = "") -> str:
    between = _text(separator)
    parts = []
    for value in values:
        parts.append(_output(value))
        _spend(len(between))
    return between.join(parts)


def _replace(value: object, old: object, new: object, count: int = -1) -> str:
    text, before, after = _text(value), _text(old), _text(new)
    _spend(len(text) + text.count(before) * len(after))
    return text.replace(before, after, count)


def _tojson(value: object, indent: int | None = None) -> str:
    _measure(value)
    return json.dumps(value, ensure_ascii=False, indent=None if indent is None else min(int(indent), 8))


def _round(value: float, precision: int = 0) -> float:
    return float(round(value, precision))


def _sum(values: Iterable[object]) -> float:
    total: float = 0
    for value in values:
        if not isinstance(value, int | float):
            raise _RefusedError(f"sums a {type(value).__name__}")
        total += value
    return total


_OWN_FILTERS: Final[dict[str, Callable[..., object]]] = {
    "join": _join,
    "replace": _replace,
    "round": _round,
    "string": _output,
    "sum": _sum,
    "tojson": _tojson,
}


def _check_operands(operator: str, left: object, right: object) -> None:
    """Refuse the operations whose result can be far larger than their operands."""
    if operator == "%" and isinstance(left, str):
        raise _RefusedError("formats text with %")
    if isinstance(left, int) and isinstance(right, int) and _bits_of(operator, left, right) > _INT_BITS_MAX:
        raise _RefusedError(f"computes a number of more than {_INT_BITS_MAX} bits")
    sizes = [len(value) for value in (left, right) if isinstance(value, str | list | tuple)]
    if operator == "+":
        _spend(sum(sizes))
    elif operator == "*" and sizes:
        times = right if isinstance(right, int) else left
        _spend(sizes[0] * max(times, 0) if isinstance(times, int) else 0)


def _bits_of(operator: str, left: int, right: int) -> int:
    """Return an upper bound of the size of a power or a product; 0 for any other operation."""
    if operator == "**":
        return left.bit_length() * abs(right)
    return left.bit_length() + right.bit_length() if operator == "*" else 0


@functools.cache
def _environment() -> Environment:
    from jinja2 import StrictUndefined  # noqa: PLC0415 - only when a Jinja template is used
    from jinja2.sandbox import ImmutableSandboxedEnvironment  # noqa: PLC0415 - as above

    class Sandbox(ImmutableSandboxedEnvironment):
        intercepted_binops = frozenset({"+", "*", "**", "%"})
        spend = staticmethod(_spend)
        concat_values = staticmethod(_concat)

        def call_binop(self, context: Context, operator: str, left: object, right: object) -> object:
            _check_operands(operator, left, right)
            return super().call_binop(context, operator, left, right)

        def wrap_str_format(self, value: object) -> None:
            """Return None: `is_safe_attribute` refuses ``str.format``."""

        def is_safe_attribute(self, obj: object, attr: str, value: object) -> bool:
            known = not isinstance(obj, str) or attr in _STR_METHODS.split()
            return known and super().is_safe_attribute(obj, attr, value)

        def getattr(self, obj: object, attribute: str) -> object:
            return obj[attribute] if isinstance(obj, dict) and attribute in obj else super().getattr(obj, attribute)

        def call(self, context: Context, function: object, /, *args: Any, **kwargs: Any) -> object:  # of a template
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
    from jinja2 import meta  # noqa: PLC0415 - only when a Jinja template is used

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


def _guarded(tree: nodes.Template, environment: Environment) -> nodes.Template:
    """Return the tree with loops and macros counted and each ``~`` measured; refuse references to other files."""
    from jinja2 import nodes  # noqa: PLC0415 - only when a Jinja template is used
    from jinja2.visitor import NodeTransformer  # noqa: PLC0415 - as above

    def call(attribute: str, arguments: list[nodes.Expr], line: int) -> nodes.Call:
        target = nodes.EnvironmentAttribute(attribute, lineno=line)
        return nodes.Call(target, arguments, [], None, None, lineno=line)

    class Guard(NodeTransformer):
        def visit_Concat(self, node: nodes.Concat) -> nodes.Call:  # noqa: N802 - jinja2 looks it up by this name
            self.generic_visit(node)
            return call("concat_values", node.nodes, node.lineno)

    for node in tree.find_all((nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)):
        raise _RefusedError("names another template; includes are not supported", node.lineno)
    counted: list[nodes.For | nodes.Macro | nodes.CallBlock]
    counted = [*tree.find_all(nodes.For), *tree.find_all(nodes.Macro), *tree.find_all(nodes.CallBlock)]
    for node in counted:
        n_chars = sum(len(data.data) for data in node.find_all(nodes.TemplateData))
        spend = call("spend", [nodes.Const(n_chars, lineno=node.lineno)], node.lineno)
        node.body.insert(0, nodes.ExprStmt(spend, lineno=node.lineno))
    guarded: nodes.Template = Guard().visit(tree)
    guarded.set_environment(environment)
    return guarded


def _fill_jinja(name: str, compiled: JinjaTemplate, values: Mapping[str, object]) -> str:
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


def _jinja_error(name: str, error: Exception, values: Mapping[str, object]) -> PromptError:
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
