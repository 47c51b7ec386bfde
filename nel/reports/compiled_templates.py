"""Compiled templates, kept where Python keeps its compiled modules: a start compiles none.

Depends on Jinja2. Like Python's own, they are made again when a source changes, and where the
folder cannot be written each process compiles for itself.
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
        """Prepare; nothing is read or written."""
        super().__init__(str(Path(cache_from_source(__file__)).parent), "template-%s.cache")
        # What a filter makes of a constant is compiled too, so the code of filters counts.
        files = _REPORTS.glob("*.py")
        self._code = str(sorted((path.name, path.stat().st_mtime_ns) for path in files))

    def get_source_checksum(self, source: str) -> str:
        """Return the digest of a template's source and of the code that it was compiled with."""
        return super().get_source_checksum(source + self._code)

    def load_bytecode(self, bucket: Bucket) -> None:
        """Load compiled code; what is damaged is compiled again."""
        try:
            super().load_bytecode(bucket)
        except Exception:  # noqa: BLE001 - a file that a crash cut can raise anything
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep compiled code, where Python may keep its own."""
        if not sys.dont_write_bytecode:
            with suppress(OSError):
                Path(self.directory).mkdir(parents=True, exist_ok=True)
                super().dump_bytecode(bucket)
