"""Which changes of an agent's container can decide what tests find: replaced programs and libraries,
files that interpreters and linkers load unasked, and files that name where the reward is written.

A change is flagged and no proof: an agent that upgrades a package is flagged as well.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from nel.environments.container import USUAL_PATH

if TYPE_CHECKING:
    from nel.environments.session import Change, ContainerSession
    from nel.environments.tasks.folder import TaskScript

_LOADED: Final = re.compile(
    r"""
      /etc/(?: ld\.so\.\S+ | profile(?:\.d/\S+)? | bash\.bashrc | environment | pip\.conf )
    | /etc/apt/apt\.conf(?:\.d/\S+)?
    | \S*/(?: sitecustomize | usercustomize | conftest )\.py
    | \S*/(?: pytest | _pytest | pluggy | unittest )(?: \.py | /__init__\.py )
    | \S*/(?: site | dist )-packages/[^/\s]+\.pth
    | \S*/(?: \.?pytest\.ini | tox\.ini | pyvenv\.cfg | pip/pip\.conf | uv\.toml )
    | /(?: pyproject\.toml | setup\.cfg )
    | \S*/\.(?: curlrc | wgetrc | npmrc | zshenv )
    """,
    re.VERBOSE,
)
"""What is loaded unasked, changed or added."""
_REPLACED: Final = re.compile(
    r"""
      (?: /usr(?:/local)? )?/(?: bin | sbin | lib | lib32 | lib64 | libexec | include )/.*
    | /usr/share/(?: perl5 | nodejs | java | ruby | python[^/]* )/.*
    | /etc/(?: alternatives | perl )/.*
    | /opt/.*/(?: bin | lib )/.*
    | .*/(?: site | dist )-packages/.*
    """,
    re.VERBOSE,
)
"""Programs, libraries and packages: one of the image's own that is changed or removed."""
_USED_BY_TESTS: Final = re.compile(
    r"""
      (?: ba | da | z )? sh | python[\d.]* | pip[\d.]* | pytest | node | npm | ruby | perl | java | go
    | cargo | gcc | cc | make | uv | uvx | curl | git | env | cat | cmp | diff | echo | grep | sed | awk | test | true
    | \[ | sha\d+sum | md5sum | sort | head | tail | wc | ls | stat | timeout | apt-get
    """,
    re.VERBOSE,
)
"""Programs of which a new one on the path can stand before one of the image's."""
_OF_ENGINE: Final = frozenset({"/usr/sbin/docker-init", "/sbin/docker-init"})
_IMPORTABLE: Final = sys.stdlib_module_names - {"test"}
_FOLDER: Final = re.compile(r"(?<![\w.])/(?:[\w.-]+/)*[\w.-]+|(?<=cd )/")
_COMPILED: Final = re.compile(r".*/__pycache__/[^/]+\.pyc")
_READ: Final = """
import os, stat, sys
FORGING = (b"logs/verifier", b"reward.txt", b"reward.json", b"short test summary info")
def is_forging(path):
    status = os.lstat(path)
    if not stat.S_ISREG(status.st_mode) or status.st_size > 1 << 20:
        return False
    with open(path, "rb") as file:
        data = file.read()
    if path.endswith(".dist-info/entry_points.txt"):
        return b"[pytest11]" in data
    return any(word in data for word in FORGING)
for path in sys.stdin.buffer.read().split(b"\\0"):
    try:
        forging = path and is_forging(os.fsdecode(path))
    except OSError:  # it is gone, or a device: tests cannot read it either
        forging = False
    if forging:
        sys.stdout.buffer.write(path + b"\\0")
"""
"""Run in the container, as long as nothing of the agent's runs there."""
_REMOVE: Final = """
import os, sys
for path in sys.stdin.buffer.read().split(b"\\0"):
    os.unlink(path)
"""
_TEXT_BYTES_MAX: Final = 1 << 20
_READ_SECONDS: Final = 60.0
_READ_FILES_MAX: Final = 20_000


def suspicious_paths(
    changes: Sequence[Change],
    *,
    search_path: str = USUAL_PATH,
    import_folders: Collection[str] = (),
) -> list[str]:
    """Return the changed paths that tests may depend on unseen, sorted.

    Args:
        changes: Of a container, against its image.
        search_path: The image's ``PATH``.
        import_folders: Where tests may take a module from before the interpreter's own.
    """
    program_folders = {*search_path.split(":"), *USUAL_PATH.split(":")}
    return sorted(
        change.path
        for change in _files(changes)
        if change.path not in _OF_ENGINE and _decides(change, program_folders, import_folders)
    )


def named_folders(script: TaskScript) -> set[str]:
    """Return the paths that tests name, which may be where they import from."""
    files = [script.file, *(script.folder.rglob("*") if script.folder else ())]
    texts = [
        file.read_text(encoding="utf-8", errors="replace")
        for file in files
        if file.is_file() and file.stat().st_size <= _TEXT_BYTES_MAX
    ]
    return {path.rstrip("/") for text in texts for path in _FOLDER.findall(text)}


def forging_files(session: ContainerSession, changes: Sequence[Change]) -> list[str]:
    """Return the changed files that name the reward's place or a test runner's summary, or that
    bring a plugin of pytest, sorted.

    Args:
        session: Of a container without processes of the agent.
        changes: Of the agent's container, against its image.
    """
    paths = [
        change.path
        for change in _files(changes)
        if change.kind != "removed"
        and not change.path.startswith("/logs/")
        and not _COMPILED.fullmatch(change.path)
    ]
    listed = "\0".join(paths[:_READ_FILES_MAX]).encode("utf-8", "surrogateescape")
    if not listed:
        return []
    argv = ["python3", "-I", "-S", "-B", "-c", _READ]
    ran = session.run(argv, stdin=listed, seconds=_READ_SECONDS, user="0:0")
    return sorted(filter(None, ran.stdout.decode("utf-8", "surrogateescape").split("\0")))


def remove_compiled(session: ContainerSession, changes: Sequence[Change]) -> None:
    """Remove the compiled modules that the agent's container has added: an interpreter takes one in
    place of the source beside it, and makes it itself where there is none.
    """
    added = [
        change.path
        for change in changes
        if change.kind == "added" and _COMPILED.fullmatch(change.path)
    ]
    if added:
        listed = "\0".join(added).encode("utf-8", "surrogateescape")
        argv = ["python3", "-I", "-S", "-B", "-c", _REMOVE]
        session.run(argv, stdin=listed, seconds=_READ_SECONDS, user="0:0")


def _decides(
    change: Change, program_folders: Collection[str], import_folders: Collection[str]
) -> bool:
    if _LOADED.fullmatch(change.path):
        return True
    folder, _, name = change.path.rpartition("/")
    if change.kind != "added":
        return folder in program_folders or _REPLACED.fullmatch(change.path) is not None
    if folder in program_folders and _USED_BY_TESTS.fullmatch(name):
        return True
    if name == "__init__.py":
        folder, _, name = folder.rpartition("/")
    return folder in import_folders and name.removesuffix(".py") in _IMPORTABLE


def _files(changes: Sequence[Change]) -> Iterator[Change]:
    """Yield changes without the folders above them, which the engine lists as changed as well."""
    folders = {change.path.rpartition("/")[0] for change in changes}
    return (change for change in changes if change.path not in folders)
