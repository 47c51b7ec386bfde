"""What a scorer reads and imports, in whatever way, is in its digest, or it is said that nel cannot know it."""

from __future__ import annotations

import itertools
import textwrap
from pathlib import Path

import pytest

from nel.authoring.registry import find_benchmark
from nel.config.schema import RunConfig
from nel.engine.planning.plan import make_plans
from nel.engine.scorers.dependencies import FILES_MAX, read_dependencies
from nel.engine.scorers.identity import scorer_digest, unseen_dependencies

_NUMBERS = itertools.count()
HEAD = """
import glob, importlib, importlib.util, json, os, pkgutil, runpy, subprocess, sys, tempfile
from importlib import import_module, resources
from importlib.resources import files
from pathlib import Path

from nel import benchmark, scorer

HERE = Path(__file__).resolve().parent
DATA = HERE / "data"
GOLD = "gold.json"
"""
TAIL = """
@benchmark(name="mine", dataset="rows.jsonl", prompt="{q}", target_field="a", response_field="r")
@scorer
def mine(sample):
    return {"correct": verdict(sample)}
"""


def _bench(folder: Path, body: str, *, in_package: bool = False) -> Path:
    """Write a benchmark whose `verdict(sample)` is the body, beside the files that it may depend on."""
    if in_package:
        (folder / "__init__.py").touch()
    (folder / "data" / "deep").mkdir(parents=True)
    (folder / "lib").mkdir()
    for name in ("gold.json", "gold.csv", "data/gold.json", "data/de.json", "data/deep/gold.json", "rows.jsonl"):
        (folder / name).write_text('{"q": "q", "a": "a", "r": "a"}\n', encoding="utf-8")
    for name in ("beside", "deeper", "lib/inner"):
        (folder / f"{name}_rules.py").write_text("LIMIT = 1\n", encoding="utf-8")
    path = folder / f"bench{next(_NUMBERS)}.py"
    body = textwrap.indent(textwrap.dedent(body).strip(), "    ")
    path.write_text(f"{HEAD}\ndef verdict(sample):\n{body}\n{TAIL}", encoding="utf-8")
    return path


def _edit(path: Path) -> None:
    """Change a file, which gets another size."""
    path.write_text(path.read_text(encoding="utf-8") + ("\nMORE = 2\n" if path.suffix == ".py" else "[]\n"))


SEEN = {
    "open": ('open(os.path.join(os.path.dirname(__file__), "gold.json"))', "gold.json"),
    "read_text": ('(HERE / "gold.json").read_text()', "gold.json"),
    "with": ('with open(HERE / "data" / GOLD) as file:\n    return json.load(file)', "data/gold.json"),
    "a computed name": ('open(DATA / f"{sample.metadata}.json")', "data/de.json"),
    "glob": ('[one.read_text() for one in DATA.glob("*.json")]', "data/de.json"),
    "pandas": ('import pandas as pd\npd.read_csv(HERE / "gold.csv")', "gold.csv"),
    "a program by path": ('runpy.run_path(str(HERE / "beside_rules.py"))', "beside_rules.py"),
    "a module by path": (
        'importlib.util.spec_from_file_location("r", HERE / "lib" / "inner_rules.py")',
        "lib/inner_rules.py",
    ),
    "import": ("import beside_rules", "beside_rules.py"),
    "a folder on the path": ('sys.path.insert(0, str(HERE / "lib"))\nimport inner_rules', "lib/inner_rules.py"),
}
IN_PACKAGE = {
    "files": ('files("{package}").joinpath("data", GOLD).read_text()', "data/gold.json"),
    "resources": ("resources.files() / GOLD\n(resources.files() / GOLD).read_text()", "gold.json"),
    "get_data": ('pkgutil.get_data(__name__, "data/gold.json")', "data/gold.json"),
    "relative import": ("from . import beside_rules", "beside_rules.py"),
    "absolute import": ("from {package} import beside_rules", "beside_rules.py"),
    "import_module": ('import_module(".beside_rules", __package__)', "beside_rules.py"),
}


def _digest_changes(bench: Path, changed: Path) -> bool:
    before = scorer_digest(find_benchmark(str(bench)))
    _edit(changed)
    return scorer_digest(find_benchmark(str(bench))) != before


@pytest.mark.parametrize(("body", "changed"), SEEN.values(), ids=SEEN)
def test_files_and_modules_of_a_scorer_are_in_its_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, changed: str
) -> None:
    """Read or imported inside a function, by a path that the source tells."""
    monkeypatch.chdir(tmp_path)
    bench = _bench(tmp_path, body)
    assert unseen_dependencies(find_benchmark(str(bench))) == ()
    assert _digest_changes(bench, tmp_path / changed)


@pytest.mark.parametrize(("body", "changed"), IN_PACKAGE.values(), ids=IN_PACKAGE)
def test_files_and_modules_of_a_package_are_in_its_digest(tmp_path: Path, body: str, changed: str) -> None:
    """As a package names them: resources, relative imports."""
    package = tmp_path / f"package{next(_NUMBERS)}"
    package.mkdir()
    bench = _bench(package, body.replace("{package}", package.name), in_package=True)
    assert unseen_dependencies(find_benchmark(str(bench))) == ()
    assert _digest_changes(bench, package / changed)


def test_a_module_that_an_imported_one_imports_later_is_in_the_digest(tmp_path: Path) -> None:
    """However far down, each inside a function, with the data that it reads."""
    bench = _bench(tmp_path, "import beside_rules")
    (tmp_path / "beside_rules.py").write_text("def rule():\n    import deeper_rules\n", encoding="utf-8")
    deeper = "from pathlib import Path\ndef limit():\n    return (Path(__file__).parent / 'gold.json').read_text()\n"
    (tmp_path / "deeper_rules.py").write_text(deeper, encoding="utf-8")
    assert _digest_changes(bench, tmp_path / "deeper_rules.py")
    assert _digest_changes(bench, tmp_path / "gold.json")


def test_the_members_of_a_composed_scorer_are_in_its_digest(tmp_path: Path) -> None:
    """The composition is nel's own function; its members are not."""
    bench = _bench(tmp_path, "return True")
    text = bench.read_text(encoding="utf-8")
    text = text.replace("@scorer\ndef mine", "@any_of\n@scorer\ndef mine").replace(
        "from nel import", "from nel.scoring import any_of\nfrom nel import"
    )
    bench.write_text(text, encoding="utf-8")
    assert _digest_changes(bench, bench)


UNSEEN = {
    "a path of the row": ('open(sample.metadata["path"])', "open() of a computed path"),
    "a parameter": ("def read(path):\n    return path.read_text()\nread(1)", ".read_text() of a computed path"),
    "a computed module": ("import_module(sample.target)", "importlib.import_module() of a computed name"),
    "a computed part of a module": ('__import__(f"rules_{sample.target}")', "__import__() of a computed name"),
    "a program": ('subprocess.run(["sh", "-c", "true"])', "subprocess.run()"),
    "a database": ('import sqlite3\nsqlite3.connect("gold.db")', "sqlite3.connect()"),
    "a module that is not there": ("sys.path.append(sample.target)\nimport far_away", "imports far_away"),
}


@pytest.mark.parametrize(("body", "said"), UNSEEN.values(), ids=UNSEEN)
def test_what_the_source_does_not_tell_is_listed(tmp_path: Path, body: str, said: str) -> None:
    """With the file, and where it is one place with its line."""
    bench = _bench(tmp_path, body)
    (found,) = unseen_dependencies(find_benchmark(str(bench)))
    assert found.startswith(f"{bench.name} ")
    assert said in found
    assert "line" in found or "imports" in found


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


def test_files_named_beside_an_unseen_reader_count_all_the_same(tmp_path: Path) -> None:
    """A helper that is given a name: the reader is listed, and the file with that name is in the digest."""
    bench = _bench(tmp_path, 'def load(name):\n    return open(HERE / name)\nload("gold.json")')
    assert unseen_dependencies(find_benchmark(str(bench)))
    assert _digest_changes(bench, tmp_path / "gold.json")
    assert not _digest_changes(bench, tmp_path / "gold.csv")


QUIET = {
    "a log": ('open(HERE / "gold.json", "a").write("x")', "gold.json"),
    "a file written and read": ('(HERE / "gold.json").write_text("x")\n(HERE / "gold.json").read_text()', "gold.json"),
    "a temporary file": ("with tempfile.NamedTemporaryFile() as file:\n    open(file.name)", "gold.json"),
    "its own dataset": ('(HERE / "rows.jsonl").read_text()', "rows.jsonl"),
    "a word": ('return "gold.json" in sample.response', "gold.json"),
    "an installed package": ("import numpy", "gold.json"),
    "an optional package": ("try:\n    import not_there_at_all\nexcept ImportError:\n    pass", "gold.json"),
}


@pytest.mark.parametrize(("body", "changed"), QUIET.values(), ids=QUIET)
def test_what_decides_nothing_is_neither_digested_nor_listed(tmp_path: Path, body: str, changed: str) -> None:
    """What a scorer writes, temporary files, its dataset, other files of its folder."""
    bench = _bench(tmp_path, body)
    assert unseen_dependencies(find_benchmark(str(bench))) == ()
    assert not _digest_changes(bench, tmp_path / changed)


def test_too_much_data_is_listed_instead_of_digested(tmp_path: Path) -> None:
    """Above the bound nothing of it is read, and the resume says so."""
    bench = _bench(tmp_path, "open(DATA / sample.target)")
    for number in range(FILES_MAX):
        (tmp_path / "data" / f"{number}.json").touch()
    (found,) = unseen_dependencies(find_benchmark(str(bench)))
    assert "of data" in found
    assert not _digest_changes(bench, tmp_path / "data" / "gold.json")


def test_a_moved_scorer_with_its_files_has_the_same_digest(tmp_path: Path) -> None:
    """Contents count, and no path of the machine."""
    digests = set()
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        bench = _bench(tmp_path / name, '(HERE / "gold.json").read_text()\nimport beside_rules')
        digests.add(scorer_digest(find_benchmark(str(bench))))
    assert len(digests) == 1


def test_large_and_hostile_sources_are_read(tmp_path: Path) -> None:
    """A thousand readers, a text that doubles in each line, names that refer to each other, and a long chain."""
    lines = [f'name{i} = HERE / "x{i}.json"\nopen(name{i})' for i in range(1_000)]
    doubling = ["a0 = 'x'", *(f"a{i} = a{i - 1} + a{i - 1}" for i in range(1, 200)), "open(a199)"]
    circle = ["one = other / 'x'", "other = one / 'x'", "open(one)"]
    (tmp_path / "large.py").write_text(HEAD + "\n".join([*lines, *doubling, *circle]), encoding="utf-8")
    assert len(read_dependencies(tmp_path / "large.py").reads) == 1_000
    chain = ["b0 = HERE", *(f"b{i} = b{i - 1} / 'x'" for i in range(1, 5_000)), "open(b4999)"]
    (tmp_path / "chain.py").write_text(HEAD + "\n".join(chain), encoding="utf-8")
    assert read_dependencies(tmp_path / "chain.py").unseen
