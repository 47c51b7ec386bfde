"""Which paths of a container differ from its image: as the engine says, or by the layers of a
snapshot of it, where the container was itself started from a snapshot.
"""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from io import BufferedReader, RawIOBase
from typing import IO, TYPE_CHECKING, Any, Final, Literal, TypeAlias

from nel.core.strict_json import loads
from nel.types import JsonObject

if TYPE_CHECKING:
    import docker

ChangeKind: TypeAlias = Literal["changed", "added", "removed"]
_KINDS: Final[tuple[ChangeKind, ...]] = ("changed", "added", "removed")
"""By the engine's number."""
_REMOVED: Final = ".wh."
"""Before the name of a path that a layer removes: a whiteout of the OCI's image specification."""
_REPLACED: Final = ".wh..wh..opq"
"""In a folder of which a layer shows nothing that was there before."""
_MANIFEST: Final = "manifest.json"
_BUFFER_BYTES: Final = 1 << 20
_NOT_TEXT: Final = re.compile("[\udc80-\udcff]")
"""The bytes of a name that are not UTF-8, as `tarfile` has them."""
_SIGN: Final = "\N{REPLACEMENT CHARACTER}"
"""What the engine writes for each of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A path of a container that differs from its image."""

    path: str
    kind: ChangeKind


def changes_of(api: docker.APIClient, container: str) -> list[Change]:
    """Return every path that differs from the container's own image, folders included."""
    entries = api.diff(container) or []
    return [Change(path=str(entry["Path"]), kind=_KINDS[entry["Kind"]]) for entry in entries]


def layers_of(api: docker.APIClient, image: str) -> list[str]:
    """Return the digests of an image's layers, the lowest first."""
    return list(api.inspect_image(image)["RootFS"]["Layers"])


def changes_between(api: docker.APIClient, image: str, snapshot: str) -> list[Change]:
    """Return every path of a snapshot that differs from the image below it, folders included.

    Both are read whole, which takes seconds.
    """
    n_layers = len(layers_of(api, image))
    layers = _saved_layers(api.get_image(snapshot))
    below = _Tree()
    for names in layers[:n_layers]:
        below.add(names)
    above = _Tree(below.paths)
    for names in layers[n_layers:]:
        above.add(names)
    kinds: dict[str, ChangeKind] = {}
    # A path that an upper layer wrote and a later one removed again is in `touched` alone.
    for path in above.touched & above.paths:
        kinds[path] = "changed" if path in below.paths else "added"
    for path in below.paths - above.paths:
        folder = path.rpartition("/")[0]
        # Of a removed folder the engine's own list has the folder and nothing that was in it.
        if folder in above.paths or not folder:
            kinds[path] = "removed"
    return [
        Change(path=_NOT_TEXT.sub(_SIGN, f"/{path}"), kind=kind)
        for path, kind in sorted(kinds.items())
    ]


class _Tree:
    """The paths of some layers, one above the other."""

    def __init__(self, paths: Iterable[str] = ()) -> None:
        self.paths = set(paths)
        self.touched: set[str] = set()
        """What a layer adds or changes."""

    def add(self, names: Sequence[str]) -> None:
        """Add a layer: its removals act on what is below it alone."""
        removals: set[str] = set()
        additions: set[str] = set()
        for name in names:
            folder, _, base = name.rpartition("/")
            if base == _REPLACED:
                removals |= {path for path in self.paths if path.startswith(f"{folder}/")}
            elif base.startswith(_REMOVED):
                # A removed folder takes all that is in it along.
                target = f"{folder}/{base.removeprefix(_REMOVED)}".lstrip("/")
                removals |= {path for path in self.paths if f"{path}/".startswith(f"{target}/")}
            else:
                additions.add(name)
        self.paths = (self.paths - removals) | additions
        self.touched |= additions


class _Stream(RawIOBase):
    """Bytes that come in chunks, as a file."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest:
            try:
                self._rest = next(self._chunks)
            except StopIteration:
                return 0
        data, self._rest = self._rest[: len(buffer)], self._rest[len(buffer) :]
        buffer[: len(data)] = data
        return len(data)


def _saved_layers(chunks: Iterable[bytes]) -> list[list[str]]:
    """Return the names in each layer of a saved image, the lowest first."""
    names: dict[str, list[str]] = {}
    links: dict[str, str] = {}
    manifest: Sequence[JsonObject] = ()
    with (
        closing(BufferedReader(_Stream(chunks), _BUFFER_BYTES)) as stream,
        tarfile.open(fileobj=stream, mode="r|") as archive,
    ):
        for member in archive:
            if member.issym():  # an engine writes equal layers once
                links[member.name] = member.linkname.removeprefix("../")
            elif member.isfile():
                content = archive.extractfile(member)
                assert content is not None  # noqa: S101 - of a file
                if member.name == _MANIFEST:
                    manifest = loads(content.read())
                # Digests may name layers and configurations alike: the content tells them apart.
                elif (paths := _paths_in(content)) is not None:
                    names[member.name] = paths
    return [names[links.get(layer, layer)] for layer in manifest[0]["Layers"]]


def _paths_in(content: IO[bytes]) -> list[str] | None:
    """Return the paths in a layer; None of what is not an archive, such as a configuration."""
    with suppress(tarfile.ReadError), tarfile.open(fileobj=content, mode="r|*") as layer:
        return [member.name.removeprefix("./").strip("/") for member in layer]
    return None
