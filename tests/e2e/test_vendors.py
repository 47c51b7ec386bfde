"""Runs over the protocols of OpenAI's Responses API, Anthropic and Gemini, against servers that answer as they do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import nel
from nel.config.redaction import Redactor
from nel.core.strict_json import loads
from nel.engine.store.snapshot import Snapshot
from nel.errors import ConfigError
from tests.faults.runs import config
from tests.support.vendors import KEY, MODEL, VENDORS, vendor_endpoint

CHECKED: dict[str, Any] = {"preflight": True}


def _config(tmp_path: Path, url: str, name: str, **more: Any) -> dict[str, Any]:
    endpoint = {"model": MODEL, "protocol": name, "api_key_env": "VENDOR_KEY", **more.pop("endpoint", {})}
    generation = {"max_tokens": 64, "temperature": 0, **more.pop("generation", {})}
    return config(tmp_path, url, n=3, endpoint=endpoint, engine=CHECKED, generation=generation, **more)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("name", VENDORS)
def test_a_run(name: str, stream: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An overloaded vendor is asked again; answers are scored, tokens counted, and the key is nowhere in the run."""
    monkeypatch.setenv("VENDOR_KEY", KEY)
    with vendor_endpoint(name, "The answer is 1") as served:
        result = nel.evaluate(_config(tmp_path, served.url, name, endpoint={"stream": stream}))
    assert (result.exit_code, len(served.bodies)) == (0, 4)
    lines = (result.run_dir / "gsm8k" / "results.jsonl").read_text(encoding="utf-8").splitlines()
    assert [loads(line)["model_response"] for line in lines] == ["The answer is 1"] * 3
    with Snapshot(result.run_dir / "run.db") as snapshot:
        identity = snapshot.benchmarks()[0][3]["identity"]
    assert (identity["endpoint.protocol"], identity["generation.max_tokens"]) == (name, 64)
    assert loads((result.run_dir / "gsm8k" / "runtime_stats.json").read_text(encoding="utf-8"))["tokens"] is not None
    redactor = Redactor([KEY])
    files = [path.read_bytes() for path in result.run_dir.rglob("*") if path.is_file()]
    assert [redactor.body(data) for data in files] == files


@pytest.mark.parametrize("name", VENDORS)
def test_a_wrong_key(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The list of models tells, in each vendor's words, before anything is paid for."""
    monkeypatch.setenv("VENDOR_KEY", "another-key")
    with vendor_endpoint(name, "1") as served:
        result = nel.evaluate(_config(tmp_path, served.url, name))
    assert (result.exit_code, served.bodies) == (2, [])
    assert "the key in VENDOR_KEY was refused" in result.ending.reason
    assert "another-key" not in result.ending.reason


@pytest.mark.parametrize(
    ("name", "settings", "said"),
    [
        ("anthropic", {"generation": {"seed": 1}}, "it has no seed; leave out generation.seed"),
        ("anthropic", {"generation": {"max_tokens": None}}, "give generation.max_tokens N"),
        ("responses", {"generation": {"stop": ["x"]}}, "it has no stop; leave out generation.stop"),
        ("gemini", {"benchmark": {"name": "hellaswag"}}, "log-likelihood, which the gemini protocol does not return"),
        (
            "anthropic",
            {
                "judge": {
                    "url": "http://127.0.0.1:1/v1",
                    "model": "j",
                    "protocol": "anthropic",
                    "generation": {"seed": 3},
                }
            },
            "the judge j cannot be asked over the anthropic protocol: it has no seed",
        ),
    ],
)
def test_what_a_protocol_cannot_do(
    name: str, settings: dict[str, Any], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is refused by name, and nothing is sent."""
    monkeypatch.setenv("VENDOR_KEY", KEY)
    with vendor_endpoint(name, "1") as served, pytest.raises(ConfigError, match=said):
        nel.evaluate(_config(tmp_path, served.url, name, **settings))
    assert served.bodies == []
