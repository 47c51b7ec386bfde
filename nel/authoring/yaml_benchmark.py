"""A benchmark in YAML: rows, a prompt or messages, and checks of the response; runs no user code.

Depends on `nel.config.exact_yaml` for values that know their line, and on `nel.scoring.checks` for
the scorer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import Any, Final

from nel.authoring.benchmark import Benchmark
from nel.config.exact_yaml import YamlEntry, read_exact
from nel.core.plugin_names import NAME_PATTERN
from nel.core.texts import slug
from nel.core.timed_regex import compile_pattern
from nel.datasets.ids import content_id
from nel.datasets.table_form import with_form
from nel.errors import ConfigError, DatasetError, PromptError, ScorerError
from nel.prompts import Template, compile_template
from nel.reading.asked import parse_asked_form
from nel.reading.numerals import parse_number
from nel.scoring.checks import KINDS, ChecksScorer, Kind, ResponseCheck
from nel.scoring.json_schema import validate_json_schema
from nel.types import Message, Row

_KEYS: Final = (
    "name",
    "description",
    "rows",
    "dataset",
    "delimiter",
    "encoding",
    "prompt",
    "messages",
    "system_prompt",
    "id_field",
    "category_field",
    "group_field",
    "images_field",
    "target_field",
    "list_fields",
    "answer_form",
    "checks",
)
_OPTIONS: Final[Mapping[Kind, tuple[str, ...]]] = {
    "contains": ("ignore_case",),
    "not_contains": ("ignore_case",),
    "regex": ("ignore_case",),
    "equals": ("ignore_case",),
    "numeric": ("tolerance",),
    "json_schema": (),
    "judge": ("threshold",),
}
_RESERVED: Final = ("score", "correct", "reward", "checks", "extracted", "parsed", "needs_judge")
"""Names that a score has for other things than one check."""
_TEXT_FIELDS: Final = (
    "description",
    "id_field",
    "category_field",
    "group_field",
    "images_field",
    "target_field",
)
"""Keys that are fields of a `Benchmark` with a text."""


@dataclass(frozen=True, kw_only=True)
class YamlBenchmark(Benchmark):
    """A benchmark of a YAML file: rows need no target, and the prompt may be several messages."""

    messages: tuple[tuple[str, Template], ...] = ()
    """Role and template of each; empty where there is a prompt."""

    @property
    def template_fields(self) -> frozenset[str]:
        """Return the fields of a row that its prompt or its messages name."""
        return super().template_fields.union(*(each.fields for _, each in self.messages))

    def _target(self, row: Mapping[str, object]) -> Any:
        return row.get("target") if self.target_field is None else super()._target(row)

    def _question(
        self, values: Mapping[str, object], shots: Sequence[Any]
    ) -> str | tuple[Message, ...]:
        if not self.messages:
            return super()._question(values, shots)
        return tuple(
            Message(role=role, content=template.render(values)) for role, template in self.messages
        )


def read_benchmark(path: Path) -> YamlBenchmark:
    """Return the benchmark that a YAML file describes.

    Raises:
        ConfigError: It cannot be read or says something else; the message names file, line and key.
    """
    top = read_exact(path.expanduser())
    keys = top.known_items(_KEYS)
    messages = _messages(keys, top)
    checks = _checks(keys["checks"]) if "checks" in keys else ()
    rows, checks_of_rows = _rows(keys, top)
    options: dict[str, Any] = {key: keys[key].text() for key in _TEXT_FIELDS if key in keys}
    if "messages" in keys:
        options["messages"] = messages
    if "messages" in keys or "images_field" in keys:
        options["protocol"] = "chat"
    if "system_prompt" in keys:
        options["system_prompt"] = _template(keys["system_prompt"])
    if "list_fields" in keys:
        options["list_fields"] = tuple(map(YamlEntry.text, keys["list_fields"].elements()))
    all_checks = chain(checks, *checks_of_rows.values())
    scorer = ChecksScorer(
        checks=checks,
        of_rows=checks_of_rows,
        asks_judge=any(check.kind == "judge" for check in all_checks),
        row_key=content_id,
    )
    return YamlBenchmark(
        name=_name(keys, path, top),
        dataset=rows,
        prompt=messages[-1][1],
        scorer=scorer,
        extra=_scorer_config(checks, checks_of_rows, keys.get("answer_form")),
        base_dir=path.expanduser().resolve().parent,
        # Rows need no gold answer: what is expected stands in the checks.
        **{"description": f"the checks of {path.name}", "target_field": None, **options},
    )


def _scorer_config(
    checks: Sequence[ResponseCheck],
    checks_of_rows: Mapping[str, tuple[ResponseCheck, ...]],
    answer_form: YamlEntry | None,
) -> dict[str, str]:
    # The scorer has the checks itself: here they become part of the run's identity.
    config = {"checks": repr(checks)}
    if checks_of_rows:
        config["checks_of_rows"] = repr(sorted(checks_of_rows.items()))
    if answer_form is not None:
        try:
            parse_asked_form(answer_form.text())
        except ConfigError as error:
            raise answer_form.problem(str(error)) from error
        config["answer_form"] = answer_form.text()
    return config


def _name(keys: Mapping[str, YamlEntry], path: Path, top: YamlEntry) -> str:
    if "name" in keys:
        name = keys["name"].text()
    else:
        name = slug(path.stem)
    if not NAME_PATTERN.fullmatch(name):
        raise keys.get("name", top).problem(
            f'"{name}" is not a name for a benchmark; use a-z, 0-9, - and _'
        )
    return name


def _messages(keys: Mapping[str, YamlEntry], top: YamlEntry) -> tuple[tuple[str, Template], ...]:
    """Return role and template of each message; a prompt is the only one of the user."""
    if ("prompt" in keys) == ("messages" in keys):
        raise top.problem("give either prompt or messages, and not both")
    if "prompt" in keys:
        return (("user", _template(keys["prompt"])),)
    messages = []
    for entry in keys["messages"].elements():
        parts = entry.known_items(("role", "content"))
        if len(parts) != 2:  # noqa: PLR2004 - the two keys above
            raise entry.problem("a message has a role and a content")
        role = parts["role"].text()
        if role not in ("system", "user", "assistant"):
            raise parts["role"].problem(
                f'the role "{role}" is unknown; use system, user or assistant'
            )
        messages.append((role, _template(parts["content"])))
    if not messages or messages[-1][0] != "user":
        raise keys["messages"].problem("the last message is the user's, which the model answers")
    return tuple(messages)


def _template(entry: YamlEntry) -> Template:
    try:
        return compile_template(entry.text(), name=entry.key)
    except PromptError as error:
        raise entry.problem(str(error)) from error


def _rows(
    keys: Mapping[str, YamlEntry], top: YamlEntry
) -> tuple[str | Callable[[], list[Row]], dict[str, tuple[ResponseCheck, ...]]]:
    """Return the dataset, and the checks of inline rows that have their own."""
    if ("rows" in keys) == ("dataset" in keys):
        raise top.problem("give either rows or dataset (a file or a URI), and not both")
    if "dataset" in keys:
        if "checks" not in keys:
            raise top.problem("checks are missing; without them no response can be scored")
        form = {key: keys[key].text() for key in ("delimiter", "encoding") if key in keys}
        return with_form(keys["dataset"].text(), form), {}
    rows: list[Row] = []
    # By the content of the row, which is all that the scorer will see of it.
    checks_by_key: dict[str, tuple[ResponseCheck, ...]] = {}
    for entry in keys["rows"].elements():
        parts = entry.items()
        row_checks = _checks(parts.pop("checks")) if "checks" in parts else ()
        if not row_checks and "checks" not in keys:
            raise entry.problem("the row has no checks, and the file has none for all rows")
        row = {key: value.data() for key, value in parts.items()}
        if any(key.startswith("_") for key in row):
            raise entry.problem("a field may not begin with _")
        key = content_id(row)
        if checks_by_key.setdefault(key, row_checks) != row_checks:
            raise entry.problem("an equal row has other checks; give the two rows an id")
        rows.append(row)
    if not rows:
        raise keys["rows"].problem("there are no rows; a benchmark needs at least one")

    def inline() -> list[Row]:
        return rows

    inline.__qualname__ = f"rows of {top.path.name}"  # what reports call the dataset
    return inline, {key: checks for key, checks in checks_by_key.items() if checks}


def _checks(entry: YamlEntry) -> tuple[ResponseCheck, ...]:
    checks: list[ResponseCheck] = []
    for element in entry.elements():
        check = _check(element)
        names = [item.name for item in checks]
        if check.name in names and "name" in element.items():
            raise element.problem(f'two checks are named "{check.name}"')
        # A second `contains` without a name is called `contains_2`.
        number = 2
        while check.name in names:
            check = replace(check, name=f"{check.kind}_{number}")
            number += 1
        checks.append(check)
    if not checks:
        raise entry.problem("the list of checks is empty")
    return tuple(checks)


def _check(entry: YamlEntry) -> ResponseCheck:
    """Return one check: its kind as a key with what it expects, and its options beside it."""
    parts = entry.items()
    kinds = [kind for kind in KINDS if kind in parts]
    if len(kinds) != 1:
        # A misspelt kind is an unknown key, and the message about that suggests the right one.
        entry.known_items((*KINDS, "name", "weight", "ignore_case", "tolerance", "threshold"))
        raise entry.problem(f"a check has exactly one of {', '.join(KINDS)}")
    kind = kinds[0]
    parts = entry.known_items((kind, "name", "weight", *_OPTIONS[kind]))
    options: dict[str, Any] = {key: parts[key].json() for key in _OPTIONS[kind] if key in parts}
    if not isinstance(options.get("ignore_case", True), bool):
        raise parts["ignore_case"].problem("write true or false")
    threshold = options.get("threshold")
    if threshold is not None and (isinstance(threshold, bool | str) or not 0 <= threshold <= 1):
        raise parts["threshold"].problem("give a number from 0 to 1")
    for key in ("tolerance", "weight"):
        if key in parts:
            options[key] = _amount(parts[key], allows_zero=key == "tolerance")
    name = parts["name"].text() if "name" in parts else kind
    if not NAME_PATTERN.fullmatch(name) or name in _RESERVED:
        raise parts["name"].problem(
            f'"{name}" cannot name a check; use a-z, 0-9, - and _, and none of {_RESERVED}'
        )
    value, field = _expectation(parts[kind], kind)
    return ResponseCheck(kind=kind, name=name, value=value, field=field, **options)


def _amount(entry: YamlEntry, *, allows_zero: bool) -> str:
    value = entry.json()
    is_number = not isinstance(value, bool | str) and value is not None
    if is_number and (value > 0 or (value == 0 and allows_zero)):
        return str(Fraction(str(value)))  # exact: 0.1 is 1/10, and not the nearest float
    raise entry.problem(f"give a number {'from' if allows_zero else 'above'} 0")


def _expectation(entry: YamlEntry, kind: Kind) -> tuple[Any, str | None]:
    """Return what a check expects, or the field of the row that holds it (``{field: answer}``)."""
    if kind == "json_schema":
        schema = entry.json()
        if not isinstance(schema, dict):
            raise entry.problem("a JSON Schema is written as keys")
        return _valid_schema(entry, schema), None
    if entry.is_mapping:
        parts = entry.known_items(("field",))
        if "field" not in parts:
            raise entry.problem("give a text, or {field: NAME} for the value in a field of the row")
        return None, parts["field"].text()
    if kind == "numeric":
        numbers = [item.json() for item in entry.elements()] if entry.is_list else entry.json()
        for item in numbers if isinstance(numbers, list) else [numbers]:
            if isinstance(item, bool) or item is None or parse_number(str(item)) is None:
                raise entry.problem(f"{item!r} is not a number")
        return numbers, None
    listed = entry.is_list and kind != "judge"
    texts = [item.text() for item in entry.elements()] if listed else [entry.text()]
    if not texts or not all(text.strip() for text in texts):
        raise entry.problem("an empty text decides nothing; give it one")
    if kind == "regex":
        _check_patterns(entry, texts)
    return texts if entry.is_list else texts[0], None


def _check_patterns(entry: YamlEntry, patterns: Sequence[str]) -> None:
    for pattern in patterns:
        try:
            compile_pattern(pattern)
        except DatasetError as error:
            raise entry.problem(str(error)) from error


def _valid_schema(entry: YamlEntry, schema: dict[str, Any]) -> dict[str, Any]:
    try:
        validate_json_schema("{}", schema)
    except ScorerError as error:
        raise entry.problem(str(error)) from error
    return schema
