"""Caches compiled templates beside Python's compiled modules, so that a start compiles none.

Depends on Jinja2. A template is compiled again when its source changes; where the folder is
read-only, each process compiles for itself.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib.util import cache_from_source
from pathlib import Path
from typing import Final

from jinja2 import FileSystemBytecodeCache
from jinja2.bccache import Bucket

_REPORTS: Final = Path(__file__).parent


class CompiledTemplates(FileSystemBytecodeCache):
    """Compiled templates in ``nel/reports/__pycache__``, whichever package they are of."""

    def __init__(self) -> None:
        super().__init__(str(Path(cache_from_source(__file__)).parent), "template-%s.cache")
        # Jinja2 applies filters to constants when it compiles, so the code of filters counts.
        files = _REPORTS.glob("*.py")
        self._code = str(sorted((path.name, path.stat().st_mtime_ns) for path in files))

    def get_source_checksum(self, source: str) -> str:
        """Return the digest of a template's source and of the code of filters."""
        return super().get_source_checksum(source + self._code)

    def load_bytecode(self, bucket: Bucket) -> None:
        """Load compiled code, if it is intact."""
        try:
            super().load_bytecode(bucket)
        except Exception:  # noqa: BLE001 - a file that a crash cut off can raise anything
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Write compiled code, unless Python is told to write none."""
        if not sys.dont_write_bytecode:
            # Where the installation cannot be written, each process compiles for itself.
            with suppress(OSError):
                Path(self.directory).mkdir(parents=True, exist_ok=True)
                super().dump_bytecode(bucket)
