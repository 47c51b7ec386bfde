"""`nel export` writes into a new directory alone, and names the package of an exporter that fails."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from nel.artifacts.exporting.writers import export_run
from nel.cli.app import app
from nel.errors import PluginError, UsageError
from tests.support.distributions import install
from tests.support.runs import nel

BAD = """
def raises(run_dir, output):
    (output / "half.txt").write_text("half")
    raise KeyError("x")

def returns(run_dir, output):
    return [output / "a.txt"]

def elsewhere(run_dir, output):
    from nel.artifacts.exporting import Exported
    return Exported(files=[run_dir / "run.yaml"])
"""


@pytest.mark.parametrize("place", ["run-1", "run-1/out", "full", "file", "link"])
def test_an_output_that_is_in_use_is_refused(finished: Path, tmp_path: Path, place: str) -> None:
    """The run's own directory, a directory with files, a file and a link are left as they are."""
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "a.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    output = finished.parent / place if place.startswith("run") else tmp_path / place
    with pytest.raises(UsageError, match="choose another with -o"):
        export_run("csv", finished, output)
    assert (tmp_path / "full" / "a.txt").read_text() == (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("raises", r'the exporter "raises" of bad-exports 1\.0 failed: KeyError: .x.; nothing was written'),
        ("returns", r"returned \[.*\], not a nel\.artifacts\.exporting\.Exported"),
        ("elsewhere", "it must return the files that it wrote into its directory"),
        ("cvs", 'no exporter "cvs" is installed; did you mean "csv"'),
    ],
)
def test_an_exporter_that_fails_leaves_nothing(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, message: str
) -> None:
    """The package is named and there is no output."""
    entries = {"nel.exporters": {one: f"bad_exports:{one}" for one in ("raises", "returns", "elsewhere")}}
    install(tmp_path / "site", "bad-exports", entries, modules={"bad_exports": BAD})
    monkeypatch.syspath_prepend(tmp_path / "site")
    with pytest.raises(PluginError, match=message):
        export_run(name, finished, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_the_command_uses_the_plugin_of_an_installed_package(finished: Path, tmp_path: Path) -> None:
    """`--to` takes the exporter of nel-example; stdout names the files, stderr the notes."""
    output = tmp_path / "out"
    done = CliRunner().invoke(app, ["export", str(finished), "--to", "nel-example:example-rewards", "-o", str(output)])
    assert done.exit_code == 3, done.output  # as the run, which has unscored samples
    assert done.stdout.splitlines() == [
        f"exported: {output / 'rewards.txt'}",
        f"exported: {output / 'export-notes.txt'}",
    ]
    assert done.stderr == "note: A dash is a result without a score.\n"
    assert "quiz quiz/0008 -" in (output / "rewards.txt").read_text().splitlines()


def test_an_export_without_a_format_lists_the_formats(tmp_path: Path) -> None:
    """The names are those of the installed exporters."""
    done = nel("export", "run", cwd=tmp_path)
    assert (done.returncode, "--to one of atif, csv," in done.stderr) == (2, True)
