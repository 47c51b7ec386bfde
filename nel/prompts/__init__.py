"""Prompt templates that are safe when untrusted: plain ``{field}`` text, and sandboxed Jinja.

A template is compiled once, and data is never parsed as a template, so braces, ``%s`` and
backslashes in a row reach the model byte for byte. In a plain template ``{{name}}`` is an escaped
brace and not a Jinja expression; only ``{%``, ``{#`` or a file name ending in ``.jinja`` makes a
template Jinja.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, TypeAlias

from nel.errors import PromptError, did_you_mean
from nel.prompts.values import RefusedError, missing_field, text_of

Kind: TypeAlias = Literal["format", "jinja"]

TEMPLATE_BYTES_MAX: Final = 1024 * 1024
"""The largest template."""
_COMPILED_MAX: Final = 64
"""Templates that stay compiled, such as those of a run and of its judges."""

_FILE_NAMES: Final = (".txt", ".md", ".jinja", ".jinja2")
_JINJA_NAMES: Final = (".jinja", ".jinja2")
_JINJA_MARKS: Final = ("{%", "{#")
# An escaped brace, a field, or else a brace that stands alone.
_TOKEN: Final = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
# question, choices.text, High-level domain: columns of tables have spaces and hyphens
_NAME: Final = re.compile(r"[^\W\d](?:[\w -]*\w)?(?:\.[^\W\d](?:[\w -]*\w)?)*")
_LOOKS_LIKE_JINJA: Final = re.compile(r"\{\{ +[\w.]+ +\}\}")
_ALLOWED: Final = "only {name} and {name.key} are allowed, and {{ or }} for a brace"


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A compiled template."""

    name: str
    """For messages: the file name, or the use of the text."""
    kind: Kind
    text: str
    """The source."""
    fields: frozenset[str]
    """The top-level fields that it names; a row may lack those that Jinja tests for being there."""
    _fill: Callable[[Mapping[str, object]], str] = field(repr=False, compare=False)

    def render(self, values: Mapping[str, object]) -> str:
        """Return the text with the values filled in.

        Strings are inserted unchanged, numbers in Python's notation, lists and objects as JSON.

        Raises:
            PromptError: A field is missing or null, or a Jinja template failed or exceeded its
                limits.
        """
        return self._fill(values)


def load_template(
    path_or_text: str | Path, base_dir: Path | None = None, *, name: str = "prompt"
) -> Template:
    """Compile a template given as text, or as the name of a text, Markdown or Jinja file.

    Args:
        path_or_text: A line that ends like a file name and names a file is read; anything else is a
            template.
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


def portable_text(template: Template) -> str:
    """Return a text that is the same template wherever it is read.

    A file that is Jinja by its name alone gets an empty comment, which makes its text Jinja.
    """
    has_marks = any(mark in template.text for mark in _JINJA_MARKS)
    if template.kind != "jinja" or has_marks:
        return template.text
    return f"{{##}}{template.text}"


@functools.lru_cache(maxsize=_COMPILED_MAX)
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
        from nel.prompts.jinja import (  # noqa: PLC0415 - only when a Jinja template is used
            compile_jinja,
        )

        fields, fill = compile_jinja(text, name)
        return Template(name=name, kind="jinja", text=text, fields=fields, _fill=fill)
    return _compile_format(text, name)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # too long for a file name, or holds a NUL: a template text
        return False


def _read(path: Path, label: str) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(TEMPLATE_BYTES_MAX + 1)
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise PromptError(
            f"template file {label}: invalid UTF-8 (byte {error.start + 1})"
        ) from error
    except OSError as error:
        raise PromptError(f"template file {label} cannot be read: {error.strerror}") from error
    if len(data) > TEMPLATE_BYTES_MAX:
        raise PromptError(f"template file {label} is larger than {TEMPLATE_BYTES_MAX} bytes")
    return text


# Plain templates


def _compile_format(text: str, name: str) -> Template:
    # Text between the fields, and the position of each field among it with its path.
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
    if any(key.startswith("__") for key in inside.split(".")):
        return f"the private name in {token}"
    return None if _NAME.fullmatch(inside) else f"{token[:60]} is not a field name"


def _fill_format(
    name: str, parts: list[str], slots: list[tuple[int, str]], values: Mapping[str, object]
) -> str:
    filled = parts.copy()
    for index, path in slots:
        # A column may be called "a.b" itself.
        value = values[path] if path in values else _below(name, path, values)
        filled[index] = value if type(value) is str else _value_text(name, path, value)
    return "".join(filled)


def _below(name: str, path: str, values: Mapping[str, object]) -> object:
    """Return the value at a dotted path of keys; attributes are never read."""
    value: object = values
    for key in path.split("."):
        if not isinstance(value, Mapping) or key not in value:
            raise missing_field(name, path, values)
        value = value[key]
    return value


def _value_text(name: str, path: str, value: object) -> str:
    try:
        return text_of(value)
    except (RefusedError, ValueError, TypeError, RecursionError) as error:
        raise PromptError(f'template "{name}": the field "{path}" {error}') from error
