"""Parameters after every address of an endpoint, as Azure's api-version: sent, kept in the identity, never secret."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from nel.config.schema import EndpointConfig
from tests.support.endpoint import Call, Reply, answer, scripted
from tests.support.runs import nel, only_run, sums, sums_command

AZURE = "https://name.openai.azure.com/openai/deployments/gpt/chat/completions?api-version=2024-10-21"


def test_the_query_of_a_pasted_url_is_kept_apart() -> None:
    """The base URL, the protocol and the parameters are told apart, and put together again for each address."""
    endpoint = EndpointConfig(url=AZURE, model="gpt")
    assert (endpoint.url, endpoint.protocol) == ("https://name.openai.azure.com/openai/deployments/gpt", "chat")
    assert endpoint.query == {"api-version": "2024-10-21"}
    assert endpoint.address("/chat/completions") == AZURE
    assert EndpointConfig(url="http://127.0.0.1/v1", model="m").address("/models") == "http://127.0.0.1/v1/models"
    both = EndpointConfig(url="http://127.0.0.1/v1?a=1&b=2", model="m", query={"b": "3 &"})
    assert both.address("/models") == "http://127.0.0.1/v1/models?a=1&b=3+%26"


@pytest.mark.parametrize("name", ["key", "api_key", "api-key", "access_token", "sig", "X-Amz-Signature", "password"])
def test_a_secret_is_refused(name: str) -> None:
    """The configuration is stored with the run, so a key has no place in it; the message says where it belongs."""
    for given in ({"url": f"https://host/v1?{name}=abc"}, {"url": "https://host/v1", "query": {name: "abc"}}):
        with pytest.raises(ValidationError, match="api_key_env") as raised:
            EndpointConfig(model="m", **given)
        assert "abc" not in str(raised.value.errors()[0]["msg"])


def test_it_is_sent_and_part_of_the_identity(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every request carries it, the key has a header of its own, and a resume with another query is refused."""
    sums(tmp_path / "data.jsonl", 2)
    monkeypatch.setenv("AZURE_KEY", "secret-1")
    seen = []

    def script(call: Call, _: int) -> Reply:
        seen.append((call.path, call.query, call.headers.get("api-key"), call.headers.get("authorization")))
        return answer("Answer: 0")

    with scripted(script, models=["m"]) as endpoint:
        url = f"{endpoint.url}/chat/completions?api-version=2024-10-21"
        key = ("-O", "endpoint.headers_env={api-key: AZURE_KEY}")
        done = nel(*sums_command(url, *key), cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        run_dir = only_run(tmp_path / "out")
        again = nel("eval", "resume", str(run_dir), "-O", "endpoint.query={api-version: other}", cwd=tmp_path)
    assert seen == [("/v1/chat/completions", {"api-version": "2024-10-21"}, "secret-1", None)] * 2
    assert (again.returncode, "endpoint.query" in again.stderr) == (2, True)
    assert not any(b"secret-1" in one.read_bytes() for one in run_dir.rglob("*") if one.is_file())
