"""A verifier of its own: what it is made of, and what of an agent's work it sees."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from nel.environments.archives import plain_files
from nel.environments.tasks.folder import TaskRefused
from nel.environments.tasks.harbor import read_harbor
from tests.environments.test_folders import harbor

SEPARATE = "[verifier]\nenvironment_mode = 'separate'\n"


def test_the_image_of_a_verifier_is_the_one_that_is_named_else_that_of_its_tests_else_the_agents(
    tmp_path: Path,
) -> None:
    """As in Harbor; the first two hold the tests already."""
    of_agent = read_harbor(harbor(tmp_path / "a", SEPARATE))
    own = read_harbor(harbor(tmp_path / "b", SEPARATE, **{"tests/Dockerfile": "FROM x\n"}))
    named = read_harbor(harbor(tmp_path / "c", "[verifier.environment]\ndocker_image = 'y'\nallow_internet = false"))
    assert of_agent.verifier is not None
    assert own.verifier is not None
    assert named.verifier is not None
    assert (of_agent.verifier.context, of_agent.tests.is_in_image) == (tmp_path / "a" / "environment", False)
    assert (own.verifier.context, own.tests.is_in_image) == (tmp_path / "b" / "tests", True)
    assert (named.verifier.image, named.tests.is_in_image) == ("y", True)
    assert (named.network, named.verifier_network) == ("public", "none")


def test_outputs_are_the_declared_paths_and_the_folder_of_artifacts(tmp_path: Path) -> None:
    """Text or table; what cannot be copied as it is asked is refused by name."""
    task = read_harbor(harbor(tmp_path / "a", "artifacts = ['/app/x', {source = '/y', destination = 'z'}]"))
    assert task.outputs == ("/app/x", "/y", "/logs/artifacts")
    for number, entry in enumerate(("'out'", "'/app/../etc'", "{source = '/a', exclude = ['b']}")):
        with pytest.raises(TaskRefused, match="artifacts"):
            read_harbor(harbor(tmp_path / str(number), f"artifacts = [{entry}]"))


def test_of_an_output_only_files_and_folders_are_copied() -> None:
    """A link to the verifier's own files is left out and counted; special bits and owners are not kept."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, kind, link in (
            ("out", tarfile.DIRTYPE, ""),
            ("out/link", tarfile.SYMTYPE, "/etc"),
            ("out/device", tarfile.CHRTYPE, ""),
        ):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, link
            archive.addfile(info)
        info = tarfile.TarInfo("out/program")
        info.size, info.mode, info.uid = 2, 0o4755, 1000
        archive.addfile(info, io.BytesIO(b"ab"))
        info = tarfile.TarInfo("out/second")
        info.type, info.linkname = tarfile.LNKTYPE, "out/program"
        archive.addfile(info)
    clean, n_refused = plain_files(packed.getvalue())
    with tarfile.open(fileobj=io.BytesIO(clean)) as archive:
        members = {member.name: (member.mode, member.uid, member.size) for member in archive}
    assert n_refused == 2
    assert members == {"out": (0o644, 0, 0), "out/program": (0o755, 0, 2), "out/second": (0o644, 0, 2)}
