"""How a program of this machine gets into a container: its source comes on its standard input."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

BOOT: Final = """
import os, struct
def read(n):
    data = b""
    while len(data) < n:
        data += os.read(0, n - len(data)) or os._exit(0)
    return data
scope = {"__name__": "helper"}
exec(compile(read(struct.unpack(">I", read(4))[0]), "nel-helper", "exec"), scope)
scope["main"]()
"""
"""Read by an interpreter in the container as its program; it reads and runs the rest."""


def bootable(sources: Sequence[Path]) -> bytes:
    """Return what `BOOT` reads of files: their code is run in one scope, then their ``main``."""
    texts = repr([path.read_text(encoding="utf-8") for path in sources])
    program = f"for part in {texts}: exec(compile(part, 'nel-helper', 'exec'), globals())".encode()
    return len(program).to_bytes(4, "big") + program
