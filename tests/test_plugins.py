"""Plugins are found through entry points; a broken one is named and harms nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from nel import plugins
from nel.conformance import shape_error
from nel.errors import PluginError
from nel.listing import describe_all
from tests.support.runs import nel


def _install(folder: Path, name: str, group: str, entries: dict[str, str]) -> None:
    """Write the metadata of a throw-away distribution into a folder on the path."""
    info = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = "".join(f"{key} = {value}\n" for key, value in entries.items())
    (info / "entry_points.txt").write_text(f"[{group}]\n{lines}")


def test_a_missing_plugin_has_a_suggestion() -> None:
    """An unknown name is an error with the nearest known one."""
    with pytest.raises(PluginError, match='no benchmark "gsm8" is installed; did you mean "gsm8k"'):
        plugins.load("benchmarks", "gsm8")


def test_an_unknown_kind_has_a_suggestion() -> None:
    """An unknown kind of plugin is an error with the nearest known one."""
    with pytest.raises(PluginError, match='did you mean "benchmarks"'):
        plugins.discover("benchmark")


def test_built_ins_come_through_the_same_door() -> None:
    """The built-in benchmarks are entry points of the distribution nel."""
    found = {ref.name: ref.distribution for ref in plugins.discover("benchmarks")}
    assert {name: found[name] for name in ("quickstart", "gsm8k", "mmlu_pro")} == dict.fromkeys(
        ("quickstart", "gsm8k", "mmlu_pro"), "nel"
    )


def test_two_distributions_with_one_name_are_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that two distributions claim is refused naming both; nothing is shadowed."""
    _install(tmp_path, "rival", "nel.benchmarks", {"gsm8k": "nel.benchmarks.quickstart:quickstart"})
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(PluginError, match=r"nel 0.*and rival 1\.0|rival 1\.0.*and nel 0"):
        plugins.load("benchmarks", "gsm8k")
    assert plugins.load("benchmarks", "quickstart").name == "quickstart"


def test_a_new_distribution_is_seen_at_once_and_gone_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Discovery has no cache that outlives an install or uninstall."""
    monkeypatch.syspath_prepend(tmp_path)
    _install(tmp_path, "fresh", "nel.scorers", {"fresh-scorer": "nel.scoring.text:exact_match"})
    assert callable(plugins.load("scorers", "fresh-scorer"))
    (tmp_path / "fresh-1.0.dist-info" / "entry_points.txt").unlink()
    with pytest.raises(PluginError, match="fresh-scorer"):
        plugins.load("scorers", "fresh-scorer")


@pytest.mark.parametrize(
    ("kind", "name", "error"),
    [
        ("benchmarks", "broken-import", "ModuleNotFoundError: No module named 'a_package_that_nobody_has'"),
        ("benchmarks", "broken-missing", "ModuleNotFoundError"),
        ("benchmarks", "broken-attribute", "AttributeError"),
        ("benchmarks", "Broken Name", "invalid name"),
        ("scorers", "broken-exit", "SystemExit"),
        ("judges", "broken-raise", "RuntimeError: broken on purpose"),
    ],
)
def test_a_broken_plugin_is_an_error_that_names_its_distribution(kind: str, name: str, error: str) -> None:
    """Every way of being broken becomes one error with cause and distribution."""
    with pytest.raises(PluginError, match="nel-broken") as caught:
        plugins.load(kind, name)
    assert error in str(caught.value)


def test_a_listing_shows_broken_plugins_beside_working_ones(tmp_path: Path) -> None:
    """`nel list` exits 0 with every plugin; broken ones carry their error, and what they print is not on stdout."""
    done = nel("list", "--json", cwd=tmp_path)
    assert done.returncode == 0
    assert "noise on stdout" not in done.stdout
    assert '"name":"broken-import"' in done.stdout
    assert '"name":"example-capitals"' in done.stdout
    text = nel("list", "benchmarks", cwd=tmp_path).stdout
    assert "BROKEN: it is a int, not a nel.Benchmark" in text


def test_a_plugin_that_hangs_is_given_up_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one whose import has no end carries that as its error; those before and after it are described."""
    (tmp_path / "hanging_plugin.py").write_text("import time; time.sleep(600)")
    _install(tmp_path, "hanging", "nel.scorers", {"hangs": "hanging_plugin:scorer"})
    monkeypatch.syspath_prepend(tmp_path)
    chosen = [ref for ref in plugins.discover("scorers") if ref.name in ("exact_match", "hangs", "numeric_match")]
    found = {info.ref.name: info for info in describe_all(chosen, import_seconds=20)}
    assert list(found) == ["exact_match", "hangs", "numeric_match"]
    assert "cannot be imported: it takes longer than 20 s; update or uninstall hanging" in (found["hangs"].error or "")
    assert found["exact_match"].description
    assert found["numeric_match"].description
    assert "hanging_plugin" not in sys.modules


def test_the_shape_of_a_plugin_is_checked() -> None:
    """A benchmark entry point that is no Benchmark is named as such."""
    assert shape_error("benchmarks", 42) == "it is a int, not a nel.Benchmark"
    assert shape_error("scorers", 42) == "it is a int, which cannot be called"
    assert shape_error("scorers", len) is None


def test_public_names_are_all_there() -> None:
    """Every public name imports, and importing nel alone imports nothing heavy."""
    code = (
        "import sys, nel\n"
        "heavy = {'aiohttp', 'numpy', 'pydantic', 'stevedore', 'jinja2', 'scipy', 'rich'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
        "[getattr(nel, name) for name in nel.__all__]\n"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
