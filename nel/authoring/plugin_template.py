"""Writes a plugin package to start from: `plugins/nel-example`, which nel's wheel carries."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

from nel.errors import ConfigError, OutputError, did_you_mean
from nel.plugins import GROUPS

_NAME: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_ORIGINAL: Final = "nel-example"
_MODULE: Final = "nel_example"
_PROJECT: Final = "pyproject.toml"
_README: Final = "README.md"
_SHORT: Final = "example-"
_LEFT_OUT: Final = ("__pycache__", ".pytest_cache", "dist", "build")


def write_plugin(name: str, folder: Path, kinds: Collection[str] = ()) -> list[Path]:
    """Write a plugin package called ``name`` into a new folder and return its files.

    Args:
        name: Of the distribution: lower case, digits and hyphens. Its module has underscores for
            the hyphens, and its plugins' names begin with it, ``nel-`` aside.
        folder: Where it is written.
        kinds: The kinds of plugins that it has, of `nel.plugins.GROUPS`; empty: every kind.

    Raises:
        ConfigError: The name is none, or is the example's own; a kind is unknown.
        OutputError: The folder exists or cannot be written.
    """
    if not _NAME.fullmatch(name) or name in (_ORIGINAL, "nel", "nel-eval"):
        raise ConfigError(
            f'"{name}" is not a name for a plugin package; write lower case, as in'
            f" nel-{_suggestion(name)}"
        )
    template = _of_kinds(_template(), [_kind(kind) for kind in kinds])
    texts = {_rename(path, name): _rename(text, name) for path, text in template.items()}
    try:
        folder.mkdir(parents=True)
        for path, text in texts.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
    except FileExistsError as error:
        raise OutputError(
            f"{folder} exists and is left as it is; name another folder with --folder"
        ) from error
    except OSError as error:
        raise OutputError(f"cannot write {folder}: {error.strerror or error}") from error
    return [folder / path for path in sorted(texts)]


def first_plugin(project: Path) -> str:
    """Return the name of the first plugin that a written pyproject.toml declares."""
    entries = tomllib.loads(project.read_text(encoding="utf-8"))["project"]["entry-points"]
    return str(next(iter(next(iter(entries.values())))))


def _kind(kind: str) -> str:
    match = next((group for group in GROUPS if kind in (group, group.removesuffix("s"))), None)
    if match is None:
        hint = did_you_mean(kind, GROUPS, or_all="; there are ")
        raise ConfigError(f'no kind of plugin is called "{kind}"{hint}')
    return match


def _of_kinds(template: Mapping[str, str], kinds: Collection[str]) -> Mapping[str, str]:
    """Return the template with the plugins of these kinds alone: their entry points, their files
    and what pyproject.toml, README and tests say of them.
    """
    if not kinds:
        return template
    groups = {GROUPS[kind] for kind in kinds}
    project = template[_PROJECT]
    # Names of plugins and of their files; a file stays as long as one of its plugins does.
    stay: set[str] = set()
    go: set[str] = set()
    for group, plugins in tomllib.loads(project)["project"]["entry-points"].items():
        names = stay if group in groups else go
        names.update(plugins)
        names.update(f"/{_module_of(target)}.py" for target in plugins.values())
    absent = go - stay
    # Of a module that goes its test goes too.
    texts = {
        path: text
        for path, text in template.items()
        if f"/{Path(path).stem.removeprefix('test_')}.py" not in absent
    }
    # Each table of pyproject.toml begins with a bracket at the start of a line.
    project_text, *tables = re.split(r"(?m)^(?=\[)", project)
    for table in tables:
        if "entry-points" not in table or any(f'"{group}"' in table for group in groups):
            project_text += table
    readme = ""
    for line in texts[_README].splitlines(keepends=True):
        if not any(name in line for name in absent):
            readme += line
    return {**texts, _PROJECT: project_text, _README: readme}


def _module_of(target: str) -> str:
    return target.partition(":")[0].rpartition(".")[2]


def _suggestion(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-").removeprefix("nel-") or "mine"


def _template() -> dict[str, str]:
    root = Path(__file__).parents[1] / "plugin_template"
    if not root.is_dir():  # of a clone, from which no wheel was built
        root = Path(__file__).parents[2] / "plugins" / _ORIGINAL
    texts = {}
    for path in sorted(root.rglob("*")):
        is_built = any(name in _LEFT_OUT or name.endswith(".egg-info") for name in path.parts)
        if path.is_file() and not is_built:
            texts[path.relative_to(root).as_posix()] = path.read_text(encoding="utf-8")
    return texts


def _rename(text: str, name: str) -> str:
    """Return a text or a path of the example with the names of the new package."""
    text = text.replace(f"plugins/{_ORIGINAL}", name)
    # Two characters stand for the names meanwhile, which may hold what is replaced: nel-example-2.
    text = text.replace(_ORIGINAL, "\0").replace(_MODULE, "\1")
    text = text.replace(_SHORT, f"{name.removeprefix('nel-')}-")
    return text.replace("\0", name).replace("\1", name.replace("-", "_"))
