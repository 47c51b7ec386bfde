"""Merges a configuration from its sources, and records which source set each key.

In increasing precedence: the user's file, the file of a run, environment variables, flags, and
``-O key.path=value``. An error names the source of the wrong key.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pydantic import ValidationError

from nel.config.numbers import number_problem, plain_int
from nel.config.openai_environment import BASE_URL, base_url
from nel.config.schema import JudgeConfig, RunConfig
from nel.config.schema.endpoint import OF_THE_HOST, split_url
from nel.config.schema.strict import KEY_ERRORS
from nel.config.settings import EACH, Assignment, Path, sections, settings
from nel.config.yaml_file import kind_of, read_value
from nel.errors import ConfigError

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_PANEL = ("judge", "panel")
_OF_ENTRIES: Final = ("generation", "judge")
"""Sections that an entry of ``benchmarks`` may have too; they win over the run's."""
_URL = ("endpoint", "url")
_PROTOCOL = ("endpoint", "protocol")
_OF_THE_MODEL = (_URL, ("endpoint", "model"))
_ROWS: Final = frozenset({"sample", "max_problems"})
"""The keys of a benchmark of which one says which rows are asked."""
DEFAULT: Final = "default"
"""The source of a value that nothing sets."""
_ADVICE: Final = {
    "string_type": "a text is wanted; put a number, a date, yes or no in quotes",
    "list_type": 'a list is wanted: each entry on a line of its own, after "- "',
    "dict_type": "keys with values are wanted: each on a line of its own, as key: value",
    "model_type": "keys with values are wanted: each on a line of its own, as key: value",
}
"""The advice for each kind of error of pydantic."""


class SourcedValue(NamedTuple):
    """A value of the configuration, and its source."""

    key: str
    """With dots: ``engine.concurrency``."""
    value: object
    source: str
    """A flag, a variable, the path of a file, or `DEFAULT`."""


class Layers:
    """The data of a configuration while its sources are merged."""

    def __init__(self, data: Mapping[str, object], where: str) -> None:
        """Begin with the data of a file, or of a call.

        Args:
            data: Copied.
            where: The name of the data in errors.
        """
        self.data = deepcopy(dict(data))
        self._first_data = data
        self._where = where
        self._sources: dict[Path, str] = {}
        """The source of each key that the first data does not set."""
        self._user_sources: set[str] = set()
        """The user's variables and file, by name."""

    def lay(self, setting: Assignment) -> None:
        """Set the key of a flag, in every entry where the path says so.

        Raises:
            ConfigError: The path leads into a value that has no keys, or the flag is for one
                benchmark of several.
        """
        if setting.path == _PANEL:
            self.data = with_panel(self.data, setting.value)
        if EACH not in setting.path:
            self._set(setting.path, setting.value, setting.flag)
            self._set_in_entries(setting.path, setting.value, setting.flag)
            return
        section, _, key = setting.path
        entries = self.data.get(section)
        if not entries:
            raise ConfigError(
                f"no entry of {section} is named for {setting.flag} to set; name one by a flag or in"
                " a file"
            )
        count = len(entries) if isinstance(entries, list) else 0
        if setting.one_benchmark and count > 1:
            raise ConfigError(
                f"{setting.flag} names the data of one benchmark and there are {count}; give -O"
                f" {section}.0.{key}=…"
            )
        for index in range(count):
            self._set((section, str(index), key), setting.value, setting.flag)

    def lay_user_settings(
        self, variables: Sequence[Assignment], file: Sequence[Assignment], *, over_first: bool
    ) -> None:
        """Set keys that flags and overrides do not set, from the user's settings for all runs.

        An API key, and other settings for one host, are used with the URL that the user set beside
        them; without one, with the URL of the run, unless the run has several.

        Args:
            variables: Of the environment; they win over the file.
            file: Of the user.
            over_first: Whether the variables win over the first data too.
        """
        layers = ((variables, over_first), (file, False))
        self._user_sources = {entry.flag for entry in (*variables, *file)}
        for layer, wins_over_first in layers:
            for entry in layer:
                if not _is_of_the_host(entry) and self._is_of_run(entry.path):
                    self._fill(entry, over_first=wins_over_first)
        endpoint = self.data.get("endpoint")
        if self._has_endpoints or not isinstance(endpoint, dict):
            return
        if not endpoint.keys() & {"url", "model"}:
            return
        for layer, wins_over_first in layers:
            # An API key must not be sent to another host than the one it was set for.
            urls = [entry.value for entry in layer if entry.path == _URL]
            if not urls or urls == [endpoint.get("url")]:
                for entry in filter(_is_of_the_host, layer):
                    self._fill(entry, over_first=wins_over_first)

    @property
    def _has_endpoints(self) -> bool:
        """Whether the run has several models, each with an endpoint of its own."""
        return bool(self.data.get("endpoints"))

    def _is_of_run(self, path: Path) -> bool:
        """Return whether a key applies to the run; each of several models has its own URL."""
        return not (self._has_endpoints and path in _OF_THE_MODEL)

    def _fill(self, entry: Assignment, *, over_first: bool) -> None:
        """Set a key unless something that wins over it has."""
        value: object = self.data
        for key in entry.path:
            # A value without keys, such as a list of judges, sets everything below it.
            if not isinstance(value, dict):
                break
            value = value.get(key)
        # By a flag or an override, of this key or of one above or below it.
        is_chosen = any(_overlap(entry.path, path) for path in self._sources)
        if value is None or (over_first and not is_chosen):
            self._set(entry.path, deepcopy(entry.value), entry.flag)

    def values(self) -> list[SourcedValue]:
        """Return every value with its source, and the defaults that a variable could replace."""
        values = {}
        for path, value in _leaves(self.data, ()):
            key = ".".join(path)
            values[key] = SourcedValue(key, value, self._source(path))
        for entry in settings():
            key = ".".join(entry.path)
            if entry.flag.has_variable and key not in values and self._is_of_run(entry.path):
                values[key] = SourcedValue(key, _default(entry.path), DEFAULT)
        return list(values.values())

    def user_settings(self) -> list[SourcedValue]:
        """Return the values that variables and the user's file set."""
        return [row for row in self.values() if row.source in self._user_sources]

    def override(self, text: str) -> None:
        """Set the key of a ``key.path=value``; the value is YAML.

        Raises:
            ConfigError: The text has another form, or leads to no position of a list.
        """
        path, separator, value = text.partition("=")
        if not separator or not path:
            raise ConfigError(
                f"-O {text}: write key=value, for example -O generation.temperature=0.7"
            )
        source = f"-O {path}=…"
        keys, read = tuple(path.split(".")), read_value(value, source)
        self._set(keys, read, source)
        self._set_in_entries(keys, read, source)

    def build(self) -> RunConfig:
        """Return the validated configuration.

        Raises:
            ConfigError: A key is unknown, missing, out of range or contradicts another; the message
                names its source.
        """
        self._use_environment()
        self._use_protocol_of_url()
        self._use_chosen_rows()
        try:
            return RunConfig.model_validate(self.data)
        except ValidationError as error:
            raise ConfigError(self._problem(error)) from error
        except ConfigError as error:
            raise ConfigError(f"{self._where}: {error}") from error

    def _use_environment(self) -> None:
        """Use OPENAI_BASE_URL for an endpoint that names a model and no URL."""
        endpoint = self.data.get("endpoint")
        if self._has_endpoints or not isinstance(endpoint, dict):
            return
        if endpoint.get("model") and not endpoint.get("url"):
            url = base_url()
            if url is not None:
                self._set(_URL, url, BASE_URL)

    def _use_protocol_of_url(self) -> None:
        """Let the protocol in which a URL of a flag or a variable ends win over the first data's.

        Without this, ``--model-url …/v1/completions`` would contradict ``protocol: chat`` of a
        file.
        """
        endpoint = self.data.get("endpoint")
        if not isinstance(endpoint, dict) or _URL not in self._sources:
            return
        _, _, protocol_of_url = split_url(str(endpoint["url"]))
        if protocol_of_url is not None and _PROTOCOL not in self._sources:
            endpoint.pop("protocol", None)

    def _use_chosen_rows(self) -> None:
        """Let a flag that says which rows are asked win over another way in the first data."""
        for at, entry in self._entries("benchmarks"):
            chosen = [key for key in _ROWS if (*at, key) in self._sources]
            if len(chosen) == 1:
                for key in _ROWS - {*chosen}:
                    entry.pop(key, None)

    def _set(self, path: Path, value: object, source: str) -> None:
        target: object = self.data
        for depth, key in enumerate(path[:-1], start=1):
            target = self._step(target, key, path[:depth], source)
        if isinstance(target, list):
            target[_index(target, path[-1], source)] = value
        elif isinstance(target, dict):
            target[path[-1]] = value
        # Values below the path were replaced, and their sources with them.
        self._sources = {
            key: name for key, name in self._sources.items() if key[: len(path)] != path
        }
        self._sources[path] = source

    def _set_in_entries(self, path: Path, value: object, source: str) -> None:
        """Let a setting for all benchmarks or endpoints win over their entries in a file."""
        section, *keys = path
        # Where an entry leaves the key out, the setting for all holds already.
        if section == "endpoint":
            for at, entry in self._entries("endpoints"):
                if keys and entry.get(keys[0]) not in (None, {}):
                    self._set((*at, *keys), value, source)
        if section not in _OF_ENTRIES:
            return
        for at, entry in self._entries("benchmarks"):
            entry_section = entry.get(section)
            if not isinstance(entry_section, dict):
                continue
            if not keys:
                del entry[section]
            elif path == _PANEL:
                entry[section] = _without_panel(entry_section)
            elif keys[0] != "panel" and entry_section.get(keys[0]) not in (None, {}):
                self._set((*at, *path), value, source)

    def _entries(self, section: str) -> Iterator[tuple[Path, dict[str, Any]]]:
        """Yield the entries of a list that have keys, with their paths."""
        entries = self.data.get(section)
        for index, entry in enumerate(entries if isinstance(entries, list) else ()):
            if isinstance(entry, dict):
                yield (section, str(index)), entry

    def _step(self, target: object, key: str, path: Path, source: str) -> object:
        """Return the value of a key; a mapping is created where there is none."""
        if isinstance(target, list):
            index = _index(target, key, source)
            # `benchmarks: [gsm8k]` gives a name alone; with a key below it, it becomes an entry.
            if isinstance(target[index], str):
                target[index] = {"name": target[index]}
            return target[index]
        assert isinstance(target, dict), "the step before returned no mapping"  # noqa: S101 - a bug of ours
        if target.get(key) is None:
            target[key] = {}
            self._sources[path] = source
        entry = target[key]
        if not isinstance(entry, (dict, list)):
            raise ConfigError(f'{source}: "{key}" holds {kind_of(entry)}, which has no keys')
        return entry

    def _problem(self, error: ValidationError) -> str:
        """Return the first error with its source, and without the value, which may be a secret."""
        problem = error.errors(include_url=False)[0]
        path, message = _key_path(problem), _message(problem)
        source = self._where if problem["type"] == "missing" else self._source(path)
        if problem["type"] == "unknown_key":
            message = _with_section(path[-1], message)
        location = ".".join(str(key) for key in problem["loc"])
        # An override's own words name the key already.
        overrides = (f"-O {location}=…", f"-O {'.'.join(path)}=…")
        if location and source not in overrides:
            message = f"{location}: {message}"
        return f"{source}: {message}{_more(error)}"

    def _source(self, key_path: Path) -> str:
        """Return the source of a key; of a whole section, all sources of its keys."""
        depth = len(key_path)
        # What set keys below it.
        names = [name for path, name in self._sources.items() if path[:depth] == key_path]
        parents = [path for path in self._sources if _leads_to(path, key_path)]
        first_value: object = self._first_data or None
        if key_path:
            first_value = self._first_data.get(key_path[0])
        # What set the key itself: of several keys that lead to it, the nearest.
        if parents:
            names.insert(0, self._sources[max(parents, key=len)])
        elif first_value is not None:
            names.insert(0, self._where)
        return ", ".join(dict.fromkeys(names)) or self._where


def first_problem(error: ValidationError) -> str:
    """Return the first error with its key, and how many more there are; never a value."""
    problem = error.errors(include_url=False)[0]
    where = ".".join(str(key) for key in problem["loc"]) or "configuration"
    return f"{where}: {_message(problem)}{_more(error)}"


def with_panel(data: Mapping[str, object], panel: object) -> dict[str, object]:
    """Return a configuration with another panel of judges and the same settings of judging."""
    judge = data.get("judge")
    settings_of_judging = _without_panel(judge) if isinstance(judge, Mapping) else {}
    return {**data, "judge": {**settings_of_judging, "panel": deepcopy(panel)}}


def _without_panel(judge: Mapping[str, object]) -> dict[str, object]:
    """Return the settings of judging, without the panel and the keys of a single judge."""
    names = JudgeConfig.model_fields.keys() - {"panel"}
    return {key: judge[key] for key in judge if key in names}


def _key_path(problem: ErrorDetails) -> Path:
    path = tuple(str(key) for key in problem["loc"])
    if problem["type"] in KEY_ERRORS:
        return (*path, str(problem["ctx"]["key"]))
    return path


def _message(problem: ErrorDetails) -> str:
    number = number_problem(problem)
    if number is not None:
        return number.replace("is ", "the value is ", 1)
    if problem["type"] in _ADVICE:
        return _ADVICE[problem["type"]]
    message = problem["msg"].removeprefix("Value error, ")
    return f"{message[0].lower()}{message[1:]}"


def _more(error: ValidationError) -> str:
    count = error.error_count() - 1
    return f" (and {count} more)" if count else ""


def _with_section(key: str, message: str) -> str:
    """Return the message about an unknown key, with a similar key of another section if any.

    The message may already suggest a key of its own section.
    """
    sections_of_key: dict[str, list[str]] = {}
    for name, model in sections().items():
        if name != "benchmarks":
            for field in model.model_fields:
                sections_of_key.setdefault(field, []).append(name)
    likeliest = key
    if key not in sections_of_key:
        matches = get_close_matches(key, sections_of_key, n=1, cutoff=0.8)
        if not matches or "did you mean" in message:
            return message
        likeliest = matches[0]
    paths = [f"{section}.{likeliest}" for section in sections_of_key[likeliest]]
    return f'unknown key "{key}"; did you mean {" or ".join(paths)}?'


def _leads_to(path: Path, target: Path) -> bool:
    """Return whether a value at a path also set the target, which is the path or below it.

    A single judge may be given without a panel, so ``judge.url`` leads to ``judge.panel.0.url``:
    the keys of the path must occur in the target in order, with others between them.
    """
    if not target or path[0] != target[0]:
        return False
    keys = iter(target)  # `in` consumes the iterator up to the key
    return all(key in keys for key in path)


def _is_of_the_host(entry: Assignment) -> bool:
    section, *keys = entry.path
    return section == "endpoint" and bool(OF_THE_HOST.intersection(keys))


def _overlap(a: Path, b: Path) -> bool:
    return a[: len(b)] == b or b[: len(a)] == a


def _default(path: Path) -> object:
    section, key = path
    field = sections()[section].model_fields[key]
    return None if field.is_required() else field.get_default()


def _leaves(value: object, path: Path) -> Iterator[tuple[Path, object]]:
    """Yield the path of each value that has no keys; a list of plain values is one."""
    if isinstance(value, dict) and value:
        entries = [(str(key), entry) for key, entry in value.items()]
    elif isinstance(value, list) and any(isinstance(entry, dict) for entry in value):
        entries = [(str(index), entry) for index, entry in enumerate(value)]
    else:
        yield path, value
        return
    for key, entry in entries:
        yield from _leaves(entry, (*path, key))


def _index(target: list[object], key: str, source: str) -> int:
    index = plain_int(key)
    if index is None or index >= len(target):
        raise ConfigError(
            f'{source}: "{key}" is not a position in a list of {len(target)}; count from 0'
        )
    return index
