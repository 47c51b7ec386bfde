"""Runs on a real S3 server, moto's, through s3fs; they are part of the plugins' environment."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest
from nel_remote.objects import Objects
from nel_remote.writing import claim

from tests.support.endpoint import answer, scripted
from tests.support.runs import nel, sums

pytest.importorskip("s3fs", reason="s3fs is not installed: pip install s3fs")
moto_server = pytest.importorskip("moto.server", reason="moto[server] is not installed")


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    """Serve one bucket; s3fs keeps its connections for as long as the process."""
    server = moto_server.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    with pytest.MonkeyPatch.context() as patch:
        host, port = server.get_host_and_port()
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        patch.setenv("AWS_ACCESS_KEY_ID", "key")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        fsspec.filesystem("s3").mkdir("runs")
        yield "s3://runs"
    server.stop()


def test_an_object_is_created_once(bucket: str) -> None:
    """The store itself decides which of two processes is the writer."""
    objects = Objects(f"{bucket}/evals")
    assert objects.create("one/x", b"first")
    assert not objects.create("one/x", b"second")
    assert objects.read("one/x") == b"first"
    writer = claim(objects, "one", say=print, sleep=pytest.fail)
    writer.check()
    writer.release()


def test_a_run_is_uploaded_resumed_and_read(bucket: str, tmp_path: Path) -> None:
    """`-o s3://…`, a resume on another machine, and verify, report and compare of the URL."""
    sums(tmp_path / "rows.jsonl", 10)
    url = f"{bucket}/evals"
    here = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "a")}
    elsewhere = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "b")}
    with scripted(lambda call, number: answer("#### 4")) as endpoint:
        ended = nel(
            *(
                "eval",
                "run",
                "--bench",
                "gsm8k",
                "--dataset",
                "rows.jsonl",
                "--model-url",
                endpoint.url,
            ),
            *(
                "--model-id",
                "m",
                "-o",
                url,
                "--run-id",
                "one",
                "--max-requests",
                "4",
                "--concurrency",
                "1",
            ),
            cwd=tmp_path,
            env=here,
        )
        assert ended.returncode == 75, ended.stderr
        assert f"nel eval resume {url}/one" in ended.stdout + ended.stderr
        again = nel(
            "eval",
            "resume",
            f"{url}/one",
            "-O",
            "budget.max_requests=null",
            cwd=tmp_path,
            env=elsewhere,
        )
        assert again.returncode == 0, again.stderr
        assert len(endpoint.calls) == 10
    for command in (["verify"], ["report"], ["compare", f"{url}/one"]):
        read = nel(*command, f"{url}/one", cwd=tmp_path, env=here)
        assert read.returncode == 0, read.stderr
