"""A run as one file: what it holds, and which archives are not opened."""

from __future__ import annotations

import io
import shutil
import sqlite3
import tarfile
from contextlib import closing
from pathlib import Path

import pytest

from nel.apps.view.finding import find_runs
from nel.artifacts.exporting import archive
from nel.artifacts.exporting.archive import open_archive, write_archive
from nel.engine.store.lock import own_directory
from nel.errors import NelError, OutputError
from nel.runs.verification import verify_run
from tests.support.runs import recorded_run


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of recorded responses."""
    folder = tmp_path_factory.mktemp("archived")
    return recorded_run(folder, [{"question": "1+1", "answer": "#### 2", "said": "Answer: 2"}] * 3)


def _names(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())


def _members(path: Path) -> set[str]:
    with tarfile.open(path) as tar:
        return set(tar.getnames())


def test_an_archive_is_the_run(run_dir: Path, tmp_path: Path) -> None:
    """Unpacked it verifies like the run itself, holds every artifact, and the run's directory is as it was."""
    before = _names(run_dir)
    path = write_archive(run_dir, tmp_path / "run.tar.gz")
    assert _names(run_dir) == before
    opened = open_archive(path, tmp_path / "cache")
    assert opened.name == run_dir.name
    assert all(one.passed for one in verify_run(opened).checks)
    assert (opened / "gsm8k" / "metrics.json").read_bytes() == (run_dir / "gsm8k" / "metrics.json").read_bytes()
    assert list(find_runs([opened])) == list(find_runs([run_dir]))
    assert not any(name.endswith((".lock", "-wal", "-shm")) for name in _members(path))
    assert oct(path.stat().st_mode & 0o777) == "0o600"


def test_nothing_is_overwritten_and_nothing_half_written_stays(run_dir: Path, tmp_path: Path) -> None:
    """An existing file, a directory without a run and one in use are refused with one line; no other file appears."""
    path = write_archive(run_dir, tmp_path / "run.tar.gz")
    with pytest.raises(OutputError, match="exists already"):
        write_archive(run_dir, path)
    with pytest.raises(OutputError, match=r"does not end in \.tar\.gz"):
        write_archive(run_dir, tmp_path / "run.zip")
    (tmp_path / "empty").mkdir()
    with pytest.raises(NelError):
        write_archive(tmp_path / "empty")
    with own_directory(run_dir), pytest.raises(OutputError, match="works on"):
        write_archive(run_dir, tmp_path / "other.tar.gz")
    assert _names(tmp_path) == ["empty", "run.tar.gz"]


def _evil(path: Path, *members: tarfile.TarInfo) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        for member in members:
            tar.addfile(member, io.BytesIO(b"x" * member.size) if member.isreg() else None)
    return path


def _file(name: str, size: int = 1) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size = size
    return member


def _link(kind: bytes) -> tarfile.TarInfo:
    member = tarfile.TarInfo("run/link")
    member.type, member.linkname = kind, "/etc/passwd"
    return member


@pytest.mark.parametrize(
    ("member", "said"),
    [
        (_file("../out"), "leads out"),
        (_file("/etc/out"), "leads out"),
        (_file("run\\..\\out"), "leads out"),
        (_link(tarfile.SYMTYPE), "not a plain file"),
        (_link(tarfile.CHRTYPE), "not a plain file"),
        (_file("run/other"), "not an archive of a run"),
    ],
)
def test_what_leads_out_is_not_opened(tmp_path: Path, member: tarfile.TarInfo, said: str) -> None:
    """Nothing is written outside the cache, and nothing stays in it."""
    path = _evil(tmp_path / "evil.tar.gz", member)
    with pytest.raises(OutputError, match=said):
        open_archive(path, tmp_path / "cache")
    assert _names(tmp_path) == ["cache", "evil.tar.gz"]


def test_a_size_that_is_too_large_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sum of the sizes is bounded, whatever they compress to; the number of files is too."""
    path = _evil(tmp_path / "large.tar.gz", _file("run/run.db", 600), _file("run/other", 600))
    monkeypatch.setattr(archive, "BYTES_MAX", 1000)
    with pytest.raises(OutputError, match="unpack it yourself"):
        open_archive(path, tmp_path / "cache")
    monkeypatch.setattr(archive, "BYTES_MAX", 2000)
    monkeypatch.setattr(archive, "MEMBERS_MAX", 1)
    with pytest.raises(OutputError, match="more than 1 files"):
        open_archive(path, tmp_path / "cache")


def test_a_damaged_store_is_not_packed(run_dir: Path, tmp_path: Path) -> None:
    """A record that nel verify refuses is refused here too, with the command that makes it again."""
    damaged = Path(shutil.copytree(run_dir, tmp_path / "run"))
    with closing(sqlite3.connect(damaged / "run.db")) as store, store:
        store.execute("UPDATE steps SET response = '{}' WHERE role = 0 AND idx = 1")
    with pytest.raises(NelError, match=r"1 records of run\.db are damaged; nel eval resume"):
        write_archive(damaged, tmp_path / "run.tar.gz")
    assert _names(tmp_path) == ["run"]
