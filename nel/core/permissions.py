"""Who can read what nel wrote: the user alone, or, where that is wanted, everyone on the
machine.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

SHARED_FILE: Final = 0o644
SHARED_DIRECTORY: Final = 0o755


def share(path: Path) -> None:
    """Let everyone read a file, or a directory with all that is in it; links are left alone.

    Raises:
        OSError: A file is another user's.
    """
    if not path.is_dir():
        path.chmod(SHARED_FILE)
        return
    for folder, _, names in os.walk(path):
        Path(folder).chmod(SHARED_DIRECTORY)
        for name in names:
            one = Path(folder, name)
            if not one.is_symlink():
                one.chmod(SHARED_FILE)
