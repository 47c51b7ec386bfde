"""Every extension point has one page in code, one in the docs, an installed example, and a place that loads it."""

from __future__ import annotations

import ast
import hashlib
import json
import re
import shutil
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
import typer

from nel import plugins
from nel.artifacts.exporting.writers import export_run
from nel.artifacts.importing.writers import import_results
from nel.artifacts.model_readings import find_reader
from nel.authoring.registry import find_benchmark, find_members
from nel.authoring.scorer_names import find_scorer
from nel.authoring.statistics_names import find_metric, find_reducer
from nel.cli.app import app
from nel.datasets import open_dataset
from nel.discovery.extension_points import EXTENSION_POINTS, shape_error
from nel.engine.executors.find import find_executor
from nel.engine.observability.find import find_observer
from nel.engine.store.remote import store_of
from nel.episodes.solver_names import find_solver
from nel.errors import NelError, PluginError
from nel.judges.registry import check_template
from nel.models.wire.registry import wire_of
from nel.reports.writers import write_report
from tests.support.distributions import install, path_with
from tests.support.endpoint import Call, Reply, answer, scripted
from tests.support.runs import nel, only_run, read_json, read_results

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = tomllib.loads((ROOT / "plugins" / "nel-example" / "pyproject.toml").read_text())["project"]["entry-points"]


def test_groups_pages_and_loading_code_agree() -> None:
    """The groups, the page in code, the page in the docs, the example package and what the code loads are the same."""
    page = (ROOT / "docs" / "reference" / "extension-points.md").read_text(encoding="utf-8")
    groups = list(plugins.GROUPS.values())
    assert list(EXTENSION_POINTS) == list(plugins.GROUPS)
    assert re.findall(r"^## (.*)$", page, re.MULTILINE) == groups
    assert sorted(EXAMPLE) == sorted(groups)
    assert _loaded() == set(plugins.GROUPS)


def _loaded() -> set[str]:
    """Return the kinds that code of nel loads plugins of."""
    calls = (
        node
        for path in (ROOT / "nel").rglob("*.py")
        if "plugins." in (text := path.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and ast.unparse(node.func) in ("plugins.load", "plugins.find")
    )
    return {node.args[0].value for node in calls if isinstance(node.args[0], ast.Constant)}  # type: ignore[misc]


@pytest.mark.parametrize("kind", plugins.GROUPS)
def test_built_ins_and_examples_have_the_shape(kind: str) -> None:
    """Every plugin of nel and of nel-example is what its page says."""
    refs = [ref for ref in plugins.discover(kind) if ref.distribution in ("nel", "nel-example")]
    assert {"nel-example"} <= {ref.distribution for ref in refs}
    assert [(ref.name, shape_error(kind, plugins.load_ref(ref))) for ref in refs] == [(ref.name, None) for ref in refs]


@pytest.mark.parametrize(
    ("kind", "plugin", "message"),
    [
        ("benchmarks", 42, "it is a int, not a nel.Benchmark"),
        ("judges", 42, "it is a int, not a nel.Judge"),
        ("scorers", 42, "it is a int, which cannot be called"),
        ("scorers", len, None),
        ("datasets", lambda uri: uri, "it cannot be called as (uri, base_dir): too many positional arguments"),
        ("datasets", lambda uri, base_dir, hint=None: uri, None),
        ("bridges", lambda uri, base_dir: uri, "it cannot be called as (uri): missing a required argument: 'base_dir'"),
        ("reports", lambda: None, "it cannot be called as (run_dir): too many positional arguments"),
    ],
)
def test_a_plugin_of_another_shape_is_described(kind: str, plugin: object, message: str | None) -> None:
    """A function that nel could not call as the page says is named as such before any run."""
    assert shape_error(kind, plugin) == message


def _doubles(call: Call, _: int) -> Reply:
    number = re.search(r"What is (\d+) plus", str(call.body["messages"][-1]["content"]))
    assert number is not None
    return answer(str(2 * int(number[1])))


def test_one_run_uses_every_kind_of_plugin_of_an_installed_package(tmp_path: Path) -> None:
    """Bridge, dataset, scorer, metric, reducer and report of nel-example work together through the command line."""
    with scripted(_doubles, models=["m"]) as endpoint:
        command = ("eval", "run", "--bench", "example-sums://3", "--model-url", endpoint.url, "--model-id", "m")
        statistics = ("--metric", "nel-example:example-answer-length:unit=words", "--metric", "example-answer-length")
        repeats = ("--reducer", "nel-example:example-worst", "--repeats", "2")
        scorer = ("--scorer", "nel-example:example-keywords")
        reports = ("-O", "output.reports=[example-summary]", "-o", "out")
        done = nel(*command, *statistics, *repeats, *scorer, *reports, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    run_dir = only_run(tmp_path / "out")
    assert [row["reward"] for row in read_results(run_dir, "example-sums")] == [1.0] * 6
    values = {row["name"]: row["value"] for row in read_json(run_dir / "example-sums" / "metrics.json")["metrics"]}
    assert values["answer_length"] == 1.0
    assert [value for name, value in values.items() if "example-worst" in name] == [1.0]
    assert f"report: {Path('out') / run_dir.name / 'summary.md'}" in done.stdout
    summary = (run_dir / "summary.md").read_text(encoding="utf-8")
    assert "| example-sums | score | 1.000 |" in summary
    (run_dir / "summary.md").unlink()
    assert nel("report", str(run_dir), cwd=tmp_path).returncode == 0
    assert (run_dir / "summary.md").read_text(encoding="utf-8") == summary


JUDGED = """
from nel import benchmark, needs_judge, scorer

@benchmark(name="judged", dataset="pkg://nel_example/capitals.jsonl", prompt="{country}?", target_field="capital")
@scorer
def judged(sample):
    return needs_judge(sample)
"""


def test_a_benchmark_and_a_judge_of_an_installed_package_work(tmp_path: Path) -> None:
    """One run takes the benchmark of nel-example and the judge, each named by its package."""
    (tmp_path / "judged.py").write_text(JUDGED)

    def says(call: Call, _: int) -> Reply:
        return answer("VERDICT: yes" if "VERDICT" in str(call.body["messages"]) else "Answer: Paris")

    with scripted(says, models=["m"]) as endpoint:
        command = ("eval", "run", "--bench", "nel-example:example-capitals", "--bench", "judged.py", "-o", "out")
        models = ("--model-url", endpoint.url, "--model-id", "m", "--judge-url", endpoint.url, "--judge-id", "m")
        judge = ("--judge-template", "nel-example:example-yes-no", "--max-problems", "2")
        done = nel(*command, *models, *judge, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    run_dir = only_run(tmp_path / "out")
    assert len(read_results(run_dir, "example-capitals")) == 2
    rows = read_results(run_dir, "judged")
    assert [row["reward"] for row in rows] == [1.0, 1.0]


def _replies(call: Call, _: int) -> Reply:
    body = json.dumps(call.body, separators=(",", ":")).encode()
    if call.headers["X-Digest"] != hashlib.sha256(body).hexdigest():
        return Reply(status=400, body={"error": {"message": "wrong digest"}})
    number = re.search(r"What is (\d+) plus", call.body["question"])
    return Reply(body={"reply": str(2 * int(number[1])) if number else "VERDICT: yes", "used": 3})


def test_a_protocol_of_an_installed_package_asks_the_model_and_the_judge(tmp_path: Path) -> None:
    """What it writes is sent and signed, its answers are scored, and what it has no field for is refused first."""
    command = ("eval", "run", "--bench", "example-sums://3", "--model-id", "m", "-o", "out", "--max-tokens", "9")
    with scripted(_replies) as endpoint:
        url = ("--model-url", endpoint.url, "--protocol", "example-plain")
        done = nel(*command, *url, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert [sorted(call.body) for call in endpoint.calls] == [["model", "question", "warmth", "words"]] * 3
        endpoint.calls.clear()
        refused = nel(*command, *url, "--seed", "1", cwd=tmp_path)
        unknown = nel(*command, *url[:2], "--protocol", "example-plane", cwd=tmp_path)
        assert endpoint.calls == []
    run_dir = only_run(tmp_path / "out")
    assert [row["reward"] for row in read_results(run_dir, "example-sums")] == [1.0] * 3
    assert read_results(run_dir, "example-sums")[0]["tokens"]["completion"] == 3
    assert refused.returncode == unknown.returncode == 2
    assert "over the example-plain protocol: it has no seed; leave out --seed" in refused.stderr
    assert 'no client "example-plane" is installed; did you mean "example-plain"?' in unknown.stderr


REPORTS = """
def raises(run_dir):
    raise KeyError("headline")

def returns(run_dir):
    return "nowhere.txt"
"""


def test_a_report_that_fails_costs_itself_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run keeps its exit code and every file; the error is shown, and `nel report` exits 2 with it."""
    entries = {name: f"bad_reports:{name}" for name in ("raises", "returns")}
    install(tmp_path, "bad-reports", {"nel.reports": entries}, modules={"bad_reports": REPORTS})
    environment = path_with(tmp_path)
    with scripted(_doubles, models=["m"]) as endpoint:
        command = ("eval", "run", "--bench", "example-sums://1", "--model-url", endpoint.url, "--model-id", "m")
        named = ("-O", "output.reports=[raises, returns, example-summary]", "-o", "out")
        done = nel(*command, *named, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stderr
    assert "the report \"raises\" of bad-reports 1.0 failed: KeyError: 'headline'; the other files of" in done.stderr
    assert "returned 'nowhere.txt', which is not the path of a file" in done.stderr
    run_dir = only_run(tmp_path / "out")
    assert (run_dir / "summary.md").is_file()
    again = nel("report", str(run_dir), "-f", "raises", cwd=tmp_path, env=environment)
    assert again.returncode == 2
    assert 'the report "raises" of bad-reports 1.0 failed' in again.stderr
    assert f"report: {run_dir / 'report.html'}" in again.stdout


def test_bridges_and_readers_that_raise_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of a plugin's own code ends the command with the package's name."""
    source = "def fail(*_):\n    raise KeyError('x')\n"
    entries = {"nel.bridges": {"fails": "failing:fail"}, "nel.datasets": {"fails": "failing:fail"}}
    install(tmp_path, "failing", entries, modules={"failing": source})
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(PluginError, match=r"fails://a: the bridge \"fails\" of failing 1\.0 failed: KeyError: 'x'"):
        find_benchmark("fails://a")
    with pytest.raises(PluginError, match=r"fails://a: the \"fails\" reader of failing 1\.0 failed: KeyError: 'x'"):
        open_dataset("failing:fails://a")


TWINS = """
from dataclasses import replace

from nel.benchmarks.quickstart import quickstart
from nel.core.observer import Observer
from nel.datasets.files import open_path
from nel.engine.executors.local import local as make
from nel.artifacts.exporting import Exported
from nel.artifacts.importing import ImportedRun, ImportedBenchmark, ImportedResult
from nel.judges.templates import binary_qa
from nel.metrics import max_score, mean
from nel.models.wire.registry import CHAT
from nel.scoring import exact_match
from nel.artifacts.answer_readers import extract
from nel.types import Sample, Unscored
from nel_example.shelf import SHELF as store

def open_twin(uri, base_dir=None):
    return quickstart if base_dir is None else open_path(uri.partition("://")[2], base_dir)

def command():
    pass

async def solver(sample, episode):
    return None

def observer(run_dir):
    return Observer()

def write(run_dir):
    return run_dir

def export(run_dir, output):
    (output / "a.txt").write_text("a")
    return Exported(files=[output / "a.txt"])

def read_results(source):
    sample = Sample(id="a", input="q")
    result = ImportedResult(sample=sample, repeat=0, response=None, outcome=Unscored(cause="infra", kind="unknown"))
    return ImportedRun(format="x", benchmarks=[ImportedBenchmark(name="b", results=lambda: iter([result]))])
SUITE = {"suite": "two", "members": ["quickstart", "gsm8k"]}
"""
PLUGINS = {
    "benchmarks": "quickstart",
    "bridges": "open_twin",
    "scorers": "exact_match",
    "judges": "binary_qa",
    "metrics": "mean",
    "reducers": "max_score",
    "datasets": "open_twin",
    "reports": "write",
    "readers": "extract",
    "exporters": "export",
    "importers": "read_results",
    "executors": "make",
    "clients": "CHAT",
    "commands": "command",
    "observers": "observer",
    "solvers": "solver",
    "stores": "store",
    "suites": "SUITE",
}


def app_command() -> typer.core.TyperGroup:
    """Return the root of the command line."""
    root = typer.main.get_command(app)
    assert isinstance(root, typer.core.TyperGroup)
    return root


def root_context() -> typer.Context:
    """Return the context of `nel` itself."""
    return typer.Context(app_command(), info_name="nel")


def _use(kind: str, name: str, folder: Path) -> object:
    """Name a plugin as a user does, in the code that resolves the name."""
    uses: dict[str, Callable[[], object]] = {
        "benchmarks": lambda: find_benchmark(name),
        "bridges": lambda: find_benchmark(f"{name}://x"),
        "scorers": lambda: find_scorer(name),
        "judges": lambda: check_template(name),
        "metrics": lambda: find_metric(name),
        "reducers": lambda: find_reducer(name, repeats=2),
        "datasets": lambda: open_dataset(f"{name}://rows.jsonl", base_dir=folder),
        "reports": lambda: write_report(name, folder),
        "readers": lambda: find_reader(name),
        "exporters": lambda: export_run(name, folder, folder.parent / "exported"),
        "importers": lambda: import_results(folder, folder.parent / "imported", name=name),
        "executors": lambda: find_executor(name),
        "clients": lambda: wire_of(name),
        "commands": lambda: app_command().get_command(root_context(), name),
        "observers": lambda: find_observer(name, folder),
        "solvers": lambda: find_solver(name),
        "stores": lambda: store_of(f"{name}://x"),
        "suites": lambda: find_members(f"suite:{name}"),
    }
    return uses[kind]()


@pytest.mark.parametrize("kind", plugins.GROUPS)
def test_a_name_of_two_packages_is_refused_and_each_can_be_picked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Wherever a plugin is named, the bare name is an error that lists both, and `package:name` works."""
    (tmp_path / "rows.jsonl").write_text('{"question": "x"}\n')
    for package in ("first-evals", "second-evals"):
        entries = {plugins.GROUPS[kind]: {"twin": f"twins:{PLUGINS[kind]}"}}
        install(tmp_path, package, entries, modules={"twins": TWINS})
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(NelError, match=r"choose one with first-evals:twin.* or second-evals:twin"):
        _use(kind, "twin", tmp_path)
    _use(kind, "second-evals:twin", tmp_path)
    sys.modules.pop("twins", None)


def test_another_package_of_the_same_name_is_another_scorer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A resume with `package:name` scores the stored answers again and sends nothing."""
    rival = "from nel import ScorerInput, scorer\n\n@scorer\ndef exact_match(sample):\n    return False\n"
    entries = {"nel.scorers": {"exact_match": "rival_scorer:exact_match"}}
    install(tmp_path, "rival", entries, modules={"rival_scorer": rival})
    environment = path_with(tmp_path)
    with scripted(_doubles, models=["m"]) as endpoint:
        models = ("--model-url", endpoint.url, "--model-id", "m")
        command = ("eval", "run", "--bench", "example-sums://2", *models, "-o", "out")
        first = nel(*command, "--scorer", "exact_match", cwd=tmp_path, env=environment)
        assert first.returncode == 0, first.stderr
        assert "rival 1.0 also provides one; use rival:exact_match for that" in first.stderr
        run_dir = only_run(tmp_path / "out")
        assert [row["reward"] for row in read_results(run_dir, "example-sums")] == [1.0, 1.0]
        n_calls = len(endpoint.calls)
        again = nel(*command, "--scorer", "rival:exact_match", "--resume", cwd=tmp_path, env=environment)
        assert again.returncode == 0, again.stderr
        assert len(endpoint.calls) == n_calls
    assert [row["reward"] for row in read_results(run_dir, "example-sums")] == [0.0, 0.0]
    bundle = read_json(run_dir / "example-sums" / "eval-example-sums.json")
    assert bundle["config"]["scorer"]["name"] == "rival_scorer:exact_match"


def test_a_command_and_an_observer_of_an_installed_package_work(tmp_path: Path) -> None:
    """The observer of nel-example counts the outcomes of a run, and its command the answers with a reward."""
    with scripted(_doubles, models=["m"]) as endpoint:
        command = ("eval", "run", "--bench", "example-sums://3", "--model-url", endpoint.url, "--model-id", "m")
        done = nel(*command, "--observer", "example-counts:file=counts.json", "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    run_dir = only_run(tmp_path / "out")
    assert read_json(run_dir / "counts.json") == {"Scored": 3}
    assert nel("example-count", str(run_dir), cwd=tmp_path).stdout == "example-sums: 3 of 3\n"
    assert "From nel-example 0.1.0." in nel("--help", cwd=tmp_path).stdout


def test_a_bridge_lends_names_and_knows_a_configuration(tmp_path: Path) -> None:
    """A file written for another tool runs with nel's names; that tool's configuration is refused with its own words."""
    (tmp_path / "theirs.py").write_text(
        "from example_tool import scorer, task\n\n"
        "@task(name='theirs', dataset=lambda: [{'q': 'Say A', 'target': 'A'}], prompt='{q}')\n"
        "@scorer\n"
        "def theirs(sample):\n"
        "    return sample.response == sample.target\n"
    )
    (tmp_path / "theirs.yaml").write_text("example_tool: 1\n")
    with scripted(lambda *_: answer("A"), models=["m"]) as endpoint:
        command = ("eval", "run", "--model-url", endpoint.url, "--model-id", "m", "-o", "out")
        assert nel(*command, "--bench", "theirs.py", cwd=tmp_path).returncode == 0
    assert [row["reward"] for row in read_results(only_run(tmp_path / "out"), "theirs")] == [1.0]
    refused = nel("eval", "run", "theirs.yaml", cwd=tmp_path)
    assert refused.returncode == 2
    assert "theirs.yaml: this is a configuration of example_tool" in refused.stderr


def test_a_store_of_an_installed_package_keeps_a_run(tmp_path: Path) -> None:
    """A run is worked on here and kept on the shelf of nel-example with its decision, resumed from there, and read."""
    shelf = f"example-shelf://{tmp_path}/shelf"
    with scripted(_doubles, models=["m"]) as endpoint:
        models = ("--model-url", endpoint.url, "--model-id", "m")
        command = ("eval", "run", "--bench", "example-sums://3", *models, "--run-id", "one", "-o")
        stopped = nel(*command, shelf, "--max-requests", "1", cwd=tmp_path)
        assert stopped.returncode == 75
        shutil.rmtree(tmp_path / "example-shelf")
        resumed = nel("eval", "resume", f"{shelf}/one", "-O", "budget.max_requests=null", cwd=tmp_path)
        assert resumed.returncode == 0, resumed.stderr
        held = nel(*command, shelf, "--resume", "--fail-under", "accuracy=0.1", cwd=tmp_path)
        nowhere = nel(*command, "nowhere://x", cwd=tmp_path)
    assert len(read_results(tmp_path / "shelf" / "one", "example-sums")) == 3
    assert nel("verify", f"{shelf}/one", cwd=tmp_path).returncode == 0
    assert held.returncode == 0, held.stderr
    assert (tmp_path / "shelf" / "one" / "decision.json").is_file()
    gated = nel("gate", f"{shelf}/one", "--fail-under", "accuracy=0.1", cwd=tmp_path)
    assert gated.returncode == 0, gated.stderr
    assert nowhere.returncode == 2
    assert "no installed package keeps runs at nowhere://; pip install" in nowhere.stderr
