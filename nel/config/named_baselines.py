"""Which result a name stands for as a baseline: a file of the user's. Depends on the file system
only.

The file is ``NEL_BASELINES`` where that is set, else ``nel/baselines.json`` in ``XDG_CONFIG_HOME``
or ``~/.config``.
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
    """Of a run of nel; another run in the directory is not the baseline. None where the result has
    none.
    """


def baselines_file() -> Path:
    """Return the path of the file, which need not exist."""
    named = os.environ.get(FILE_VARIABLE)
    if named:
        return Path(named).expanduser()
    return user_directory() / "baselines.json"


def read_baselines() -> dict[str, Baseline]:
    """Return every baseline by its name, in the order of the names.

    Raises:
        OutputError: The file cannot be read, or does not hold baselines.
    """
    path = baselines_file()
    try:
        stored = loads(path.read_bytes())["baselines"]
        return {name: Baseline(**stored[name]) for name in sorted(stored)}
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise OutputError(f"cannot read the baselines in {path}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise OutputError(f"{path} holds no baselines ({error}); correct or delete it") from error
