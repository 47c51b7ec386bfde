"""Snapshots of a run on another store: whole or not there, sent once, written by one process."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import socket
import subprocess
from pathlib import Path

import pytest
from nel_remote.objects import Objects, StoreUnreachable
from nel_remote.places import split
from nel_remote.snapshots import MANIFEST, fetch, read_manifest, remove_unused, write_snapshot
from nel_remote.writing import Superseded, claim

from nel.core.strict_json import dumps_bytes, loads
from nel.errors import ConfigError, OutputError

RUN = "run-1"
_MIB = 1 << 20


class Counted(Objects):
    """Notes what is written, and fails from some write on."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.written: list[str] = []
        self.fails_after = 1_000

    def write(self, name: str, content: bytes) -> None:
        if len(self.written) >= self.fails_after:
            raise StoreUnreachable("the network is gone")
        super().write(name, content)
        self.written.append(name)


@pytest.fixture(params=["memory", "file"])
def objects(request: pytest.FixtureRequest, tmp_path: Path) -> Counted:
    place = (
        f"memory://{secrets.token_hex(8)}"
        if request.param == "memory"
        else f"file://{tmp_path}/far"
    )
    return Counted(place)


def _files(folder: Path, **contents: bytes) -> dict[str, Path]:
    folder.mkdir(exist_ok=True)
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return {name: folder / name for name in contents}


def test_only_what_is_new_is_sent(objects: Counted, tmp_path: Path) -> None:
    """A store that grew is sent from the piece that changed on; what no snapshot has any more goes."""
    old = bytes(9 * _MIB)
    first = write_snapshot(
        objects,
        RUN,
        _files(tmp_path / "a", db=old, log=b"x"),
        before=None,
        writer=1,
        complete=False,
    )
    assert len(objects.written) == 4  # the two first pieces are equal
    objects.written.clear()
    paths = _files(tmp_path / "a", db=old + b"more", log=b"x")
    second = write_snapshot(objects, RUN, paths, before=first, writer=1, complete=True)
    assert len(objects.written) == 2
    remove_unused(objects, RUN, second)
    assert set(objects.names(f"{RUN}/pieces")) == second.pieces()
    fetch(objects, RUN, tmp_path / "b")
    assert (tmp_path / "b" / "db").read_bytes() == old + b"more"
    assert (second.number, second.complete) == (2, True)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_half_an_upload_is_never_seen(objects: Counted, tmp_path: Path, n: int) -> None:
    """Wherever an upload breaks off, a reader gets the snapshot before."""
    first = write_snapshot(
        objects,
        RUN,
        _files(tmp_path / "a", db=b"1", log=b"1"),
        before=None,
        writer=1,
        complete=True,
    )
    objects.fails_after = len(objects.written) + n
    with pytest.raises(StoreUnreachable):
        write_snapshot(
            objects,
            RUN,
            _files(tmp_path / "a", db=b"2", log=b"3"),
            before=first,
            writer=1,
            complete=True,
        )
    assert fetch(objects, RUN, tmp_path / "b").number == 1
    assert (tmp_path / "b" / "db").read_bytes() == b"1"


def test_damage_is_named(objects: Counted, tmp_path: Path) -> None:
    """A piece with another content, half a manifest and a path out of the directory are refused."""
    made = write_snapshot(
        objects, RUN, _files(tmp_path / "a", db=b"1"), before=None, writer=1, complete=True
    )
    content = objects.read(f"{RUN}/{MANIFEST}")
    assert content is not None
    (piece,) = made.pieces()
    objects.write(f"{RUN}/pieces/{piece}", b"2")
    with pytest.raises(OutputError, match="is damaged: its content is another"):
        fetch(objects, RUN, tmp_path / "b")
    assert not (tmp_path / "b").exists()
    objects.write(f"{RUN}/{MANIFEST}", content[:-20])
    with pytest.raises(OutputError, match=r"manifest.json is damaged"):
        read_manifest(objects, RUN)
    inner = loads(content)["snapshot"]
    inner["files"] = {"../evil": inner["files"]["db"]}
    digest = hashlib.sha256(dumps_bytes(inner)).hexdigest()
    objects.write(f"{RUN}/{MANIFEST}", dumps_bytes({"snapshot": inner, "sha256": digest}))
    with pytest.raises(OutputError, match="is damaged"):
        fetch(objects, RUN, tmp_path / "b")
    with pytest.raises(OutputError, match="there is no run"):
        fetch(objects, "run-2", tmp_path / "b")


def _owner(objects: Objects, number: int, **changes: object) -> None:
    content = objects.read(f"{RUN}/writers/{number:06d}.json")
    assert content is not None
    objects.write(
        f"{RUN}/writers/{number:06d}.json", json.dumps({**json.loads(content), **changes}).encode()
    )


def test_two_writers_are_refused(objects: Counted) -> None:
    """While a process writes a run, another one is refused; once it has ended, the other takes the next number."""
    first = claim(objects, RUN, say=print, sleep=pytest.fail)
    with pytest.raises(
        OutputError, match=f"is being written by process {os.getpid()} on {socket.gethostname()}"
    ):
        claim(objects, RUN, say=print, sleep=pytest.fail)
    first.check()
    first.release()
    second = claim(objects, RUN, say=print, sleep=pytest.fail)
    with pytest.raises(Superseded):
        first.check()
    second.check()
    second.release()
    assert second.number == 2


def test_a_dead_writer_is_replaced(objects: Counted) -> None:
    """A writer that was killed here is replaced at once, one of another machine after a look at its beats."""
    gone = subprocess.Popen(["true"])
    gone.wait()
    first = claim(objects, RUN, say=print, sleep=pytest.fail)
    _owner(objects, 1, pid=gone.pid)
    second = claim(objects, RUN, say=print, sleep=pytest.fail)
    said: list[str] = []
    slept: list[float] = []
    _owner(objects, 2, host="elsewhere")
    third = claim(objects, RUN, say=said.append, sleep=slept.append)
    assert third.number == 3
    assert "process" in said[0]
    assert sum(slept) >= 30

    def beating(seconds: float) -> None:
        _owner(objects, 3, beats=7)

    _owner(objects, 3, host="elsewhere")
    with pytest.raises(OutputError, match="is being written by"):
        claim(objects, RUN, say=said.append, sleep=beating)
    for writer in (first, second, third):
        writer.release()


def test_places_that_cannot_be_used_are_named() -> None:
    """A password in a URL, an unknown kind of store and a URL of no run are refused."""
    with pytest.raises(ConfigError, match="holds a password"):
        Objects("sftp://me:secret@host/x")
    with pytest.raises(ConfigError, match="cannot be used"):
        Objects("zzz://host/x")
    with pytest.raises(OutputError, match="names no run"):
        split("s3://bucket")
    assert split("s3://bucket/runs/one/") == ("s3://bucket/runs", "one")
