"""OPENAI_BASE_URL names the endpoint where nothing else does, and OPENAI_API_KEY never leaves for a third host."""

from __future__ import annotations

from pathlib import Path

import pytest

from nel.config.load import build_config
from nel.config.openai_environment import key_variable
from nel.config.schema import EndpointConfig
from nel.errors import ConfigError
from tests.support.endpoint import answer, scripted
from tests.support.runs import nel, only_run, sums


@pytest.mark.parametrize(
    ("url", "goes"),
    [
        ("https://api.openai.com/v1", True),
        ("https://eu.api.openai.com/v1", True),
        ("https://PROXY.example:8443/other", True),
        ("http://api.openai.com/v1", False),
        ("https://api.openai.com.example.com/v1", False),
        ("https://notapi.openai.com/v1", False),
        ("http://proxy.example:8443/openai/v1", False),
        ("http://127.0.0.1:8000/v1", False),
    ],
)
def test_the_hosts_that_get_the_key(url: str, goes: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """OpenAI's own over TLS, and the origin of OPENAI_BASE_URL; a likely name or another port is another host."""
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("OPENAI_BASE_URL", "https://proxy.example:8443/openai/v1")
    endpoint = EndpointConfig(url=url, model="m")
    assert key_variable(endpoint) == ("OPENAI_API_KEY" if goes else None)
    assert key_variable(endpoint.model_copy(update={"api_key_env": "OWN"})) == "OWN"
    assert key_variable(endpoint.model_copy(update={"headers_env": {"Api-Key": "OWN"}})) is None


def test_without_the_variables_nothing_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """No key where none is set, no URL where none is set; the message names the variable."""
    endpoint = EndpointConfig(url="https://api.openai.com/v1", model="m")
    assert key_variable(endpoint) is None
    data = {"benchmarks": ["gsm8k"], "endpoint": {"model": "m"}}
    with pytest.raises(ConfigError, match=r"endpoint\.url"):
        build_config(data)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1/")
    config = build_config(data)
    assert config.endpoint is not None
    assert config.endpoint.url == "http://127.0.0.1:1/v1"
    given = build_config({**data, "endpoint": {"model": "m", "url": "http://127.0.0.1:2/v1"}})
    assert given.endpoint is not None
    assert given.endpoint.url == "http://127.0.0.1:2/v1"
    monkeypatch.setenv("OPENAI_BASE_URL", "nonsense")
    with pytest.raises(ConfigError, match="OPENAI_BASE_URL"):
        build_config(data)


def test_a_resume_elsewhere_leaves_the_key_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The plan and the run name what the environment decided; a moved run sends the key to its new host no more."""
    sums(tmp_path / "data.jsonl", 2)
    keys: list[tuple[str, str | None]] = []
    with (
        scripted(
            lambda call, _: (keys.append(("one", call.headers.get("Authorization"))), answer("0"))[1], models=["m"]
        ) as one,
        scripted(
            lambda call, _: (keys.append(("two", call.headers.get("Authorization"))), answer("0"))[1], models=["m"]
        ) as two,
    ):
        monkeypatch.setenv("OPENAI_BASE_URL", one.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-abcdefgh")
        arguments = ("--bench", "gsm8k", "--dataset", "data.jsonl", "--model-id", "m")
        shown = nel("eval", "run", *arguments, "--dry-run", cwd=tmp_path)
        assert "from the environment: its URL is that of OPENAI_BASE_URL; the key in OPENAI_API_KEY" in shown.stdout
        done = nel("eval", "run", *arguments, "-o", "out", "--max-problems", "1", cwd=tmp_path)
        assert (done.returncode, "the key in OPENAI_API_KEY is sent to 127.0.0.1" in done.stderr) == (0, True)
        moved = ("-O", f"endpoint.url={two.url}", "--allow-url-change", "-O", "benchmarks.0.max_problems=2")
        run_dir = only_run(tmp_path / "out")
        again = nel("eval", "resume", str(run_dir), *moved, cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert keys == [("one", "Bearer sk-abcdefgh"), ("two", None)]
    assert "sk-abcdefgh" not in shown.stdout + done.stdout + done.stderr + again.stderr
    assert not any(b"sk-abcdefgh" in path.read_bytes() for path in run_dir.rglob("*") if path.is_file())
