"""The keys of the configuration that flags set, and the values that they set there.

The command line makes its options of `settings`; a flag is declared beside its field and nowhere
else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias, get_origin

from pydantic.fields import FieldInfo

from nel.config.schema import Flag, RunConfig, Strict
from nel.config.schema.strict import kinds_of
from nel.errors import ConfigError

Path: TypeAlias = tuple[str, ...]
"""Keys from the top of the configuration; positions in lists are keys too."""
EACH = "*"
"""In a path: every entry of a list."""
_WITHOUT_FLAGS = ("endpoints",)
"""Sections that only a file describes; their models have the flags of another section."""
_KINDS: tuple[type, ...] = (bool, int, float, str)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A key of the configuration that a flag sets."""

    path: Path
    flag: Flag
    kind: type
    """bool, int, float or str; of each value where it is a list."""
    is_list: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """A value that was given to a key, and by which flag."""

    flag: str
    path: Path
    value: object
    one_benchmark: bool = False
    """As in `Flag`."""


@cache
def settings() -> tuple[Setting, ...]:
    """Return every setting with a flag, in the order of the schema."""
    return tuple(_settings())


def sections() -> dict[str, type[Strict]]:
    """Return the models of the configuration's sections by their keys."""
    models = {}
    for name, field in RunConfig.model_fields.items():
        if (model := _model_of(field)) is not None:
            models[name] = model
    return models


def flag_assignments(values: Mapping[str, object]) -> list[Assignment]:
    """Return what flags set; a flag that was not given, or is false or empty, sets nothing.

    Args:
        values: By the flag's name.

    Raises:
        ConfigError: Flags that describe the entries of one list do not fit each other.
    """
    single_values = []
    lists: dict[Path, dict[str, Flag]] = {}
    for setting in settings():
        flag, path = setting.flag, setting.path
        value = values.get(flag.name)
        if flag.item_key is not None:
            lists.setdefault(path, {})[flag.item_key] = flag
        elif not (value is None or value is False or value == []):
            single_values.append(
                Assignment(flag=flag.name, path=path, value=value, one_benchmark=flag.one_benchmark)
            )
    # Lists come first, since other flags set keys of their entries.
    list_values: list[Assignment] = []
    for path, flags in lists.items():
        list_values += _entries(path, flags, values)
    return list_values + single_values


def _settings() -> Iterator[Setting]:
    for name, field in RunConfig.model_fields.items():
        yield from _of_field(field, (name,))
        section = _model_of(field)
        if section is None or name in _WITHOUT_FLAGS:
            continue
        # A flag of an entry of a list sets its key in every entry.
        prefix = (name, EACH) if get_origin(field.annotation) is list else (name,)
        for key, section_field in section.model_fields.items():
            yield from _of_field(section_field, (*prefix, key))


def _of_field(field: FieldInfo, path: Path) -> Iterator[Setting]:
    kinds = kinds_of(field.annotation)
    is_list = any(get_origin(kind) in (list, tuple) for kind in kinds)
    # Of `int | None` it is int; a Literal, which has none of these types, is of texts.
    value_kind = next((kind for kind in _KINDS if kind in kinds), str)
    for flag in field.metadata:
        if isinstance(flag, Flag):
            kind = str if flag.item_key else value_kind
            yield Setting(path=path, flag=flag, kind=kind, is_list=is_list)


def _model_of(field: FieldInfo) -> type[Strict] | None:
    """Return the model of a field, or of the entries of its list; None for values and mappings."""
    if get_origin(field.annotation) is dict:
        return None
    for kind in kinds_of(field.annotation):
        if isinstance(kind, type) and issubclass(kind, Strict):
            return kind
    return None


def _entries(
    path: Path, flags: Mapping[str, Flag], flag_values: Mapping[str, object]
) -> list[Assignment]:
    """Return the list that repeatable flags describe, then each value in it with its own flag.

    The flags of required keys are given once for each entry; the others too, or once for all.
    """
    values: dict[str, Sequence[object]] = {}
    for key, flag in flags.items():
        value = flag_values.get(flag.name)
        values[key] = value if isinstance(value, list) else []
    if not any(values.values()):
        return []
    required = [key for key, flag in flags.items() if _item_field(path, key).is_required()]
    for key in required:
        if not values[key]:
            together = " and ".join(flags[key_name].name for key_name in required)
            raise ConfigError(f"{together} are given together; {flags[key].name} is missing")
    # Of --judge-url and --judge-id, which both are required, the second numbers the entries: one
    # URL may serve several models.
    main = flags[required[-1]]
    count = len(values[required[-1]])
    for key, column in values.items():
        if len(column) not in (0, 1, count):
            raise ConfigError(
                f"{flags[key].name} is given {len(column)} times and {main.name} {count} times;"
                " give it once, or as often"
            )
    entries: list[dict[str, object]] = []
    assignments = [Assignment(flag=main.name, path=path, value=entries)]
    for index in range(count):
        entry = {}
        for key, column in values.items():
            if column:
                entry[key] = column[index] if len(column) > 1 else column[0]
                position = (*path, str(index), key)
                assignments.append(
                    Assignment(flag=flags[key].name, path=position, value=entry[key])
                )
        entries.append(entry)
    return assignments


def _item_field(path: Path, key: str) -> FieldInfo:
    model: type[Strict] = RunConfig
    for name in path:
        section = _model_of(model.model_fields[name])
        assert section is not None, f"{path} leads to no model"  # noqa: S101 - a flag with item_key in the wrong place
        model = section
    return model.model_fields[key]
