"""A reasoning model refuses max_tokens and temperature: both are changed before the first answer, for good."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nel
from nel.engine.store.snapshot import Snapshot
from nel.runs.evaluation import rescore
from nel.runs.verification import verify_run
from tests.faults.runs import config
from tests.support.endpoint import Call, Endpoint, Reply, answer, scripted

SETTINGS: dict[str, Any] = {"generation": {"temperature": 0, "max_tokens": 64, "reasoning_effort": "low"}}
CHECKED: dict[str, Any] = {"preflight": True, "concurrency": 4}
TAKEN = {"max_completion_tokens": 64, "reasoning_effort": "low"}


def _refused(message: str) -> Reply:
    return Reply(status=400, body={"error": {"message": message, "type": "invalid_request_error"}})


def _reasoning(call: Call, _: int = 0) -> Reply:
    """Answer as an o-series model does."""
    if "max_tokens" in call.body:
        return _refused(
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        )
    if "temperature" in call.body:
        return _refused("Unsupported value: 'temperature' does not support 0.0 with this model.")
    return answer("The answer is 0")


def _settings(calls: list[Call]) -> list[dict[str, Any]]:
    kept = ("max_tokens", "max_completion_tokens", "temperature", "reasoning_effort")
    return [{name: call.body[name] for name in kept if name in call.body} for call in calls]


def _config(tmp_path: Path, endpoint: Endpoint, n: int, **more: Any) -> dict[str, Any]:
    return config(tmp_path, endpoint.url, n=n, endpoint={"api_key_env": None}, engine=CHECKED, **SETTINGS, **more)


def test_settings_are_changed_before_the_first_answer(tmp_path: Path) -> None:
    """Two refusals, then answers alone; the artifacts have what was sent, a resume and a rescoring take it over."""
    with scripted(_reasoning, models=["m"]) as endpoint:
        result = nel.evaluate(_config(tmp_path, endpoint, 3, benchmark={"max_problems": 2}))
        assert result.exit_code == 0
        assert _settings(endpoint.calls) == [
            {"max_tokens": 64, "temperature": 0.0, "reasoning_effort": "low"},
            {"max_completion_tokens": 64, "temperature": 0.0, "reasoning_effort": "low"},
            TAKEN,
            TAKEN,
        ]
        endpoint.calls.clear()
        more = nel.evaluate(_config(tmp_path, endpoint, 3, benchmark={"max_problems": 3}), resume=True)
        assert (more.exit_code, _settings(endpoint.calls)) == (0, [TAKEN])
        assert rescore(result.run_dir).exit_code == 0
    with Snapshot(result.run_dir / "run.db") as snapshot:
        stored = snapshot.benchmarks()[0][3]
    assert stored["generation"] == {"extra": {"max_completion_tokens": 64}, "reasoning_effort": "low"}
    assert stored["identity"]["endpoint.adapted"] == {"max_tokens": "max_completion_tokens", "temperature": "not sent"}
    assert all(check.passed for check in verify_run(result.run_dir).checks)


def test_later_it_is_a_refusal(tmp_path: Path) -> None:
    """Once there is an answer the settings stay: what is refused then has no score, and the identity is as it was."""
    answered: set[str] = set()

    def script(call: Call, _: int) -> Reply:
        answered.add(call.text)
        return answer("The answer is 0") if len(answered) == 1 else _reasoning(call)

    with scripted(script, models=["m"]) as endpoint:
        result = nel.evaluate(_config(tmp_path, endpoint, 3))
    assert result.exit_code != 0
    assert {"temperature": 0.0, "max_tokens": 64, "reasoning_effort": "low"} in _settings(endpoint.calls)
    assert TAKEN not in _settings(endpoint.calls)
    with Snapshot(result.run_dir / "run.db") as snapshot:
        assert "endpoint.adapted" not in snapshot.benchmarks()[0][3]["identity"]


def test_a_resume_changes_a_benchmark_that_was_not_reached(tmp_path: Path) -> None:
    """A session ended between two benchmarks: the second is asked as the first was."""
    quota = Reply(status=429, body={"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}})
    has_quota = [False]

    def script(call: Call, number: int) -> Reply:
        reply = _reasoning(call)
        return reply if has_quota[0] or "Second" not in call.text or reply.status != 200 else quota

    with scripted(script, models=["m"]) as endpoint:
        made = _config(tmp_path, endpoint, 2)
        made["engine"]["concurrency"] = 1
        made["benchmarks"].append({**made["benchmarks"][0], "system_prompt": "Second."})
        result = nel.evaluate(made)
        assert result.exit_code == 75
        has_quota[0] = True
        endpoint.calls.clear()
        again = nel.evaluate(made, resume=True)
        assert again.exit_code == 0
        assert _settings(endpoint.calls) == [TAKEN, TAKEN]
    with Snapshot(result.run_dir / "run.db") as snapshot:
        assert all("endpoint.adapted" in stored["identity"] for _, _, _, stored in snapshot.benchmarks())
