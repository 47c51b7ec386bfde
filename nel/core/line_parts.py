"""Where parts of a file of lines begin and end, so that several processes can read it. Depends on
the file system.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path


def parts_of_lines(path: Path, part_bytes: int) -> Iterator[tuple[int, int]]:
    """Yield where parts of a file begin and end; each begins with a line.

    Raises:
        OSError: The file cannot be read.
    """
    with path.open("rb") as file:
        begins, size = 0, path.stat().st_size
        while begins < size:
            file.seek(begins + part_bytes)
            file.readline()
            ends = min(file.tell(), size)
            yield begins, ends
            begins = ends
