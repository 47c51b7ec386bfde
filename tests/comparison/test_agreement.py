"""Files of a run that do not say the same decide nothing: no comparison, no gate, no floor, no leaderboard."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from nel.cli.app import app
from nel.config.identity import Identity
from nel.engine.store.log import Log
from tests.support.compared import line, lm_eval_lines, nemo_lines, write_lm_eval, write_nemo, write_run

N = 200
GOOD = [float(place % 4 != 0) for place in range(N)]
Edit = Callable[[dict[str, Any]], object]


def _metrics(edit: Edit) -> Callable[[Path], None]:
    return lambda folder: _edit(folder / "metrics.json", edit)


def _bundle(edit: Edit) -> Callable[[Path], None]:
    return lambda folder: _edit(folder / "eval-quiz.json", edit)


def _edit(path: Path, edit: Edit) -> None:
    content = json.loads(path.read_text(encoding="utf-8"))
    edit(content)
    path.write_text(json.dumps(content), encoding="utf-8")


def _lines(edit: Callable[[list[dict[str, Any]]], object]) -> Callable[[Path], None]:
    def edited(folder: Path) -> None:
        path = folder / "results.jsonl"
        rows = [json.loads(one) for one in path.read_text(encoding="utf-8").splitlines()]
        edit(rows)
        path.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")

    return edited


def _text(name: str, old: str, new: str, count: int = -1) -> Callable[[Path], None]:
    def edited(folder: Path) -> None:
        text = (folder / name).read_text(encoding="utf-8")
        assert old in text
        (folder / name).write_text(text.replace(old, new, count), encoding="utf-8")

    return edited


def _row(**changes: object) -> Edit:
    return lambda content: [row.update(changes) for row in content["metrics"] if row["name"] == "accuracy"]


def _score(value: object) -> Edit:
    return lambda content: (content["headline"].update(value=value), _row(value=value)(content))


def _unscored(rows: list[dict[str, Any]]) -> None:
    rows[5].update(reward=None, outcome={"state": "unscored", "cause": "infra", "kind": "timeout", "detail": None})


EDITS: dict[str, tuple[Callable[[Path], None], str]] = {
    "a score raised by hand": (_lines(lambda rows: rows[0].update(reward=1.0)), "does not agree with metrics.json"),
    "a sample set unscored": (_lines(_unscored), "n_scored is 200 in metrics.json and 199 by its lines"),
    "a line for another": (_lines(lambda rows: rows.__setitem__(-1, rows[0])), "does not agree"),
    "another value of a metric": (_text("results.jsonl", '"extra": 1.0', '"extra": 0.5', 1), "extra is 1 in"),
    "another score": (_metrics(_score(0.9)), "differ in accuracy 0.9 and 0.75"),
    "a headline by another name": (_metrics(lambda one: one["headline"].update(metric="f1")), "headline f1"),
    "fewer scored": (_metrics(lambda one: one["accounting"].update(n_scored=190)), "n_scored is 190 in metrics.json"),
    "another run's metrics": (_metrics(lambda one: one.update(run_id="z")), "differ in run_id z and run"),
    "another count": (_bundle(lambda one: one.update(n_results=3)), "differ in number of results 200 and 3"),
    "settings that were not those": (
        _bundle(lambda one: one["identity_fields"].update({"generation.temperature": 0.7})),
        "do not have the digest",
    ),
    "two bundles": (
        lambda folder: shutil.copy(folder / "eval-quiz.json", folder / "eval-a.json"),
        "two files eval-*.json",
    ),
    "a folder twice": (
        lambda folder: shutil.copytree(folder, folder.parent / "quiz copy"),
        "two folders of quiz: quiz and quiz copy",
    ),
}
HARMLESS: dict[str, Callable[[Path], None]] = {
    "another order": _lines(lambda rows: rows.reverse()),
    "other line ends": _text("results.jsonl", "\n", "\r\n"),
}


@pytest.fixture(name="run_dir")
def _run_dir(tmp_path: Path) -> Path:
    """Return a run, with a policy that it passes against itself beside it."""
    rows = [line(idx, one, scoring_details={"metrics": {"correct": one, "extra": 1.0}}) for idx, one in enumerate(GOOD)]
    run_dir = write_run(tmp_path / "run", rows)

    def with_scores(one: dict[str, Any]) -> None:
        score = {"value": 0.75, "ci_lower": None, "ci_upper": None, "n": len(rows)}
        one["benchmark"] |= {"repeats": 1, "scores": {"accuracy": score, "mean_reward": {**score}}}
        one["identity"] = Identity(fields=one["identity_fields"]).digest

    _edit(run_dir / "quiz" / "eval-quiz.json", with_scores)
    (tmp_path / "policy.yaml").write_text("defaults: {max_drop: 0.1}\n", encoding="utf-8")
    return run_dir


def _said(run_dir: Path, *, whole: Path) -> list[tuple[int, str, str]]:
    """Return exit code, stdout and stderr of each command that decides on a run."""
    there = run_dir.parent
    options = ("--policy", there / "policy.yaml", "-o", there / "out")
    commands = (
        ("compare", whole, run_dir, "--json"),
        ("gate", whole, run_dir, *options, "--json"),
        ("gate", run_dir, whole, *options, "--json"),
        ("gate", run_dir, "--fail-under", "accuracy=0.6", "-o", there / "out", "--json"),
        ("leaderboard", whole, run_dir, "--json"),
    )
    done = [CliRunner().invoke(app, [*map(str, command)]) for command in commands]
    return [(one.exit_code, one.stdout, one.stderr) for one in done]


@pytest.mark.parametrize("name", EDITS)
def test_files_that_do_not_agree_are_refused(run_dir: Path, tmp_path: Path, name: str) -> None:
    """On either side and alone, with one line that names the file and what differs."""
    edit, words = EDITS[name]
    whole = tmp_path / "whole"
    shutil.copytree(run_dir, whole)
    edit(run_dir / "quiz")
    for code, shown, said in _said(run_dir, whole=whole):
        assert (code, shown, len(said.splitlines())) == (2, "", 1), said
        assert words in said


@pytest.mark.parametrize("name", HARMLESS)
def test_what_changes_no_result_changes_nothing(run_dir: Path, tmp_path: Path, name: str) -> None:
    """The same bytes are printed for lines in another order, or written otherwise."""
    whole = tmp_path / "whole"
    shutil.copytree(run_dir, whole)
    before = _said(run_dir, whole=whole)
    HARMLESS[name](run_dir / "quiz")
    assert [code for code, _, _ in before] == [0] * 5
    assert _said(run_dir, whole=whole) == before


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"ci_lower": 0.74, "ci_upper": 0.76}, "ci_lower of accuracy is 0.74 in metrics.json and 0.6856"),
        ({"ci_lower": 0.9, "ci_upper": 0.1}, "is none of level 0.95"),
        ({"ci_lower": 0.69, "ci_upper": None}, "is none of level 0.95"),
        ({"ci_level": 0.5}, "is none of level 0.95"),
        ({"ci_level": 0.0}, "ci_level:"),
        ({"bounds": {"lower": 0.9, "upper": 0.9}}, "the bounds of accuracy do not hold its value"),
        ({"bounds": {"lower": 0.7, "upper": 0.8}}, "lower bound of accuracy is 0.7 in metrics.json and 0.75"),
    ],
)
def test_a_floor_is_held_against_the_interval_of_the_samples(
    run_dir: Path, changes: dict[str, Any], words: str
) -> None:
    """An interval that the samples do not have decides nothing, even where the headline says the same."""

    def edit(one: dict[str, Any]) -> None:
        one["headline"].update(changes)
        _row(**changes)(one)

    _edit(run_dir / "quiz" / "metrics.json", edit)
    done = CliRunner().invoke(app, ["gate", str(run_dir), "--fail-under", "accuracy=0.6"])
    assert (done.exit_code, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert words in done.stderr


def test_one_id_of_two_samples_holds_no_floor(run_dir: Path) -> None:
    """A copied sample under another position would count twice."""
    _lines(lambda rows: rows[5].update(sample_id="q6"))(run_dir / "quiz")
    done = CliRunner().invoke(app, ["gate", str(run_dir), "--fail-under", "accuracy=0.6"])
    assert (done.exit_code, "two samples have one id" in done.stderr) == (2, True)


@pytest.mark.parametrize("value", [None, "\ud800", 10**400])
@pytest.mark.parametrize("name", ["exact_match", "doc_id"])
def test_a_damaged_line_of_another_tool_is_refused_or_read(tmp_path: Path, name: str, value: object) -> None:
    """A field of another type ends in a comparison or in one line, on either side and in an import."""
    rows = lm_eval_lines(GOOD)
    whole, damaged = (write_lm_eval(tmp_path / one, rows).parent for one in ("whole", "damaged"))
    rows[7][name] = value
    write_lm_eval(damaged, rows)
    sides = [str(whole), str(damaged)]
    for command in (["compare", *sides], ["compare", *sides[::-1]], ["import", sides[1], "-o", str(tmp_path / "made")]):
        done = CliRunner().invoke(app, command)
        assert done.exit_code in (0, 2), done.exception
        assert done.exit_code == 0 or len(done.stderr.splitlines()) == 1


def test_a_damaged_bundle_of_nemo_evaluator_is_refused(tmp_path: Path) -> None:
    """A bundle of another shape is named in one line."""
    whole, damaged = (write_nemo(tmp_path / one, nemo_lines(GOOD)) for one in ("whole", "damaged"))
    (bundle,) = damaged.rglob("eval-*.json")
    bundle.write_text('{"benchmark": []}', encoding="utf-8")
    done = CliRunner().invoke(app, ["compare", str(whole), str(damaged)])
    assert (done.exit_code, len(done.stderr.splitlines())) == (2, 1), done.exception


@pytest.mark.parametrize("plan", [{"digest": "sha256:other"}, {"digest": None, "identity": {"endpoint.model": "z"}}])
def test_a_store_with_another_plan_is_not_that_of_the_files(run_dir: Path, plan: dict[str, Any]) -> None:
    """The identity of the bundle has to be the one that the store planned; a store that cannot be read says nothing."""
    bundle = json.loads((run_dir / "quiz" / "eval-quiz.json").read_text(encoding="utf-8"))
    store = Log(run_dir / "run.db")
    store.put_benchmark("quiz", "quiz", {**plan, "digest": plan["digest"] or bundle["identity"]})  # type: ignore[typeddict-item]
    store.close()
    done = CliRunner().invoke(app, ["compare", str(run_dir), str(run_dir)])
    assert (done.exit_code, "is not that of run.db" in done.stderr) == (2, True), done.stderr
    (run_dir / "more").mkdir()
    shutil.copyfile(run_dir / "quiz" / "metrics.json", run_dir / "more" / "metrics.json")
    shutil.copyfile(run_dir / "quiz" / "results.jsonl", run_dir / "more" / "results.jsonl")
    _edit(run_dir / "more" / "metrics.json", lambda one: one.update(benchmark="more"))
    done = CliRunner().invoke(app, ["compare", str(run_dir), str(run_dir)])
    assert done.exit_code == 2
    assert "has results in more, which no benchmark of its run.db has" in done.stderr
