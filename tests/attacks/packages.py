"""Benchmark files whose package would write, read or run what it must not; damaged packages beside nel."""

from __future__ import annotations

import csv
import io
import os
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from nel import plugins
from nel.apps.byob.shipping.compilation import wheel_of
from nel.apps.byob.shipping.directory import write_directory
from nel.apps.byob.shipping.install import installed_packages
from nel.apps.byob.shipping.package import package_of
from nel.apps.byob.shipping.source import read_source
from nel.datasets import open_dataset
from nel.errors import NelError, OutputError, PluginError

_ROWS = "country,capital\nFrance,Paris\n"
_TEXT = """from nel import benchmark, scorer
@benchmark(name={name!r}, dataset={dataset!r}, prompt="{{country}}", target_field="capital", description={about!r},
           requirements={needs!r})
@scorer
def one(sample):
    return {{"correct": True}}
NAMED = {named!r}
"""
Attack = Callable[[Path], None]


def compiled(
    folder: Path, *, name: str = "a", dataset: str = "rows.csv", about: str = "x", needs: tuple[str, ...] = (),
    named: tuple[str, ...] = (),
) -> None:  # fmt: skip
    """Make a wheel of a benchmark file, and see that it is refused or is one that no system unpacks elsewhere."""
    (folder / "rows.csv").write_text(_ROWS)
    path = folder / "b.py"
    path.write_text(_TEXT.format(name=name, dataset=dataset, about=about, needs=list(needs), named=named))
    try:
        package = package_of(read_source(path))
    except NelError:
        return
    wheel = zipfile.ZipFile(io.BytesIO(wheel_of(package)))
    names = wheel.namelist()
    (info,) = {one.partition("/")[0] for one in names if ".dist-info/" in one}
    rows = [row[0] for row in csv.reader(io.StringIO(wheel.read(f"{info}/RECORD").decode())) if row]
    assert sorted(rows) == sorted(names)
    assert {one.partition("/")[0] for one in names} == {package.module, info}
    assert wheel.read(f"{info}/entry_points.txt").decode().count("[") == 1
    heads = [line.partition(":")[0] for line in wheel.read(f"{info}/METADATA").decode().splitlines()]
    assert heads.count("Requires-Dist") == 1 + len(needs)
    assert "Evil" not in heads
    assert all(b"root:" not in wheel.read(one) and b"PATH=" not in wheel.read(one) for one in names)
    compile(wheel.read(f"{package.module}/plugin.py"), "plugin.py", "exec")
    assert b"PWNED" not in wheel.read(f"{package.module}/plugin.py")


_NAMES = [
    "../x", "a\n[nel.scorers]\nmatch = evil:x", "a\0", "a" * 300, "\u202ea", "-rf", "CON", "${HOME}", 'a"b', "plugin",
]  # fmt: skip
_FILES = [
    'a"b.txt', "..\\..\\b.txt", "CON", "a\rb.txt", "e\u0301.txt", "a.txt ", "nul.", "x" * 200, "\u202e.txt", "-rf",
    "$(id).txt", "\u200b.txt", "__init__.py", "plugin.py", "b.py", "Rows.csv", "plugin.py/x.txt", "a.pth",
]  # fmt: skip
_NEEDS = [
    "x\nRequires-Dist: Evil",
    "x\rEvil",
    "-r evil.txt",
    "--index-url=http://Evil",
    "x; extra == 'a\nEvil'",
    "./Evil",
]
_LINKS = ["/etc/passwd", "/etc", "/dev/zero", "/proc/self/environ", "../secret", "link.txt"]
_DATASETS = ["/proc/self/environ", 'a"+str(print("PWNED"))+".csv', "a\nb.csv", "a\\b.csv", "a,b.csv", "..\\a.csv"]


def _with_file(name: str) -> Attack:
    def attack(folder: Path) -> None:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("hi")
        compiled(folder, named=(name,))

    return attack


def _with_link(target: str) -> Attack:
    def attack(folder: Path) -> None:
        (folder / "link.txt").symlink_to(target)
        compiled(folder, named=("link.txt", "link.txt/passwd"))

    return attack


def _with_dataset(name: str) -> Attack:
    def attack(folder: Path) -> None:
        if not name.startswith("/"):
            (folder / name).write_text(_ROWS)
        compiled(folder, dataset=name)

    return attack


def _sparse(count: int, mebibytes: int) -> Attack:
    def attack(folder: Path) -> None:
        names = tuple(f"huge{number}" for number in range(count))
        for name in names:
            with (folder / name).open("wb") as file:
                file.truncate(mebibytes << 20)
        (folder / "rows.csv").write_text(_ROWS)
        (folder / "b.py").write_text(_TEXT.format(name="a", dataset="rows.csv", about="", needs=[], named=names))
        _refused(lambda: package_of(read_source(folder / "b.py")), PluginError)

    return attack


def _pipe(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    compiled(folder, named=("pipe",))


def _refused(call: Callable[[], object], kind: type[NelError]) -> None:
    try:
        call()
    except kind:
        return
    raise AssertionError("it was not refused")


def _foreseen_name(folder: Path) -> None:
    """A link under a name that could be foreseen leads the new package somewhere else."""
    (folder / "away").mkdir()
    (folder / f".pkg.{os.getpid()}.new").symlink_to(folder / "away")
    write_directory(folder / "pkg", {"a.txt": b"x"}, source="b.py")
    assert not list((folder / "away").iterdir())
    assert not (folder / "pkg").is_symlink()


def _something_else_inside(make: Callable[[Path], None]) -> Attack:
    """What is no plain file was not written by nel: it stops the next compilation, and is not deleted."""

    def attack(folder: Path) -> None:
        write_directory(folder / "pkg", {"a.txt": b"x"}, source="b.py")
        make(folder / "pkg" / "mine")
        _refused(lambda: write_directory(folder / "pkg", {"a.txt": b"y"}, source="b.py"), OutputError)
        assert os.path.lexists(folder / "pkg" / "mine")

    return attack


_HEAD = b"Metadata-Version: 2.1\nKeywords: nel-byob\n"
_POINTS = b"[nel.benchmarks]\nhostile = x:y\n"
_GREEDY = b"[nel.benchmarks]\nquickstart = evil:x\n"
_DAMAGE: dict[str, tuple[bytes, bytes, str]] = {"metadata that is not UTF-8": (_HEAD + b"Name: evil\nVersion: 1\nSummary: \xff\n", _POINTS, ""), "entry points that are not UTF-8": (_HEAD + b"Name: evil\nVersion: 1\n", _POINTS + b"\xff = x:y\n", ""), "no version": (_HEAD + b"Name: evil\n", _POINTS, ""), "no metadata": (b"", _POINTS, ""), "an origin that is a number": (_HEAD + b"Name: evil\nVersion: 1\n", _POINTS, '{"url": 5}'), "an origin with NUL": (_HEAD + b"Name: evil\nVersion: 1\n", _POINTS, '{"url": "file:///a%00b"}'), "names of built-ins": (
        _HEAD + b"Name: evil\nVersion: 1\n", _GREEDY + b"[nel.datasets]\npkg = evil:x\n", "",
    ), "nel's own name": (_HEAD + b"Name: nel\nVersion: 99\n", _GREEDY, "")}  # fmt: skip


@contextmanager
def _on_the_path(folder: Path) -> Iterator[None]:
    import sys

    sys.path.append(str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))


def _beside(metadata: bytes, points: bytes, origin: str) -> Attack:
    """A damaged or greedy package is listed, and keeps nel from nothing."""

    def attack(folder: Path) -> None:
        info = folder / "evil-1.dist-info"
        info.mkdir()
        for name, data in (("METADATA", metadata), ("entry_points.txt", points), ("direct_url.json", origin.encode())):
            if data:
                (info / name).write_bytes(data)
        with _on_the_path(folder):
            assert plugins.find("benchmarks", "quickstart").target.startswith("nel.benchmarks.quickstart:")
            assert plugins.find("datasets", "pkg").is_built_in
            installed_packages()
            rows = open_dataset("pkg://nel/benchmarks/data/quickstart.jsonl", base_dir=None)
            assert rows.revision is not None
            listed = {ref.distribution for ref in [*plugins.discover("benchmarks"), *plugins.discover_unknown()]}
            assert listed & {"evil", "nel", info.name}

    return attack


PACKAGES: dict[str, Attack] = {
    **{f"name {name[:20]!r}": lambda folder, name=name: compiled(folder, name=name) for name in _NAMES},
    **{f"file {name[:20]!r}": _with_file(name) for name in _FILES},
    **{f"requirement {one!r}": lambda folder, one=one: compiled(folder, needs=(one,)) for one in _NEEDS},
    **{f"link to {target}": _with_link(target) for target in _LINKS},
    **{f"dataset {name!r}": _with_dataset(name) for name in _DATASETS},
    "a description of two lines": lambda folder: compiled(folder, about="x\nEvil: y"),
    "a description with a line separator": lambda folder: compiled(folder, about="x\u2028Evil: y\x85Evil: z"),
    "a description that closes its quotes": lambda folder: compiled(folder, about='"""\nprint("PWNED")\n"""'),
    "a pipe": _pipe,
    "one file of 300 MiB": _sparse(1, 300),
    "ten files of 100 MiB": _sparse(10, 100),
    "a link under a name that can be foreseen": _foreseen_name,
    "a pipe in the package": _something_else_inside(os.mkfifo),
    "a broken link in the package": _something_else_inside(lambda path: path.symlink_to("nowhere")),
}
BESIDE: dict[str, Attack] = {name: _beside(*parts) for name, parts in _DAMAGE.items()}
