"""Writes a benchmark file: ten lines as a person would write them, for a person to go on editing.

Everything that comes from the user or the data is written as a Python literal, never pasted as
code.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Final

from nel import plugins
from nel.core.texts import slug
from nel.errors import ConfigError, OutputError

_PUBLIC: Final = ("answer_line", "fuzzy_match", "math_equal", "multichoice_regex", "numeric_match")
_BYOB: Final = (
    "bleu", "boolean_yesno", "chrf", "contains", "exact_match", "f1_token", "gsm8k_answer", "mcq_letter_extract",
    "regex_match", "rouge",
)  # fmt: skip
SCORERS: Final = (*sorted((*_PUBLIC, *_BYOB)), "custom")
"""What a new benchmark can be scored with; ``custom`` writes a function to be filled in."""
_CUSTOM_BODY: Final = """\
    response = sample.response.strip()
    gold = str(sample.target).strip()
    return {
        "correct": bool(response) and response.lower() == gold.lower(),  # the rule: make it yours
    }""".splitlines()


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A benchmark that was not written yet."""

    name: str
    description: str
    dataset: str
    """A path relative to the working directory, or a URI."""
    prompt: str
    target_field: str
    scorer: str
    """One of `SCORERS`."""
    field_mapping: Mapping[str, str] = field(default_factory=dict)
    choices_field: str | None = None
    list_fields: tuple[str, ...] = ()
    category_field: str | None = None


def plain_name(text: str) -> str:
    """Return a text folded to what a benchmark may be called.

    Raises:
        ConfigError: Nothing is left of it.
    """
    name = slug(text).strip("-_")
    if not name:
        raise ConfigError(f"{text!r} is not a name for a benchmark; use letters, digits, - and _")
    return name


def file_of(name: str, output: Path | None) -> Path:
    """Return where the file of a benchmark is written.

    It never has the name of a module of Python or of an installed package, which programs started
    in its directory would import in its place.

    Raises:
        ConfigError: The given path has such a name.
        OutputError: There is a file at the given path.
    """
    if output is not None and output.exists():
        raise _there_already(output)
    path = output or Path(f"{name.replace('-', '_')}.py")
    if path.stem not in sys.stdlib_module_names and path.stem not in packages_distributions():
        return path
    alternative = path.with_stem(f"{path.stem}_benchmark")
    if output is not None:
        raise ConfigError(
            f"{path.name} would stand in the place of the module {path.stem} for programs started"
            f" in its directory; give another name: --output {alternative}"
        )
    return alternative


def file_text(draft: Draft, path: Path) -> str:
    """Return the text of the benchmark file that will stand at a path."""
    names = sorted({"ScorerInput", "benchmark", "scorer", *({draft.scorer} & set(_PUBLIC))})
    imports = [f"from nel import {', '.join(names)}"]
    if draft.scorer in _BYOB:
        imports.append(f"from nel.byob.scorers import {draft.scorer}")
    body = _CUSTOM_BODY if draft.scorer == "custom" else [f"    return {draft.scorer}(sample)"]
    about = " ".join(draft.description.replace('"', "'").split()).rstrip(".")
    doc = repr(f"{about[:1].upper()}{about[1:]}.")[1:-1]
    return "\n".join([
        f'"""{doc}"""', "", *imports, "", "", "@benchmark(", *_arguments(draft, path), ")", "@scorer",
        f"def {_identifier(draft.name)}(sample: ScorerInput) -> dict:", f'    """{doc}"""', *body, "",
    ])  # fmt: skip


def _arguments(draft: Draft, path: Path) -> list[str]:
    mapping = {column: name for column, name in draft.field_mapping.items() if column != name}
    target = mapping.get(draft.target_field, draft.target_field)
    lines = [
        f"    name={_literal(draft.name)},",
        f"    dataset={_literal(_dataset(draft.dataset, path))},",
        *_prompt_lines(draft.prompt),
        f"    target_field={_literal(target)},",
    ]
    if mapping:
        items = ", ".join(
            f"{_literal(column)}: {_literal(name)}" for column, name in mapping.items()
        )
        lines.append(f"    field_mapping={{{items}}},")
    if draft.choices_field is not None:
        lines.append(f"    choices_field={_literal(draft.choices_field)},")
    if draft.list_fields:
        names = ", ".join(map(_literal, draft.list_fields))
        lines.append(f"    list_fields=[{names}],  # lists that the table has as texts")
    if draft.category_field is not None:
        lines.append(f"    category_field={_literal(draft.category_field)},")
    return lines


def write_new(path: Path, text: str) -> None:
    """Write a file that is not there yet.

    Raises:
        OutputError: It is there, or cannot be written.
    """
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise _there_already(path) from error
    except OSError as error:
        raise OutputError(
            f"cannot write {path}: {error.strerror}; choose another file with --output"
        ) from error


def _there_already(path: Path) -> OutputError:
    return OutputError(f"{path} is there already; choose another file with --output")


def _dataset(source: str, path: Path) -> str:
    """Return a dataset as the file names it: relative where it lies below the file's folder."""
    if plugins.split_uri(source) is not None:
        return source
    data, home = Path(source).expanduser().resolve(), path.expanduser().resolve().parent
    return os.fspath(data.relative_to(home)) if data.is_relative_to(home) else os.fspath(data)


def _prompt_lines(prompt: str) -> list[str]:
    parts = prompt.splitlines(keepends=True)
    if len(parts) <= 1:
        return [f"    prompt={_literal(prompt)},"]
    return ["    prompt=(", *(f"        {_literal(line)}" for line in parts), "    ),"]


def _literal(text: str) -> str:
    """Return a text as a Python literal, in double quotes where it holds none."""
    literal = repr(text)
    if '"' in text or literal[0] == '"':
        return literal
    return f'"{literal[1:-1]}"'


def _identifier(name: str) -> str:
    word = re.sub(r"\W", "_", name)
    if not word.isidentifier() or word in {"benchmark", "scorer", *SCORERS}:
        return f"bench_{word}"
    return word
