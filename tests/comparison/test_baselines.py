"""Baselines by name: kept where the user says, and refused when they are not what they were."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nel.cli.app import app
from nel.comparison.baselines import baseline_side, remove_baseline, set_baseline
from nel.config.named_baselines import baselines_file, read_baselines
from nel.errors import NelError, OutputError, UsageError
from tests.support.compared import lines, write_run


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Two finished runs, and a file of baselines of this test's own."""
    monkeypatch.setenv("NEL_BASELINES", str(tmp_path / "own" / "baselines.json"))
    rows = lines([float(idx % 3 == 0) for idx in range(30)])
    return tuple(write_run(tmp_path / name, rows) for name in ("old", "new"))  # type: ignore[return-value]


def test_file_is_where_the_user_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable of nel wins over the user's configuration directory, which wins over the home directory."""
    monkeypatch.delenv("NEL_BASELINES", raising=False)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert baselines_file() == tmp_path / ".config" / "nel" / "baselines.json"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "x"))
    assert baselines_file() == tmp_path / "x" / "nel" / "baselines.json"
    monkeypatch.setenv("NEL_BASELINES", str(tmp_path / "mine.json"))
    assert baselines_file() == tmp_path / "mine.json"
    assert read_baselines() == {}


def test_commands_take_a_baseline_by_name(runs: tuple[Path, Path], tmp_path: Path) -> None:
    """A name that was set stands for the run in compare and gate, is listed, and can be taken away."""
    old, new = runs
    run = CliRunner()
    assert run.invoke(app, ["baseline", "set", "release-1", str(old)]).exit_code == 0
    listed = json.loads(run.invoke(app, ["baseline", "list", "--json"]).stdout)["baselines"]["release-1"]
    assert (listed["directory"], listed["exists"]) == (str(old), True)
    compared = run.invoke(app, ["compare", "--baseline", "release-1", str(new), "--json"])
    document = json.loads(compared.stdout)
    assert compared.exit_code == 0
    assert document["baseline"]["label"] == "release-1"
    policy = tmp_path / "policy.yaml"
    policy.write_text("benchmarks:\n  quiz: {max_drop: 0.3}\n", encoding="utf-8")
    by_name = run.invoke(app, ["gate", "--baseline", "release-1", str(new), "--policy", str(policy), "--json"])
    by_path = run.invoke(app, ["gate", str(old), str(new), "--policy", str(policy), "--json"])
    assert by_name.exit_code == by_path.exit_code == 0
    assert run.invoke(app, ["baseline", "remove", "release-1"]).exit_code == 0
    assert read_baselines() == {}


def test_baselines_that_are_not_what_they_were_are_refused(runs: tuple[Path, Path], tmp_path: Path) -> None:
    """A directory that moved, another run in it, and a name that is not there are one line each, and no verdict."""
    old, new = runs
    set_baseline("release-1", old)
    with pytest.raises(UsageError, match=r'no baseline "release-2" in .*did you mean "release-1"'):
        baseline_side("release-2")
    with pytest.raises(UsageError, match='no baseline "release-2"'):
        remove_baseline("release-2")
    old.rename(tmp_path / "moved")
    with pytest.raises(OutputError, match=r'the baseline "release-1" is gone from .*set it again'):
        baseline_side("release-1")
    new.rename(old)
    with pytest.raises(OutputError, match=r'"release-1" is old, and .* holds new now'):
        baseline_side("release-1")
    refused = CliRunner().invoke(app, ["compare", "--baseline", "release-1", str(tmp_path / "moved")])
    assert (refused.exit_code, refused.stderr.count("\n"), refused.stdout) == (2, 1, "")


@pytest.mark.parametrize(("name", "result"), [("a/b", "old"), ("", "old"), ("-x", "old"), ("fine", "nowhere")])
def test_bad_names_and_results_are_refused(runs: tuple[Path, Path], tmp_path: Path, name: str, result: str) -> None:
    """A name that no option could take, and a result that is not there, leave no file."""
    with pytest.raises(NelError):
        set_baseline(name, tmp_path / result)
    assert not baselines_file().exists()
