"""Finds and loads plugins through entry points.

Listing reads package metadata only; a plugin is imported when it is named. nel's own plugins are
registered in the same groups. Entry points are read from `importlib.metadata` and handed to
stevedore as extensions: its own search does not tell distributions apart, so it cannot choose of two
that provide one name, and its cache on disk can return a list that is up to two minutes old.

One package whose metadata is not UTF-8, or has no name, must not keep nel from working with all
others.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from contextvars import ContextVar
from dataclasses import dataclass
from importlib.metadata import EntryPoint, distributions
from typing import Any, Final

from nel.core.distributions import package_of, place_of
from nel.core.plugin_names import NAME, NAME_PATTERN, PACKAGE
from nel.core.texts import first_paragraph
from nel.errors import ConfigError, NelError, PluginError, did_you_mean
from nel.version import DISTRIBUTION

GROUPS: Final = {
    "benchmarks": "nel.benchmarks",
    "bridges": "nel.bridges",
    "scorers": "nel.scorers",
    "judges": "nel.judges",
    "metrics": "nel.metrics",
    "reducers": "nel.reducers",
    "datasets": "nel.datasets",
    "reports": "nel.reports",
    "readers": "nel.readers",
    "exporters": "nel.exporters",
    "importers": "nel.importers",
    "executors": "nel.executors",
    "clients": "nel.clients",
    "commands": "nel.commands",
    "observers": "nel.observers",
    "solvers": "nel.solvers",
    "stores": "nel.stores",
    "suites": "nel.suites",
}
"""Entry-point group of each kind of plugin. A group is listed here only if nel loads plugins from
it.
"""

BUILT_IN: Final = "nel"
"""The package of nel's own plugins, which keep their bare names."""

_PREFIX: Final = "nel."
_DAMAGED: Final = "damaged"
"""The kind of what stands for a package whose metadata cannot be read."""
_URI_KINDS: Final = ("bridges", "datasets", "stores")
# match, nel-foo:match:location=begin; a colon may stand in the options as well
_OPTIONS_PATTERN: Final = re.compile(rf"\s*((?:{PACKAGE}:)?{NAME})\s*(?::(.*))?", re.DOTALL)
# lm-eval://gsm8k, nel-foo:lm-eval://gsm8k
_URI_PATTERN: Final = re.compile(rf"(?:({PACKAGE}):)?([A-Za-z][A-Za-z0-9+.-]*)(://.*)", re.DOTALL)

_notes: ContextVar[list[str] | None] = ContextVar("nel_plugin_notes", default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginRef:
    """One entry point as package metadata declares it; the plugin itself is not imported."""

    kind: str
    """A key of `GROUPS`; the name of the group where nel does not load from it."""
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

    @property
    def qualified(self) -> str:
        """Return ``package:name``, with ``://`` after it where the name is a URI scheme."""
        # A dot is in the names `MODULE.names` and `TOOL.configuration`, which are not schemes.
        is_scheme = self.kind in _URI_KINDS and "." not in self.name
        return f"{self.distribution}:{self.name}" + ("://" if is_scheme else "")

    @property
    def is_built_in(self) -> bool:
        """Return whether nel itself provides the plugin."""
        return self.distribution == BUILT_IN


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginInfo:
    """A plugin in a listing: its description, or why it cannot be used."""

    ref: PluginRef
    description: str
    error: str | None
    note: str | None = None
    """How its name is resolved, where another package provides a plugin of the same name."""


def split_options(text: str) -> tuple[str, str]:
    """Split ``NAME``, ``NAME:options``, ``package:NAME`` or ``package:NAME:options`` into the name
    and its options.

    The part after the first colon is a name unless it holds ``=``, as options do.

    >>> split_options("match:location=begin"), split_options("nel-foo:match:location=begin")
    (('match', 'location=begin'), ('nel-foo:match', 'location=begin'))
    """
    match = _OPTIONS_PATTERN.fullmatch(text)
    if match is None:
        name, _, options = text.partition(":")
        return name.strip(), options
    return match[1], match[2] or ""


def split_uri(text: str) -> tuple[str, str] | None:
    """Split ``scheme://…`` or ``package:scheme://…`` into the plugin's name and the URI; None for
    any other text.

    >>> split_uri("nel-foo:hf://owner/name")
    ('nel-foo:hf', 'hf://owner/name')
    """
    match = _URI_PATTERN.fullmatch(text)
    if match is None:
        return None
    package, scheme, location = match.groups()
    return (f"{package}:" if package else "") + scheme.lower(), scheme + location


def discover(kind: str) -> list[PluginRef]:
    """Return every plugin of one kind, sorted by name, without importing any.

    Raises:
        PluginError: ``kind`` is not one of `GROUPS`.
    """
    if kind not in GROUPS:
        hint = did_you_mean(kind, GROUPS, or_all="; known: ")
        raise PluginError(f'there is no kind of plugin "{kind}"{hint}')
    return _sort(ref for ref in _declared_entry_points() if ref.kind == kind)


def discover_unknown() -> list[PluginRef]:
    """Return every entry point of a group ``nel.*`` that nel does not load from, and packages that
    cannot be read.
    """
    return _sort(ref for ref in _declared_entry_points() if ref.kind not in GROUPS)


def unknown_group(ref: PluginRef) -> str:
    """Return the message of an entry point in a group that nel does not load from."""
    if ref.kind == _DAMAGED:
        return (
            f"the metadata in {ref.distribution} cannot be read; reinstall that package, or"
            " uninstall it"
        )
    return (
        f'the package {ref.distribution} declares the group "{ref.kind}", which nel does not load; '
        f"known groups: {', '.join(GROUPS.values())}"
    )


def matching(kind: str, name: str) -> list[PluginRef]:
    """Return every plugin of this kind that has this name, ``name`` or ``package:name``."""
    package, _, bare = name.rpartition(":")
    namesakes = [ref for ref in discover(kind) if ref.name == bare]
    if not package:
        return namesakes
    # Both `nel:` and `nel-eval:`, under which pip installs nel, stand for its own plugins.
    owner = BUILT_IN if _normalize(package) == DISTRIBUTION else _normalize(package)
    return [ref for ref in namesakes if _normalize(ref.distribution) == owner]


def find(kind: str, name: str) -> PluginRef:
    """Return the plugin of this kind and name.

    A built-in keeps its bare name where other packages provide a plugin of the same name; see
    `collect_notes`.

    Args:
        name: ``name``, or ``package:name`` for the plugin of one distribution.

    Raises:
        PluginError: No plugin has this name, or several packages other than nel provide one.
    """
    matches = matching(kind, name)
    if not matches:
        raise PluginError(_missing(kind, name, discover(kind)))
    if len(matches) == 1:
        return matches[0]
    built_in = [ref for ref in matches if ref.is_built_in]
    if len(built_in) != 1:
        raise PluginError(conflict(matches))
    notes = _notes.get()
    if notes is not None:
        notes.append(shadow_note(matches))
    return built_in[0]


@contextmanager
def collect_notes() -> Iterator[list[str]]:
    """Collect a note on each built-in that `find` returns although other packages provide a plugin
    of its name.
    """
    notes: list[str] = []
    token = _notes.set(notes)
    try:
        yield notes
    finally:
        _notes.reset(token)


def load(kind: str, name: str) -> Any:  # an entry point may name any object
    """Import the plugin of this kind and name and return the object it declares.

    Raises:
        PluginError: It is missing, provided by several packages or fails to import; the message
            names the distribution.
    """
    return load_ref(find(kind, name))


def load_ref(ref: PluginRef) -> Any:  # an entry point may name any object
    """Import the object an entry point declares.

    Raises:
        PluginError: The import fails in any way, `SystemExit` included, or the name is not
            well-formed.
    """
    # Two endings of the names of bridges, see `nel.discovery.extension_points`.
    name = ref.name.removesuffix(".names").removesuffix(".configuration")
    if not NAME_PATTERN.fullmatch(name):
        raise PluginError(
            f"the {ref.singular} {ref.name!r} of {ref.provider} has an invalid name; use a-z, 0-9,"
            " - and _"
        )
    try:
        with redirect_stdout(sys.stderr):  # stdout carries nel's own output, which may be JSON
            return _driver(ref)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise PluginError(cannot_import(ref, f"{type(error).__name__}: {error}")) from error


def make(ref: PluginRef, *arguments: object, **options: object) -> Any:  # what its factory makes
    """Return what a plugin makes of arguments and of the options that a user gave.

    Raises:
        PluginError: As `load_ref`.
        ConfigError: It cannot be made; the message says why.
        NelError: What the plugin raises.
    """
    factory = load_ref(ref)
    try:
        return factory(*arguments, **options)
    except NelError:
        raise
    except (Exception, SystemExit) as error:
        # These two speak of the arguments in words of their own; others need their class.
        is_about_arguments = isinstance(error, (TypeError, ValueError))
        what = str(error) if is_about_arguments else f"{type(error).__name__}: {error}"
        raise ConfigError(
            f'the {ref.singular} "{ref.name}" of {ref.provider} cannot be used: {what}'
        ) from error


def cannot_import(ref: PluginRef, why: str) -> str:
    """Return the message of a plugin that cannot be imported."""
    return (
        f'the {ref.singular} "{ref.name}" ({ref.target}) of {ref.provider} cannot be imported:'
        f" {why}; update or uninstall {ref.distribution}"
    )


def conflict(refs: Sequence[PluginRef]) -> str:
    """Return the message of a name that several distributions other than nel provide."""
    owners = " and ".join(f"{ref.provider} ({ref.target})" for ref in refs)
    choices = " or ".join(dict.fromkeys(ref.qualified for ref in refs))
    return (
        f'the {refs[0].singular} "{refs[0].name}" is provided by {owners}; choose one with'
        f" {choices}"
    )


def shadow_note(refs: Sequence[PluginRef]) -> str:
    """Return the note on a built-in whose name other distributions provide too."""
    others = [ref for ref in refs if not ref.is_built_in]
    return (
        f'{refs[0].singular} "{refs[0].name}": nel\'s own is used;'
        f" {' and '.join(ref.provider for ref in others)} "
        f"also provides one; use {' or '.join(ref.qualified for ref in others)} for that"
    )


def name_note(ref: PluginRef, refs: Sequence[PluginRef]) -> str | None:
    """Return how the name of a plugin is resolved; None where only one package provides it.

    Args:
        refs: All plugins of this kind and name.
    """
    if len(refs) == 1:
        return None
    if ref.is_built_in:
        return shadow_note(refs)
    has_built_in = any(namesake.is_built_in for namesake in refs)
    owner = "nel's own" if has_built_in else "provided by several packages"
    return f'use {ref.qualified}; "{ref.name}" alone is {owner}'


def describe(ref: PluginRef, shape_error: Callable[[str, object], str | None]) -> PluginInfo:
    """Import one plugin into this process and return its one-line description, or why it cannot be
    used.

    Args:
        shape_error: Returns what is wrong with ``(kind, plugin)``, or None.
    """
    try:
        plugin = load_ref(ref)
    except PluginError as error:
        return PluginInfo(ref=ref, description="", error=str(error))
    error_text = shape_error(ref.kind, plugin)
    return PluginInfo(
        ref=ref, description="" if error_text else _one_line(plugin), error=error_text
    )


def _declared_entry_points() -> Iterator[PluginRef]:
    """Yield the entry points of all groups ``nel.*``; of a distribution that is on the path twice,
    those of the first.

    An entry point that a distribution declares twice is yielded once. A distribution called ``nel``
    is not nel's, which is ``nel-eval``: it is left out, since its plugins would pass for built-ins.
    """
    kinds = {group: kind for kind, group in GROUPS.items()}
    positions: dict[str, int] = {}
    seen: set[tuple[str, str, str]] = set()
    for position, distribution in enumerate(distributions()):
        package = package_of(distribution, _PREFIX)
        if package is None:
            continue
        if not package.is_readable:
            yield PluginRef(
                kind=_DAMAGED,
                name="?",
                target="",
                distribution=place_of(distribution),
                version="?",
            )
            continue
        name = package.name or "unknown"
        # A package may be on the path twice, installed and as a clone: Python imports the first.
        is_second = positions.setdefault(_normalize(name), position) != position
        if is_second or _normalize(name) == BUILT_IN:
            continue
        if _normalize(name) == DISTRIBUTION:
            name = BUILT_IN
        for entry in package.entry_points:
            key = (name, entry.group, entry.name)
            if not entry.group.startswith(_PREFIX) or key in seen:
                continue
            seen.add(key)
            yield PluginRef(
                kind=kinds.get(entry.group, entry.group),
                name=entry.name,
                target=entry.value,
                distribution=name,
                version=package.version,
            )


def _sort(refs: Iterator[PluginRef]) -> list[PluginRef]:
    return sorted(refs, key=lambda ref: (ref.kind, ref.name, not ref.is_built_in, ref.distribution))


def _normalize(name: str) -> str:
    """Return the name of a distribution as package indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _missing(kind: str, name: str, installed: Sequence[PluginRef]) -> str:
    """Return the message of a plugin that is not installed, with what was probably meant."""
    package, _, bare = name.rpartition(":")
    singular = kind.removesuffix("s")
    article = "an" if singular[0] in "aeiou" else "a"
    for ref in discover_unknown():
        if ref.name == bare:
            return f'no {singular} "{bare}" is installed; {unknown_group(ref)}'
    if not package:
        names = sorted({ref.name for ref in installed})
        hint = did_you_mean(name, names) or f"; nel list {kind} shows what is installed"
        return f'no {singular} "{name}" is installed{hint}'
    # `match:begin` reads as the plugin "begin" of a package "match", and was meant as an option.
    if any(ref.name == package for ref in installed):
        hint = f"; write options as key=value, as in {package}:{bare}=VALUE"
    else:
        names = sorted({ref.qualified.removesuffix("://") for ref in installed})
        hint = did_you_mean(name, names) or f"; nel list {kind} shows all"
    return f'no package "{package}" provides {article} {singular} "{bare}"{hint}'


def _driver(ref: PluginRef) -> object:
    from stevedore import DriverManager, extension  # noqa: PLC0415 - only when a plugin is loaded

    # The one public way to hand stevedore an extension: all others search by themselves.
    entry = EntryPoint(name=ref.name, value=ref.target, group=GROUPS[ref.kind])
    loaded = extension.Extension(ref.name, entry, entry.load(), None)
    manager = DriverManager.make_test_instance(loaded, namespace=entry.group)
    driver: object = manager.driver
    return driver


def _one_line(plugin: object) -> str:
    if isinstance(plugin, Mapping):  # a suite
        text = plugin.get("description")
    else:
        text = getattr(plugin, "description", None) or getattr(plugin, "__doc__", None)
    return first_paragraph(str(text or ""))
