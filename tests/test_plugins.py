"""Plugins are found through entry points; a broken one is named and harms nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from nel import plugins
from nel.discovery.listing import describe_all
from nel.errors import PluginError
from tests.support.distributions import install, path_with
from tests.support.runs import nel

QUICKSTART = "nel.benchmarks.quickstart:quickstart"
EXACT = "nel.scoring.text:exact_match"


def test_a_missing_plugin_has_a_suggestion() -> None:
    """An unknown name is an error with the nearest known one."""
    with pytest.raises(PluginError, match='no benchmark "gsm8" is installed; did you mean "gsm8k"'):
        plugins.load("benchmarks", "gsm8")


def test_an_unknown_kind_has_a_suggestion() -> None:
    """An unknown kind of plugin is an error with the nearest known one."""
    with pytest.raises(PluginError, match='did you mean "benchmarks"'):
        plugins.discover("benchmark")


def test_what_a_plugin_prints_is_not_on_stdout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """stdout is nel's own output, which may be JSON; a plugin that prints when it is imported prints to stderr."""
    (tmp_path / "loud_scorers.py").write_text(
        "print('imported')\ndef loud(sample):\n    return True\n", encoding="utf-8"
    )
    install(tmp_path, "loud", {"nel.scorers": {"loud": "loud_scorers:loud"}})
    monkeypatch.syspath_prepend(tmp_path)
    assert plugins.load("scorers", "loud")(None) is True
    assert capsys.readouterr() == ("", "imported\n")


def test_a_built_in_keeps_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bare name stays nel's own where another package takes it, with a note; `package:name` picks the other."""
    install(tmp_path, "rival", {"nel.benchmarks": {"gsm8k": QUICKSTART}})
    monkeypatch.syspath_prepend(tmp_path)
    with plugins.collect_notes() as notes:
        assert plugins.load("benchmarks", "gsm8k").name == "gsm8k"
        assert plugins.load("benchmarks", "nel:gsm8k").name == "gsm8k"
        assert plugins.load("benchmarks", "rival:gsm8k").name == "quickstart"
    assert notes == ['benchmark "gsm8k": nel\'s own is used; rival 1.0 also provides one; use rival:gsm8k for that']


def test_two_packages_with_one_name_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a built-in a shared name is refused; the message names both and how to pick one."""
    install(tmp_path, "my-evals", {"nel.scorers": {"shared": EXACT}})
    install(tmp_path, "other_evals", {"nel.scorers": {"shared": "nel.scoring.answers:numeric_match"}})
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(PluginError) as refused:
        plugins.load("scorers", "shared")
    assert str(refused.value) == (
        f'the scorer "shared" is provided by my-evals 1.0 ({EXACT}) and other_evals 1.0 '
        "(nel.scoring.answers:numeric_match); choose one with my-evals:shared or other_evals:shared"
    )
    assert plugins.load("scorers", "my-evals:shared").__name__ == "exact_match"
    assert plugins.load("scorers", "My_Evals:shared").__name__ == "exact_match"
    assert plugins.load("scorers", "other-evals:shared").__name__ == "numeric_match"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("other-evals:shared", 'no package "other-evals" provides a scorer "shared"; nel list scorers shows all'),
        ("nel:exat", 'no package "nel" provides a scorer "exat"; did you mean "nel:exact"?'),
        (
            "exact:loose",
            'no package "exact" provides a scorer "loose"; write options as key=value, as in exact:loose=VALUE',
        ),
    ],
)
def test_a_package_without_the_plugin_is_an_error(name: str, message: str) -> None:
    """A package that is not installed, a name that it does not have and an option without a value are told apart."""
    with pytest.raises(PluginError) as refused:
        plugins.find("scorers", name)
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("text", "name", "options"),
    [
        ("match", "match", ""),
        ("match:location=begin,numeric=true", "match", "location=begin,numeric=true"),
        ("Nel.Foo_2:match:location=begin", "Nel.Foo_2:match", "location=begin"),
        ("nel-foo:pattern:pattern=a:b=c\nd", "nel-foo:pattern", "pattern=a:b=c\nd"),
        (" match : location=begin", "match", " location=begin"),
        ("match:location", "match:location", ""),
        ("Broken Name", "Broken Name", ""),
    ],
)
def test_a_name_is_split_from_its_options(text: str, name: str, options: str) -> None:
    """The part after the first colon is a name unless it holds `=`."""
    assert plugins.split_options(text) == (name, options)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("hf://owner/name", ("hf", "hf://owner/name")),
        ("LM-Eval://arc:easy", ("lm-eval", "LM-Eval://arc:easy")),
        ("nel-foo:hf://a:b", ("nel-foo:hf", "hf://a:b")),
        ("gsm8k", None),
        ("nel-foo:gsm8k", None),
        ("./bench.py:name", None),
    ],
)
def test_a_scheme_is_split_from_its_uri(text: str, parts: tuple[str, str] | None) -> None:
    """A URI names the plugin of its scheme, of one package where that stands before it; the plugin gets the URI."""
    assert plugins.split_uri(text) == parts


def test_a_group_that_nel_does_not_load_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plugin in an unknown group is listed as broken, and a name that only such a group has is explained."""
    install(tmp_path, "nel-foo", {"nel.engines": {"foo": EXACT}, "nel.scorer": {"foo-match": EXACT}})
    listed = nel("list", cwd=tmp_path, env=path_with(tmp_path))
    assert listed.returncode == 0, listed.stderr
    (line,) = [line for line in listed.stdout.splitlines() if "nel.engines" in line]
    known = ", ".join(plugins.GROUPS.values())
    assert line.split(maxsplit=4) == [
        "foo",
        "nel.engines",
        "nel-foo",
        "1.0",
        'BROKEN: the package nel-foo declares the group "nel.engines", which nel does not load; known groups: ' + known,
    ]
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(PluginError, match=r'nel-foo declares the group "nel\.scorer", which'):
        plugins.load("scorers", "foo-match")


def test_a_listing_shows_every_plugin_of_one_name(tmp_path: Path) -> None:
    """Each says how its name is resolved."""
    install(tmp_path, "rival", {"nel.scorers": {"exact_match": "nel.scoring.answers:numeric_match"}})
    listed = nel("list", "scorers", cwd=tmp_path, env=path_with(tmp_path))
    assert listed.returncode == 0, listed.stderr
    own, rival = [line for line in listed.stdout.splitlines() if line.startswith("exact_match ")]
    assert own.endswith("rival 1.0 also provides one; use rival:exact_match for that)")
    assert rival.endswith('(use rival:exact_match; "exact_match" alone is nel\'s own)')


def test_a_new_distribution_is_seen_at_once_and_gone_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Discovery has no cache that outlives an install or uninstall."""
    monkeypatch.syspath_prepend(tmp_path)
    install(tmp_path, "fresh", {"nel.scorers": {"fresh-scorer": EXACT}})
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
    assert "it is a int, not a nel.Benchmark" in done.stdout


@pytest.mark.slow
def test_a_plugin_that_hangs_is_given_up_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one whose import has no end carries that as its error; those before and after it are described."""
    hangs = {"hanging_plugin": "import time; time.sleep(600)"}
    install(tmp_path, "hanging", {"nel.scorers": {"hangs": "hanging_plugin:scorer"}}, modules=hangs)
    monkeypatch.syspath_prepend(tmp_path)
    chosen = [ref for ref in plugins.discover("scorers") if ref.name in ("exact_match", "hangs", "numeric_match")]
    found = {info.ref.name: info for info in describe_all(chosen, import_seconds=20)}
    assert list(found) == ["exact_match", "hangs", "numeric_match"]
    assert "cannot be imported: it takes longer than 20 s; update or uninstall hanging" in (found["hangs"].error or "")
    assert found["exact_match"].description
    assert found["numeric_match"].description
    assert "hanging_plugin" not in sys.modules


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


def _distribution(folder: Path, name: str, entries: str) -> None:
    """Put the metadata of a distribution into a folder of the path."""
    info = folder / f"{name.replace('-', '_')}-9.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 9.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(entries, encoding="utf-8")


def test_a_distribution_called_nel_adds_no_built_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """nel's distribution is nel-eval; another package's plugins do not pass for its own."""
    _distribution(tmp_path, "nel-eval", "[nel.scorers]\nexact = nel.scoring.configurable:exact\n")
    _distribution(tmp_path, "nel", "[nel.scorers]\nexact = elsewhere:exact\nodd = elsewhere:odd\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert [(ref.name, ref.target) for ref in plugins.discover("scorers")] == [
        ("exact", "nel.scoring.configurable:exact")
    ]


@pytest.mark.parametrize("package", ["nel", "nel-eval", "nel_eval"])
def test_built_ins_are_of_nel_by_either_name(package: str) -> None:
    """The name of the import package and that of the distribution qualify a built-in alike."""
    found = plugins.find("scorers", f"{package}:exact")
    assert (found.qualified, found.is_built_in) == ("nel:exact", True)


DAMAGED = {
    "no UTF-8": b"Metadata-Version: 2.1\nName: evil\nVersion: 1\nSummary: \xff\n",
    "no version": b"Metadata-Version: 2.1\nName: evil\n",
    "no metadata": b"",
}


@pytest.mark.parametrize("data", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_package_is_listed_and_hides_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes
) -> None:
    """What is installed beside it is found as ever."""
    install(tmp_path, "evil", {"nel.benchmarks": {"hostile": "x:y"}})
    (tmp_path / "evil-1.0.dist-info" / "METADATA").write_bytes(data)
    monkeypatch.syspath_prepend(tmp_path)
    assert plugins.find("benchmarks", "quickstart").target == QUICKSTART
    listed = {ref.distribution for ref in (*plugins.discover("benchmarks"), *plugins.discover_unknown())}
    assert listed & {"evil", "evil-1.0.dist-info"}
