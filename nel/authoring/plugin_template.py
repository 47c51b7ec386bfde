"""Writes a plugin package to start from: the living example, `plugins/nel-example`, which the wheel
of nel carries.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from nel.errors import ConfigError, OutputError

_NAME: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_ORIGINAL: Final = "nel-example"
_MODULE: Final = "nel_example"
_SHORT: Final = "example-"
_LEFT_OUT: Final = ("__pycache__", ".pytest_cache", "dist", "build")


def write_plugin(name: str, folder: Path) -> list[Path]:
    """Write a plugin package called ``name`` into a folder that is not there yet, and return its
    files.

    Args:
        name: Of the distribution: lower case, digits and hyphens. Its module has underscores for
            the hyphens, and its plugins' names begin with it, ``nel-`` aside.
        folder: Where it is written.

    Raises:
        ConfigError: The name is none, or is the example's own.
        OutputError: The folder exists or cannot be written.
    """
    if not _NAME.fullmatch(name) or name in (_ORIGINAL, "nel", "nel-eval"):
        raise ConfigError(
            f'"{name}" is not a name for a plugin package; write lower case, as in'
            f" nel-{_suggestion(name)}"
        )
    texts = {_rename(path, name): _rename(text, name) for path, text in _template().items()}
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


def short_name(name: str) -> str:
    """Return what the names of a package's plugins begin with."""
    return f"{name.removeprefix('nel-')}-"


def _suggestion(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-").removeprefix("nel-") or "mine"


def _template() -> dict[str, str]:
    packaged = Path(__file__).parents[1] / "plugin_template"
    root = packaged if packaged.is_dir() else Path(__file__).parents[2] / "plugins" / _ORIGINAL
    return {
        path.relative_to(root).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(root.rglob("*"))
        if path.is_file()
        and not any(name in _LEFT_OUT or name.endswith(".egg-info") for name in path.parts)
    }


def _rename(text: str, name: str) -> str:
    """Return a text or a path of the example with the names of the new package."""
    marked = (
        text.replace(f"plugins/{_ORIGINAL}", name).replace(_ORIGINAL, "\0").replace(_MODULE, "\1")
    )
    return (
        marked.replace(_SHORT, short_name(name))
        .replace("\0", name)
        .replace("\1", name.replace("-", "_"))
    )
