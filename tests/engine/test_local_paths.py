"""Files that a configuration names hold in a resume from any directory."""

from __future__ import annotations

from pathlib import Path

import pytest

from nel.config.load import build_config
from nel.engine.local_paths import with_absolute_paths


def test_every_path_is_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Benchmarks in YAML and Python, folders of tasks, rows, certificates and the cache; names stay names."""
    monkeypatch.chdir(tmp_path)
    task = tmp_path / "tasks" / "one"
    task.mkdir(parents=True)
    (task / "task.toml").touch()
    names = ["mine.yaml", "./exam.py:oral", "tasks", "gsm8k", "lm-eval://arc.py"]
    data = {
        "benchmarks": [*({"name": name} for name in names[:-1]), {"name": names[-1], "dataset": "rows.csv?delimiter=tab"}],
        "endpoint": {"url": "http://127.0.0.1:9/v1", "model": "m", "ca_bundle": "ca.pem"},
        "judge": {"url": "http://127.0.0.1:9/v1", "model": "j", "client_certificate": "me.pem"},
        "cache": {"dir": "answers"},
        "aggregates": [{"name": "all", "benchmarks": ["mine.yaml#a", "gsm8k"]}],
    }  # fmt: skip
    absolute = with_absolute_paths(build_config(data, where="test"))
    files = [str(tmp_path / name) for name in ("mine.yaml", "exam.py:oral", "tasks")]
    assert [entry["name"] for entry in absolute["benchmarks"]] == [*files, "gsm8k", "lm-eval://arc.py"]
    assert absolute["benchmarks"][-1]["dataset"] == str(tmp_path / "rows.csv?delimiter=tab")
    assert absolute["endpoint"]["ca_bundle"] == str(tmp_path / "ca.pem")
    assert absolute["judge"]["panel"][0]["client_certificate"] == str(tmp_path / "me.pem")
    assert absolute["cache"]["dir"] == str(tmp_path / "answers")
    assert absolute["aggregates"][0]["benchmarks"] == [str(tmp_path / "mine.yaml") + "#a", "gsm8k"]
