"""Finds and loads plugins through entry points. Knows nothing of what a plugin does.

Discovery reads package metadata only; a plugin is imported when it is named. Two distributions that claim one name
are an error that names both. Trap: stevedore caches its own view of the entry points on disk, so the list is always
taken from `importlib.metadata` and handed to stevedore.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from importlib.metadata import EntryPoint, distributions
from typing import Any, Final

from nel.errors import PluginError, did_you_mean

GROUPS: Final = {
    "benchmarks": "nel.benchmarks",
    "bridges": "nel.bridges",
    "scorers": "nel.scorers",
    "judges": "nel.judges",
    "metrics": "nel.metrics",
    "reducers": "nel.reducers",
    "datasets": "nel.datasets",
    "clients": "nel.clients",
    "solvers": "nel.solvers",
    "sandboxes": "nel.sandboxes",
    "executors": "nel.executors",
    "exporters": "nel.exporters",
    "reports": "nel.reports",
}
"""Kind of plugin, as users say it, to entry-point group."""

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginRef:
    """One entry point as package metadata declares it; nothing of it is imported."""

    kind: str
    name: str
    target: str
    """``module:attribute``."""
    distribution: str
    version: str

    @property
    def singular(self) -> str:
        """Return the kind of one plugin, e.g. ``benchmark``."""
        return self.kind.removesuffix("s")

    @property
    def provider(self) -> str:
        """Return ``distribution version``."""
        return f"{self.distribution} {self.version}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginInfo:
    """A plugin in a listing: what it is, or why it cannot be used."""

    ref: PluginRef
    description: str
    error: str | None


def discover(kind: str) -> list[PluginRef]:
    """Return every plugin of one kind, sorted by name, without importing any.

    Raises:
        PluginError: ``kind`` is not one of `GROUPS`.
    """
    if kind not in GROUPS:
        raise PluginError(
            f'there is no kind of plugin "{kind}"{did_you_mean(kind, GROUPS)}; known: {", ".join(GROUPS)}'
        )
    found: dict[tuple[str, str, str], PluginRef] = {}
    for distribution in distributions():
        name = distribution.metadata["Name"] or "unknown"
        for entry in distribution.entry_points:
            if entry.group == GROUPS[kind]:
                ref = PluginRef(
                    kind=kind,
                    name=entry.name,
                    target=entry.value,
                    distribution=name,
                    version=distribution.version,
                )
                found.setdefault((entry.name, name, entry.value), ref)
    return sorted(found.values(), key=lambda ref: (ref.name, ref.distribution))


def find(kind: str, name: str) -> PluginRef:
    """Return the one plugin of this kind and name.

    Raises:
        PluginError: No plugin has this name, or two distributions claim it.
    """
    known = discover(kind)
    matches = [ref for ref in known if ref.name == name]
    if not matches:
        names = sorted({ref.name for ref in known})
        hint = did_you_mean(name, names) or f"; nel list {kind} shows what is installed"
        raise PluginError(f'no {kind.removesuffix("s")} "{name}" is installed{hint}')
    if len(matches) > 1:
        raise PluginError(conflict(matches))
    return matches[0]


def load(kind: str, name: str) -> Any:
    """Import the plugin of this kind and name and return the object it declares.

    Raises:
        PluginError: It is missing, claimed twice or fails to import; the message names the distribution.
    """
    return load_ref(find(kind, name))


def load_ref(ref: PluginRef) -> Any:
    """Import the object an entry point declares.

    Raises:
        PluginError: The import fails in any way, `SystemExit` included, or the name is not well-formed.
    """
    if not _NAME.fullmatch(ref.name):
        raise PluginError(
            f"the {ref.singular} {ref.name!r} of {ref.provider} has an invalid name; use a-z, 0-9, - and _"
        )
    try:
        with redirect_stdout(sys.stderr):  # stdout is the answer; a plugin that prints must not be in it
            return _driver(ref)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise PluginError(cannot_import(ref, f"{type(error).__name__}: {error}")) from error


def cannot_import(ref: PluginRef, why: str) -> str:
    """Return the message of a plugin that cannot be imported."""
    return (
        f'the {ref.singular} "{ref.name}" ({ref.target}) of {ref.provider} cannot be imported: {why}; '
        f"update or uninstall {ref.distribution}"
    )


def conflict(refs: Sequence[PluginRef]) -> str:
    """Return the message of a name that several distributions claim."""
    owners = " and ".join(f"{ref.provider} ({ref.target})" for ref in refs)
    return f'the {refs[0].singular} "{refs[0].name}" is claimed by {owners}; uninstall one of them'


def describe(ref: PluginRef, shape_error: Callable[[str, Any], str | None]) -> PluginInfo:
    """Import one plugin and return its one-line description, or the error that keeps it from working.

    What the import does is done to this process: `nel.listing` calls it in one that may be lost.

    Args:
        shape_error: Says of ``(kind, plugin)`` what is wrong with it, or None.
    """
    try:
        plugin = load_ref(ref)
    except PluginError as error:
        return PluginInfo(ref=ref, description="", error=str(error))
    error_text = shape_error(ref.kind, plugin)
    return PluginInfo(ref=ref, description="" if error_text else _one_line(plugin), error=error_text)


def _driver(ref: PluginRef) -> Any:
    from stevedore import DriverManager, ExtensionManager  # noqa: PLC0415 - only when a plugin is loaded

    group = GROUPS[ref.kind]
    ExtensionManager.ENTRY_POINT_CACHE[group] = [EntryPoint(name=ref.name, value=ref.target, group=group)]
    failures: list[BaseException] = []
    try:
        manager: Any = DriverManager(
            namespace=group,
            name=ref.name,
            on_load_failure_callback=lambda _manager, _entry, error: failures.append(error),
        )
    except RuntimeError as error:  # stevedore's NoMatches; the cause is in the callback's list
        raise (failures[0] if failures else error) from error
    return manager.driver


def _one_line(plugin: Any) -> str:
    text = getattr(plugin, "description", None) or getattr(plugin, "__doc__", None) or ""
    return str(text).strip().split("\n", 1)[0].rstrip(".")
