"""Results of other tools become runs that nel reads; what the source does not say is unknown and never a score."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nel.artifacts.exporting.writers import export_run
from nel.artifacts.importing.writers import import_results
from nel.comparison.gate import gate
from nel.comparison.nel_runs import read_side
from nel.decide.policy import Policy
from nel.decide.verdict import GateDecision
from nel.errors import NelError, ResumeRefused
from nel.reports.run_warnings import texts_of
from nel.runs.evaluation import stored_config
from tests.artifacts.exporting.test_inspect_log import members_of
from tests.artifacts.exporting.test_tables import storable, stored
from tests.support.runs import read_json
from tests.support.viewed_run import build_viewed_run


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_viewed_run(tmp_path_factory.mktemp("source") / "run", is_complete=True)


def exchanged(format_name: str, source: Path, folder: Path) -> tuple[Path, Path, Path]:
    """Export, import and export again; return the first export, the imported run and the second export."""
    first, run, second = folder / "first", folder / "run", folder / "second"
    export_run(format_name, source, first)
    import_results(first, run)
    export_run(format_name, run, second)
    return first, run, second


def test_inspect_comes_back_equal(source: Path, tmp_path: Path) -> None:
    """Samples and results of the second log are those of the first, and the run has every answer and outcome."""
    first, run, second = exchanged("inspect", source, tmp_path)
    logs = [members_of(first), members_of(second)]
    samples = [{name: one for name, one in log.items() if name.startswith(("samples/", "summaries"))} for log in logs]
    for log in samples:  # an import does not take over when each answer came
        for name in log.keys() - {"summaries.json"}:
            del log[name]["store"]["nel"]["timing"]
    assert samples[0] == samples[1]
    assert logs[0]["header.json"]["results"] == logs[1]["header.json"]["results"]
    assert logs[0]["header.json"]["stats"] == logs[1]["header.json"]["stats"]
    assert json.loads(json.dumps(stored(run))) == [
        {**one, "model_response": storable(one["model_response"])} for one in stored(source)
    ]
    metrics = [read_json(one / "quiz" / "metrics.json") for one in (source, run)]
    assert metrics[0]["accounting"] == metrics[1]["accounting"]
    assert metrics[0]["headline"] == metrics[1]["headline"]
    assert any("accuracy is 0.444444 in the source" in one for one in texts_of(metrics[1]))


def test_lm_eval_comes_back_equal(source: Path, tmp_path: Path) -> None:
    """The sample file is equal byte for byte, and so are the scores of each task."""
    first, run, second = exchanged("lm-eval", source, tmp_path)
    files = [next(folder.glob("samples_*.jsonl")) for folder in (first, second)]
    results = [read_json(next(folder.glob("results_*.json"))) for folder in (first, second)]
    assert files[0].name == files[1].name
    assert files[0].read_bytes() == files[1].read_bytes()
    kept = ("higher_is_better", "n-samples", "n-shot", "versions", "date", "model_name")
    assert [results[0][name] for name in kept] == [results[1][name] for name in kept]
    values = [{name: one for name, one in each["results"]["quiz"].items() if name != "nel"} for each in results]
    assert values[0] == values[1]
    assert read_json(run / "quiz" / "metrics.json")["accounting"]["n_unscored"] == 3


def test_a_log_that_did_not_end_is_not_complete(tmp_path: Path) -> None:
    """The status cancelled stays, and such a run cannot be compared."""
    source = build_viewed_run(tmp_path / "source", n=4, answered=2, ended="stopped")
    _, run, second = exchanged("inspect", source, tmp_path)
    assert members_of(second)["header.json"]["status"] == "cancelled"
    with pytest.raises(NelError, match="was imported of a run that did not end"):
        read_side(run, "a")


def test_an_imported_run_cannot_be_resumed(source: Path, tmp_path: Path) -> None:
    """The message says where the run came from and what can be done with it."""
    _, run, _ = exchanged("inspect", source, tmp_path)
    with pytest.raises(ResumeRefused, match=r"was imported from inspect and can neither be resumed nor scored again; "):
        stored_config(run)


LINE: dict[str, Any] = {
    "doc_id": 0, "doc": {"q": "x"}, "target": "1", "filter": "none", "metrics": ["acc"], "acc": 1.0, "resps": [["1"]],
    "arguments": {"gen_args_0": {"arg_0": "x", "arg_1": {}}}, "filtered_resps": ["1"],
}  # fmt: skip


def test_an_imported_run_never_passes_a_gate(source: Path, tmp_path: Path) -> None:
    """Equal scores are INCONCLUSIVE where a side was imported, since what it left out is unknown."""
    _, run, _ = exchanged("inspect", source, tmp_path)
    policy = Policy.model_validate({"defaults": {"max_drop": 0.9}, "min_pairs": 2, "max_unscored": 0.5})
    sides = read_side(source, "nel"), read_side(run, "imported")
    assert gate(sides[0], sides[0], policy, despite=frozenset()).decision is GateDecision.GO
    for baseline, candidate in (sides, sides[::-1], (sides[1], sides[1])):
        found = gate(baseline, candidate, policy, despite=frozenset())
        assert found.decision is GateDecision.INCONCLUSIVE
        assert any("was imported, and its source does not record" in one for one in found.benchmarks[0].reasons)


def _lines(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _log(path: Path, **members: object) -> Path:
    with zipfile.ZipFile(path, "w") as log:
        for name, value in members.items():
            log.writestr(name.replace("__", "/") + ".json", json.dumps(value))
    return path


HEADER = {"version": 2, "status": "success", "eval": {"task": "t", "model": "m"}}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda at: _lines(at / "samples_t.jsonl", json.dumps(LINE), "{"), r"samples_t\.jsonl, line 2 is not JSON"),
        (lambda at: _lines(at / "samples_t.jsonl", json.dumps({**LINE, "doc_id": "a"})), 'line 1: "doc_id" is missing'),
        (
            lambda at: _lines(at / "samples_t.jsonl", json.dumps(LINE), json.dumps(LINE)),
            "two results of the sample",
        ),
        (lambda at: _lines(at / "samples_t.jsonl", json.dumps({**LINE, "acc": "x"})), "no metric that is a number"),
        (lambda at: _lines(at / "log.eval", "text"), r"log\.eval is not an Inspect log"),
        (lambda at: _log(at / "log.eval", _journal__start={}), r"no header\.json: it is still written"),
        (lambda at: _log(at / "log.eval", header=HEADER, samples__a={"id": "a"}), r'a\.json: "epoch" is missing'),
        (lambda at: _log(at / "log.eval", header=HEADER), "no sample in the source"),
        (lambda at: _lines(at / "other.txt", "x"), "holds no results that can be imported; tried: "),
        (lambda at: at / "missing", "there is no"),
    ],
)
def test_a_bad_source_is_named_and_nothing_is_written(
    tmp_path: Path, make: Callable[[Path], Path], message: str
) -> None:
    """The error has the place in the source and the exit code 2; no file is left, half-written or hidden."""
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    with pytest.raises(NelError, match=message) as caught:
        import_results(make(tmp_path / "in"), tmp_path / "out" / "run")
    assert caught.value.exit_code == 2
    assert not list((tmp_path / "out").iterdir())


def test_a_sample_with_an_error_and_a_score_is_unscored(tmp_path: Path) -> None:
    """A sample that broke off has no score, whatever stands beside the error."""
    broken = {
        "id": 1,
        "epoch": 1,
        "input": "q",
        "target": "a",
        "scores": {"s": {"value": "C"}},
        "error": {"message": "x"},
    }
    right = {**broken, "id": 2, "error": None}
    import_results(_log(tmp_path / "log.eval", header=HEADER, samples__a=broken, samples__b=right), tmp_path / "run")
    metrics = read_json(tmp_path / "run" / "t" / "metrics.json")
    assert (metrics["accounting"]["n_scored"], metrics["accounting"]["n_unscored"]) == (1, 1)
    assert metrics["headline"]["value"] == 1.0


@pytest.mark.parametrize(
    "header", [HEADER, {**HEADER, "results": {"scores": [{"scorer": "strict"}, {"scorer": "lax"}]}}]
)
def test_two_scorers_of_a_log_are_never_mixed(tmp_path: Path, header: dict[str, object]) -> None:
    """The first gives the score, of a sample that it did not score none; what the others say are metrics."""
    both = {"strict": {"value": "I"}, "lax": {"value": {"form": "C", "sense": float("nan")}}}
    samples = {
        f"samples__{idx}": {"id": idx, "epoch": 1, "input": "q", "target": "a", "scores": scores}
        for idx, scores in enumerate((both, {"lax": {"value": "C"}}, {**both, "strict": {"value": "C"}}))
    }
    import_results(_log(tmp_path / "log.eval", header=header, **samples), tmp_path / "run")
    metrics = read_json(tmp_path / "run" / "t" / "metrics.json")
    assert (metrics["accounting"]["n_scored"], metrics["accounting"]["n_unscored"]) == (2, 1)
    assert metrics["headline"]["value"] == 0.5
    values = {one["name"]: one["value"] for one in metrics["metrics"]}
    assert (values["strict"], values["lax/form"]) == (0.5, 1.0)
    assert "lax/sense" not in values
