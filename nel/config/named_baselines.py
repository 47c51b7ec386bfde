"""The user's file of baselines, which says what result each name stands for.

The file is ``NEL_BASELINES`` where that is set, else ``nel/baselines.json`` in ``XDG_CONFIG_HOME``
or ``~/.config``. Depends on the file system only.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nel.core.paths import user_directory
from nel.core.strict_json import loads
from nel.errors import OutputError

FILE_VARIABLE: Final = "NEL_BASELINES"


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """A result that a name stands for."""

    directory: str
    """Its absolute path."""
    run_id: str | None
    """Of a run of nel, else None. Another run in the same directory is not the baseline."""


def baselines_file() -> Path:
    """Return the path of the file, which need not exist."""
    path = os.environ.get(FILE_VARIABLE)
    return Path(path).expanduser() if path else user_directory() / "baselines.json"


def read_baselines() -> dict[str, Baseline]:
    """Return every baseline by its name, in the order of the names.

    Raises:
        OutputError: The file cannot be read, or does not hold baselines.
    """
    path = baselines_file()
    try:
        entries = loads(path.read_bytes())["baselines"]
        return {name: Baseline(**entries[name]) for name in sorted(entries)}
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise OutputError(f"cannot read the baselines in {path}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise OutputError(f"{path} holds no baselines ({error}); correct or delete it") from error
