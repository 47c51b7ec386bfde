"""Where a configuration names files and folders of the machine on which it is read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from nel.authoring.registry import is_local
from nel.config.schema import RunConfig
from nel.config.schema.run import CATEGORY, split_category
from nel.prompts import is_template_file, load_template, portable_text

_ROWS: Final = ("dataset", "fewshot_dataset")
_TLS: Final = ("ca_bundle", "client_certificate", "client_key")

Setting = tuple[dict[str, Any], str]
"""A section of a configuration as JSON, and a key of it."""


def path_settings(data: dict[str, Any]) -> Iterator[Setting]:
    """Yield the settings of a configuration as JSON that are paths, but for names of benchmarks,
    templates and where the run is written.
    """
    for entry in data["benchmarks"]:
        yield from ((entry, key) for key in _ROWS if entry[key] and "://" not in entry[key])
    for endpoint in _endpoints(data):
        yield from ((endpoint, key) for key in _TLS if endpoint[key])
    if data["cache"]["dir"]:
        yield data["cache"], "dir"


def judges_of(data: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the judges of a configuration as JSON: the run's and those of benchmarks."""
    sections = [data["judge"], *(entry["judge"] for entry in data["benchmarks"])]
    yield from filter(None, sections)


def with_prompts_as_text(data: dict[str, Any]) -> None:
    """Put the text of each prompt's file in the place of its path."""
    for entry in data["benchmarks"]:
        if entry["prompt"]:
            entry["prompt"] = [portable_text(load_template(text)) for text in entry["prompt"]]


def with_absolute_paths(config: RunConfig) -> dict[str, Any]:
    """Return the configuration with absolute paths, for a resume from any directory."""
    data: dict[str, Any] = config.model_dump(mode="json")
    with_prompts_as_text(data)
    for section, key in path_settings(data):
        section[key] = _absolute(section[key])
    for judge in judges_of(data):
        if judge.get("template") and is_template_file(judge["template"]):
            judge["template"] = _absolute(judge["template"])
    for entry in data["benchmarks"]:
        entry["name"] = _absolute_name(entry["name"])
    for aggregate in data["aggregates"]:
        aggregate["benchmarks"] = [*map(_absolute_name, aggregate["benchmarks"])]
        missing = aggregate["missing"].items()
        aggregate["missing"] = {_absolute_name(name): reason for name, reason in missing}
    data["stop"]["when"] = config.stop.absolute()
    return data


def _endpoints(data: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from filter(None, [data["endpoint"], *data["endpoints"]])
    for judge in judges_of(data):
        yield from judge.get("panel", ())
    yield from data["model_roles"].values()


def _absolute(path: str) -> str:
    return str(Path(path).expanduser().absolute())


def _absolute_name(name: str) -> str:
    """Return a benchmark's name, or a category's of it, with the absolute path of its file."""
    benchmark, category = (name, "") if is_local(name) else split_category(name)
    if not is_local(benchmark):
        return name
    return f"{_absolute(benchmark)}{CATEGORY}{category}" if category else _absolute(benchmark)
