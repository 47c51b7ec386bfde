"""What a scorer imports and the data that it declares are in its digest; what it reads beside is listed."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from nel.authoring.registry import find_benchmark
from nel.config.schema import RunConfig
from nel.datasets.callables import open_callable
from nel.engine.planning.resolution import make_plans
from nel.engine.scorers.identity import scorer_digest, scorer_name, unseen_dependencies
from nel.errors import ConfigError

_NUMBERS = itertools.count()
HEAD = """
import importlib, os, sys
from importlib import import_module
from pathlib import Path

from nel import benchmark, scorer

HERE = Path(__file__).resolve().parent
"""
TAIL = """
@benchmark(name="mine", dataset="rows.jsonl", prompt="{{q}}", target_field="a", response_field="r")
@scorer({declared})
def mine(sample):
    return {{"correct": verdict(sample)}}
"""


def _bench(folder: Path, body: str, *, declared: str = "", in_package: bool = False) -> Path:
    """Write a benchmark whose `verdict(sample)` is the body, beside the files that it may depend on."""
    if in_package:
        (folder / "__init__.py").touch()
    (folder / "data").mkdir(parents=True)
    (folder / "lib").mkdir()
    for name in ("gold.json", "data/de.json", "rows.jsonl"):
        (folder / name).write_text('{"q": "q", "a": "a", "r": "a"}\n', encoding="utf-8")
    for name in ("beside", "deeper", "lib/inner"):
        (folder / f"{name}_rules.py").write_text("LIMIT = 1\n", encoding="utf-8")
    path = folder / f"bench{next(_NUMBERS)}.py"
    body = textwrap.indent(textwrap.dedent(body).strip(), "    ")
    path.write_text(f"{HEAD}\ndef verdict(sample):\n{body}\n{TAIL.format(declared=declared)}", encoding="utf-8")
    return path


def _edit(path: Path) -> None:
    """Change a file, which gets another size."""
    path.write_text(path.read_text(encoding="utf-8") + ("\nMORE = 2\n" if path.suffix == ".py" else "[]\n"))


def _digest_changes(bench: Path, changed: Path) -> bool:
    before = scorer_digest(find_benchmark(str(bench)))
    _edit(changed)
    return scorer_digest(find_benchmark(str(bench))) != before


IMPORTS = {
    "beside": ("import beside_rules", "beside_rules.py"),
    "by name": ('import_module("beside_rules")', "beside_rules.py"),
    "a folder beside": ("from lib.inner_rules import LIMIT", "lib/inner_rules.py"),
}
IN_PACKAGE = {
    "relative": ("from . import beside_rules", "beside_rules.py"),
    "absolute": ("from {package} import beside_rules", "beside_rules.py"),
    "by name": ('import_module(".beside_rules", __package__)', "beside_rules.py"),
}


@pytest.mark.parametrize(("body", "changed"), IMPORTS.values(), ids=IMPORTS)
def test_modules_of_a_folder_are_in_the_digest(tmp_path: Path, body: str, changed: str) -> None:
    """Also those that are imported inside a function."""
    bench = _bench(tmp_path, body)
    assert unseen_dependencies(find_benchmark(str(bench))) == ()
    assert _digest_changes(bench, tmp_path / changed)


@pytest.mark.parametrize(("body", "changed"), IN_PACKAGE.values(), ids=IN_PACKAGE)
def test_modules_of_a_package_are_in_the_digest(tmp_path: Path, body: str, changed: str) -> None:
    """Whether they are imported by their whole name or from where the scorer stands."""
    package = tmp_path / f"package{next(_NUMBERS)}"
    package.mkdir()
    bench = _bench(package, body.replace("{package}", package.name), in_package=True)
    assert _digest_changes(bench, package / changed)


def test_a_module_on_the_search_path_is_in_the_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As of a distribution that is installed for editing: no version tells of its changes."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "shared_rules.py").write_text("LIMIT = 1\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path / "elsewhere")
    bench = _bench(tmp_path, "import shared_rules")
    assert _digest_changes(bench, tmp_path / "elsewhere" / "shared_rules.py")


def test_the_version_of_another_distribution_is_in_the_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its files are not: a distribution is what its version says."""
    name = f"strange{next(_NUMBERS)}"
    site = tmp_path / "site-packages"
    (site / name).mkdir(parents=True)
    (site / name / "__init__.py").write_text("LIMIT = 1\n", encoding="utf-8")
    monkeypatch.syspath_prepend(site)
    digests = []
    for version, text in (("1.0", ""), ("1.0", "LIMIT = 2\n"), ("1.1", "")):
        folder = tmp_path / f"bench{len(digests)}"
        folder.mkdir()
        bench = _bench(folder, f"import {name}")
        (site / name / "__init__.py").write_text(text, encoding="utf-8")
        (site / f"{name}.dist-info").mkdir(exist_ok=True)
        (site / f"{name}.dist-info" / "METADATA").write_text(f"Name: {name}\nVersion: {version}\n")
        digests.append(_digest_in_new_process(bench, site))
    assert digests[0] == digests[1] != digests[2]


def _digest_in_new_process(bench: Path, site: Path) -> str:
    program = (
        "import sys\nfrom nel.authoring.registry import find_benchmark\n"
        "from nel.engine.scorers.identity import scorer_digest\nprint(scorer_digest(find_benchmark(sys.argv[1])))"
    )
    return subprocess.run(
        [sys.executable, "-c", program, str(bench)],
        env={**os.environ, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


@pytest.mark.parametrize(
    ("declared", "changed"),
    [('data="gold.json"', "gold.json"), ('data=["rows.jsonl", HERE / "data"]', "data/de.json")],
    ids=["file", "folder"],
)
def test_declared_data_is_in_the_digest(tmp_path: Path, declared: str, changed: str) -> None:
    """A file or a folder, beside the scorer's file, however the scorer comes to read it."""
    bench = _bench(tmp_path, "return open(sample.target)", declared=declared)
    assert unseen_dependencies(find_benchmark(str(bench))) == ()
    assert _digest_changes(bench, tmp_path / changed)


def test_the_data_of_a_class_and_of_a_member_is_in_the_digest(tmp_path: Path) -> None:
    """A class declares it as an attribute; a composed scorer has the data of its members."""
    bench = _bench(tmp_path, "return True")
    text = bench.read_text(encoding="utf-8").replace(
        "from nel import", "from nel.scoring import any_of\nfrom nel import"
    )
    member = "class Reads:\n    data_files = ('gold.json',)\n    def __call__(self, sample):\n        return True\n"
    bench.write_text(
        text.replace("@benchmark", f"{member}\n@benchmark").replace(
            "@scorer()\ndef", "@(lambda one: any_of(one, Reads()))\ndef"
        )
    )
    assert _digest_changes(bench, tmp_path / "gold.json")


def test_declared_data_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """Before the first request, with the scorer and the path."""
    bench = _bench(tmp_path, "return True", declared='data="gone.json"')
    with pytest.raises(ConfigError, match=r"^mine declares the data gone\.json, and there is no .*gone\.json"):
        scorer_digest(find_benchmark(str(bench)))


def test_the_members_of_a_composed_scorer_are_in_its_digest(tmp_path: Path) -> None:
    """The composition is nel's own function; its members are not."""
    bench = _bench(tmp_path, "return True")
    text = bench.read_text(encoding="utf-8").replace("@scorer()", "@any_of\n@scorer()")
    bench.write_text(text.replace("from nel import", "from nel.scoring import any_of\nfrom nel import"))
    assert _digest_changes(bench, bench)


UNSEEN = {
    "a file": ('open(HERE / "gold.json")', "open()"),
    "a method": ('(HERE / "gold.json").read_text()', "read_text()"),
    "a computed module": ("import_module(sample.target)", "import_module()"),
    "a program": ('import subprocess\nsubprocess.run(["true"])', "imports subprocess"),
}


@pytest.mark.parametrize(("body", "said"), UNSEEN.values(), ids=UNSEEN)
def test_what_is_read_and_not_declared_is_listed(tmp_path: Path, body: str, said: str) -> None:
    """With the file, and where it is one call with its line."""
    bench = _bench(tmp_path, body)
    (found,) = unseen_dependencies(find_benchmark(str(bench)))
    assert found.startswith(f"{bench.name} ")
    assert found.endswith(said)


def test_a_variable_that_is_set_and_kept_from_a_scorer_is_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is read by a literal name and not declared; without the note its default would be taken in silence."""
    body = """
        from os import environ
        os.environ["WRITTEN"] = "1"
        return [environ.get("SERVICE_URL", ""), os.getenv("SERVICE"), os.environ["DECLARED"], environ.get("UNSET")]
    """
    bench = _bench(tmp_path, body)
    bench.write_text(bench.read_text("utf-8").replace('prompt="{q}"', 'prompt="{q}", env="DECLARED"'), "utf-8")
    for name in ("SERVICE_URL", "SERVICE", "DECLARED", "WRITTEN"):
        monkeypatch.setenv(name, "set")
    monkeypatch.delenv("UNSET", raising=False)
    (plan,) = make_plans(RunConfig.model_validate({"benchmarks": [{"name": str(bench)}]}))
    assert " ".join(plan.notes) == (
        "mine: its files read SERVICE, SERVICE_URL, set here and not passed on to its scorer and tools; declare"
        ' env=["SERVICE", "SERVICE_URL"] where one of them reads it'
    )


def test_a_file_is_called_by_its_own_name(tmp_path: Path) -> None:
    """A run names scorer and rows alike wherever the file lies."""
    bench = _bench(tmp_path, "return True")
    text = bench.read_text(encoding="utf-8").replace("@benchmark", "def rows():\n    return []\n\n@benchmark")
    bench.write_text(text.replace('"rows.jsonl"', "rows"), encoding="utf-8")
    benchmark = find_benchmark(str(bench))
    assert scorer_name(benchmark).startswith(f"{bench.stem}:mine")
    assert callable(benchmark.dataset)
    assert open_callable(benchmark.dataset).uri == f"callable:{bench.stem}.rows"


def test_what_reads_the_dataset_beside_a_scorer_is_not_listed(tmp_path: Path) -> None:
    """A function for the rows in the same file decides no verdict; the rows are compared one by one."""
    bench = _bench(tmp_path, "return True")
    rows = "def rows():\n    return [eval(line) for line in open(HERE / 'rows.jsonl')]\n\n@benchmark"
    text = bench.read_text(encoding="utf-8").replace("@benchmark", rows).replace('"rows.jsonl"', "rows")
    bench.write_text(text, encoding="utf-8")
    assert unseen_dependencies(find_benchmark(str(bench))) == ()
