"""`nel judge calibrate` from a run to labels to a corrected headline, and whatever can be wrong on the way."""

from __future__ import annotations

import csv
import fcntl
import json
import os
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nel.apps.calibrate.drawing import draw_labels
from nel.apps.calibrate.labelling import borrow_calibration, import_labels
from nel.artifacts.labels.calibration import read_labels
from nel.artifacts.write import write_artifacts
from nel.errors import UsageError
from nel.reports.corrected import corrected_line
from nel.reports.run_warnings import CALIBRATION, texts_of
from nel.runs.rebuilding import rebuild
from nel.runs.verification import verify_run
from tests.support.judged_run import JUDGE, Answer, build_judged_run
from tests.support.runs import nel, read_json
from tests.support.schemas import check_schema
from tests.support.tiers import first_rows

Rows = list[dict[str, Any]]


def _answers(n: int, *, seed: int = 1, right: float = 0.6, model: str = "m") -> tuple[list[Answer], dict[str, bool]]:
    """Return answers that a judge with sensitivity 0.9 and specificity 0.8 scored, and whether each is right."""
    chance = random.Random(seed)  # noqa: S311 - a test, not a secret
    truth = {f"s{place}": chance.random() < right for place in range(n)}
    answers = [
        Answer(
            sample_id=name,
            response=f"{model} says {name}",
            score=float(chance.random() < (0.9 if is_right else 0.2)),
            category=("law", "physics", None)[place % 3],
        )
        for place, (name, is_right) in enumerate(truth.items())
    ]
    return answers, truth


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A judged run with its artifacts, which tests copy."""
    run_dir = build_judged_run(tmp_path_factory.mktemp("judged") / "run", _answers(300)[0])
    rebuild(run_dir)
    return run_dir


@pytest.fixture
def run(judged: Path, tmp_path: Path) -> Path:
    shutil.copytree(judged, tmp_path / "run")
    return tmp_path / "run"


def _rows(path: Path) -> Rows:
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def _label(rows: Rows, path: Path, label: Callable[[dict[str, Any]], Any]) -> Path:
    """Write rows with labels into a file of either kind and return it."""
    labelled = [{**row, "label": label(row)} for row in rows]
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in labelled), encoding="utf-8")
        return path
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(labelled[0]))
        writer.writeheader()
        writer.writerows(labelled)
    return path


def _bytes(run_dir: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(run_dir)): path.read_bytes()
        for path in sorted(run_dir.rglob("*"))
        if path.is_file() and not path.name.startswith((".", "run.db"))
    }


def _file(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("suffix", first_rows(1, [".csv", ".jsonl"]))
def test_from_a_run_to_a_corrected_headline(run: Path, tmp_path: Path, suffix: str) -> None:
    """Draw, label, import: every file but those that name the judge stays as it was, and a rebuild changes nothing."""
    truth = _answers(300)[1]
    before = _bytes(run)
    to_label = tmp_path / f"to-label{suffix}"
    drawn = nel("judge", "calibrate", str(run), "--out", str(to_label), "--n", "120", cwd=tmp_path)
    assert drawn.returncode == 0, drawn.stderr
    assert "120 of 300 judged answers to label" in drawn.stdout
    assert _bytes(run) == before
    rows = _rows(to_label)
    assert list(rows[0]) == sorted(rows[0]) if suffix == ".jsonl" else list(rows[0])[:2] == ["sample_id", "repeat"]
    assert {row["label"] for row in rows} <= {"", None}

    labelled = _label(rows, tmp_path / f"labelled{suffix}", lambda row: "CI"[not truth[row["sample_id"]]])
    done = nel("judge", "calibrate", str(run), "--labels", str(labelled), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "labels: 120 of 300 judged answers" in done.stdout
    assert "kappa: 0." in done.stdout
    assert re.search(r"corrected, PPI\+\+: \d\d\.\d\d % \(", done.stdout)

    after = _bytes(run)
    new = {"qa/labels.jsonl", "qa/calibration.json"}
    changed = {name for name in before if after[name] != before[name]}
    assert set(after) - set(before) == new
    assert changed == {"qa/metrics.json", "report.html"}
    metrics = json.loads(after["qa/metrics.json"])
    judging = metrics["judging"]
    same = {name: part for name, part in judging.items() if name not in ("calibration", "corrected")}
    assert {**metrics, "judging": same} == json.loads(before["qa/metrics.json"])
    calibration = json.loads(after["qa/calibration.json"])
    check_schema(metrics, "metrics")
    check_schema(calibration, "calibration")
    assert calibration["corrected"] == judging["corrected"]
    assert calibration["judge"]["panel"] == [{"name": "strict", "model": "judge-7b"}]
    assert judging["calibration"]["n_labelled"] == 120
    assert judging["corrected"]["raw"]["value"] == metrics["headline"]["value"]
    assert corrected_line(metrics) in after["report.html"].decode().replace("&#39;", "'")

    rebuild(run)
    assert _bytes(run) == after
    (run / "qa" / "labels.jsonl").unlink()
    rebuild(run)
    assert _bytes(run) == before


def _pairs(n: int = 120, *, has_baseline: bool = True) -> list[Answer]:
    """Return pairs of which the response is better in every third, with the judge's verdict half a step off."""
    return [
        Answer(
            sample_id=f"p{place}",
            response=f"left {place}",
            baseline=f"right {place}" if has_baseline else None,
            score=(1.0, 0.5, 0.0)[place % 3 if place % 5 else 1],
            grade=("win", "tie", "loss")[place % 3 if place % 5 else 1],
            template="pairwise",
        )
        for place in range(n)
    ]


def _better(row: dict[str, Any]) -> str:
    """Return the label of someone who prefers the response in every third pair, wherever it is shown."""
    place = int(row["sample_id"][1:]) % 3
    is_first = row["answer_a"].startswith("left")
    return "tie" if place == 1 else "A" if (place == 0) == is_first else "b"


def test_both_answers_of_a_pair_are_labelled(tmp_path: Path) -> None:
    """The file shows both in an order of its own, a label names the better one, and the score is the response's."""
    run = build_judged_run(tmp_path / "run", _pairs())
    drawn = nel("judge", "calibrate", str(run), "--out", "pairs.csv", "--n", "90", cwd=tmp_path)
    assert drawn.returncode == 0, drawn.stderr
    assert "A, B or tie" in drawn.stdout
    rows = _rows(tmp_path / "pairs.csv")
    assert list(rows[0]) == ["sample_id", "repeat", "question", "reference", "answer_a", "answer_b", "label"]
    first = sum(row["answer_a"].startswith("left") for row in rows)
    assert 30 < first < 60
    labelled = _label(rows, tmp_path / "labelled.csv", _better)
    done = nel("judge", "calibrate", str(run), "--labels", str(labelled), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    scores = {int(name[1:]): label.score for (name, _), label in read_labels(run / "qa").items()}
    assert {place: (1.0, 0.5, 0.0)[place % 3] for place in scores} == scores


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda row: {**row, "label": "win"}, "names no answer of the pair: A, B or tie"),
        (lambda row: {"sample_id": row["sample_id"], "label": "A"}, "does not have both"),
        (
            lambda row: {**row, "answer_a": row["answer_b"], "answer_b": row["answer_a"]},
            "the response is not the one of this run",
        ),
    ],
)
def test_labels_that_do_not_say_of_which_pair_are_refused(
    tmp_path: Path, edit: Callable[[dict[str, Any]], dict[str, Any]], message: str
) -> None:
    """A label of one answer alone, or of answers in another order, says nothing about the pair."""
    run = build_judged_run(tmp_path / "run", _pairs(60))
    draw_labels(run, tmp_path / "pairs.jsonl")
    rows = [edit({**row, "label": "A"}) for row in _rows(tmp_path / "pairs.jsonl")]
    (tmp_path / "edited.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with pytest.raises(UsageError, match=message):
        import_labels(run, tmp_path / "edited.jsonl")


def test_several_annotators_have_an_agreement_of_their_own(run: Path, tmp_path: Path) -> None:
    """One file for each or a column with the names: the majority counts, and their kappa stands beside the judge's."""
    truth = _answers(300)[1]
    draw_labels(run, tmp_path / "to-label.csv", n=120)
    rows = _rows(tmp_path / "to-label.csv")

    def says(name: str, row: dict[str, Any]) -> str:
        errs = sum(map(ord, name + row["sample_id"])) % 10 == 0
        return "CI"[truth[row["sample_id"]] == errs]

    for name in ("anna", "ben", "carl"):
        _label(rows, tmp_path / f"{name}.csv", lambda row, name=name: says(name, row))
    files = [argument for name in ("anna", "ben", "carl") for argument in ("--labels", f"{name}.csv")]
    done = nel("judge", "calibrate", str(run), *files, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "annotators: anna 120, ben 120, carl 120 labels" in done.stdout
    assert "kappa of the annotators, the judge's ceiling: 0." in done.stdout
    found = read_json(run / "qa" / "calibration.json")
    check_schema(found, "calibration")
    check_schema(read_json(run / "qa" / "metrics.json"), "metrics")
    assert found["n_labelled"] == found["annotators"]["n_several"] == 120
    assert found["annotators"]["agreement"]["kappa"]["value"] < 1
    separate = read_labels(run / "qa")
    column = [{**row, "annotator": name, "label": says(name, row)} for name in ("anna", "ben", "carl") for row in rows]
    import_labels(run, _label(column, tmp_path / "all.csv", lambda row: row["label"]))
    assert read_labels(run / "qa") == separate


def test_hostile_text_goes_through_a_spreadsheet_unharmed(tmp_path: Path) -> None:
    """Formulas are disarmed, line ends, quotes, NULs and half characters survive, and ids are found again."""
    hostile = [
        '=HYPERLINK("http://x")',
        "+1",
        "-2",
        "@SUM(A1)",
        "\t=1",
        "a\r\nb",
        'say "hi", you',
        "nul \0",
        "half \ud800",
    ]
    answers = [
        Answer(sample_id=text, question=text, target=text, response=text, score=float(place % 2))
        for place, text in enumerate(hostile)
        if "\ud800" not in text
    ]
    answers.append(Answer(sample_id="half", response="half \ud800", target={"a": [1, None]}, score=1.0))
    run_dir = build_judged_run(tmp_path / "run", answers)
    draw_labels(run_dir, tmp_path / "a.csv")
    rows = _rows(tmp_path / "a.csv")
    cells = [value for row in rows for value in row.values()]
    assert not [cell for cell in cells if cell.lstrip(" ").startswith(("=", "+", "-", "@", "\t", "\r"))]
    assert '{"a":[1,null]}' in cells
    labelled = _label(rows, tmp_path / "b.csv", lambda row: "yes")
    imported = import_labels(run_dir, labelled)
    assert (imported.n, imported.skipped) == (len(answers), [])
    assert {key for key, _ in read_labels(run_dir / "qa")} == {answer.sample_id for answer in answers}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sample_id,repeat,label\ns0,0,2\n", r"labels\.csv, row 1: the label '2' is not on the judge's scale: 1 or 0"),
        (
            "sample_id,repeat,label\ns0,0,1\ns0,0,0\n",
            r"csv, row 2: sample 's0' repeat 0 is labelled '0', at .*csv, row 1 '1'",
        ),
        (
            'sample_id,response,label\ns0,"m says\ns0",1\nzz,x,1\n',
            r"csv, row 2: qa has no sample 'zz' repeat 0; labels",
        ),
        ("sample_id,repeat,label\ns0,0,\ns1,0,  \n", "no line of .* has a label; fill in the column label"),
        ("id,label\ns0,1\n", r"labels\.csv, row 1: one column must be called sample_id; the columns are 'id, label'"),
        ("sample_id,label\ns0,1,2\n", r"row 1: 3 cells for 2 columns \(line 2\)"),
        ('sample_id,label\ns0,"1\n', r"labels\.csv: line 2: a quote is opened"),
        (
            "sample_id,response,label\ns0,other,1\ns1,words,0\n",
            "no label of .* can be used; .*csv, row 1: the response is not the one of this run",
        ),
    ],
)
def test_bad_labels_are_refused_with_file_and_line(run: Path, tmp_path: Path, text: str, message: str) -> None:
    """What is wrong is named where it stands, and nothing is written."""
    before = _bytes(run)
    with pytest.raises(UsageError, match=message):
        import_labels(run, _file(tmp_path / "labels.csv", text))
    assert _bytes(run) == before


def test_files_that_cannot_be_labels_are_refused(run: Path, tmp_path: Path) -> None:
    """Another suffix, a missing file, other encodings; and a file that may hold labels is never overwritten."""
    (tmp_path / "cp1252.csv").write_bytes("sample_id,label\ns0,schön\n".encode("cp1252"))
    (tmp_path / "labels.txt").write_text("x")
    for name, message in (
        ("labels.txt", "no reader for files like this"),
        ("missing.csv", "missing.csv does not exist"),
        ("cp1252.csv", "cp1252.csv.encoding=cp1252"),
    ):
        with pytest.raises(UsageError, match=message):
            import_labels(run, tmp_path / name)
    _file(tmp_path / "mine.csv", "sample_id,label\ns0,1\n")
    with pytest.raises(UsageError, match="may hold labels; choose another --out"):
        draw_labels(run, tmp_path / "mine.csv")
    with pytest.raises(UsageError, match="no directory"):
        draw_labels(run, tmp_path / "nowhere" / "a.csv")


def test_labels_that_cannot_count_are_left_out_and_named(tmp_path: Path) -> None:
    """Unscored samples, model failures, answers the scorer decided alone and changed responses: each with its line."""
    answers = [Answer(sample_id=f"s{place}", response=f"r{place}", score=float(place % 2)) for place in range(40)]
    answers += [
        Answer(sample_id="unscored", score=None),
        Answer(sample_id="cut", failure="truncated"),
        Answer(sample_id="alone", is_judged=False),
    ]
    run_dir = build_judged_run(tmp_path / "run", answers)
    text = "sample_id,response,label\nunscored,,1\ncut,,0\nalone,,1\ns0,another,0\n"
    text += "".join(f"s{place},r{place},{place % 2}\n" for place in range(1, 30))
    imported = import_labels(run_dir, _file(tmp_path / "labels.csv", text))
    assert imported.n == 29
    assert sorted(line.split("labels.csv")[1] for line in imported.skipped) == [
        ", row 1: no judge scored this answer (no_verdict); its label is left out",
        ", row 2: no judge scored this answer (truncated); its label is left out",
        ", row 3: no judge scored this answer (scored without one); its label is left out",
        ", row 4: the response is not the one of this run; its label is left out",
    ]
    (item,) = write_artifacts(run_dir)
    assert item.metrics["judging"]["calibration"]["n_labelled"] == 29
    assert item.metrics["judging"]["corrected"]["n_judged"] == 40


def test_a_label_of_an_answer_that_changed_counts_no_more(run: Path, tmp_path: Path) -> None:
    """Answers made again after labelling have no label; the calibration says how many are stale."""
    labels = "".join(f"s{place},{place % 2}\n" for place in range(60))
    import_labels(run, _file(tmp_path / "labels.csv", "sample_id,label\n" + labels))
    changed = _answers(300, model="changed")[0][:20]
    (run / "run.db").unlink()
    build_judged_run(run, [*changed, *_answers(300)[0][20:]])
    (item,) = write_artifacts(run)
    calibration = item.metrics["judging"]["calibration"]
    assert (calibration["n_labelled"], calibration["n_stale"]) == (40, 20)
    warnings = texts_of(item.metrics, (CALIBRATION,))
    assert [warning for warning in warnings if warning.startswith("20 labels are of answers")]


def test_runs_that_cannot_be_calibrated_are_refused(run: Path, tmp_path: Path) -> None:
    """No run, no verdicts, an unknown benchmark, two judged ones, both files at once: exit code 2 and one line."""
    plain = build_judged_run(tmp_path / "plain", [Answer(sample_id="a", is_judged=False)], judge=None)
    two = build_judged_run(tmp_path / "two", [Answer(sample_id="a")])
    build_judged_run(two, [Answer(sample_id="a", score=0.0)], slot="other")
    for arguments, message in (
        ((str(tmp_path),), "there is no run.db"),
        ((str(plain),), "no answer in .* has a judge's verdict"),
        ((str(run), "--bench", "qaa"), 'no benchmark "qaa"; did you mean "qa"'),
        ((str(two),), "several judged benchmarks: qa, other; give --bench"),
        ((str(run), "--labels", "a.csv", "--out", "b.csv"), "give one of them"),
    ):
        done = nel("judge", "calibrate", *arguments, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert len(done.stderr.splitlines()) == 1
        assert re.search(message, done.stderr), done.stderr
    named = nel("judge", "calibrate", str(two), "--bench", "other", cwd=tmp_path)
    assert named.returncode == 0
    assert (two / "other-to-label.csv").is_file()


def test_a_run_in_progress_is_left_alone(run: Path, tmp_path: Path) -> None:
    """While another process holds the run, nothing is drawn or taken in."""
    handle = os.open(run / ".lock", os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        done = nel("judge", "calibrate", str(run), cwd=tmp_path)
    finally:
        os.close(handle)
    assert done.returncode == 2
    assert "is in use by" in done.stderr


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with 200 labels of 600 answers, of which 60 % are right, which tests copy."""
    folder = tmp_path_factory.mktemp("labelled")
    answers, truth = _answers(600)
    run_dir = build_judged_run(folder / "calibrated", answers, run_id="first")
    draw_labels(run_dir, folder / "todo.csv", n=200)
    import_labels(
        run_dir, _label(_rows(folder / "todo.csv"), folder / "done.csv", lambda row: int(truth[row["sample_id"]]))
    )
    rebuild(run_dir)
    return run_dir


@pytest.fixture
def calibrated(labelled: Path, tmp_path: Path) -> Path:
    shutil.copytree(labelled, tmp_path / "calibrated")
    return tmp_path / "calibrated"


def test_another_runs_labels_correct_a_run_of_the_same_judge(calibrated: Path, tmp_path: Path) -> None:
    """A weaker model, 25 % right, reads 0.37; the first run's sensitivity and specificity put it right."""
    answers, truth = _answers(900, seed=8, right=0.25, model="weak")
    weak = build_judged_run(tmp_path / "weak", answers, run_id="second")
    done = nel("judge", "calibrate", str(weak), "--from", str(calibrated), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "labels: 200 of first" in done.stdout
    assert "corrected, PPI++: undefined: the labels are of another run's answers" in done.stdout
    assert done.stdout.endswith("weak/qa/calibration_from.json\n")
    assert done.stderr == ""
    files = _bytes(weak)
    metrics = json.loads(files["qa/metrics.json"])
    check_schema(metrics, "metrics")
    corrected = metrics["judging"]["corrected"]
    right = sum(truth.values()) / len(truth)
    assert corrected["raw"]["ci_lower"] > right
    assert corrected["rogan_gladen"]["ci_lower"] < right < corrected["rogan_gladen"]["ci_upper"]
    assert corrected["labels_of"] == "first"
    assert "200 labels of run first" in files["report.html"].decode()
    rebuild(weak)
    assert _bytes(weak) == files
    failed = {check.what for check in verify_run(weak).checks if not check.passed}
    assert failed == {"qa: prompts", "qa: identity"}  # a made-up run has none; the artifacts are right

    import_labels(weak, _file(tmp_path / "own.csv", "sample_id,label\ns0,1\ns1,0\n"))
    (item,) = write_artifacts(weak)
    assert "labels_of" not in item.metrics["judging"]["corrected"]
    with pytest.raises(UsageError, match="has labels of its own, which say more"):
        borrow_calibration(weak, calibrated)


def test_labels_of_another_judge_are_refused(calibrated: Path, tmp_path: Path) -> None:
    """Another model, template or way of deciding: what was measured is not what judged here."""
    changes = {"repeats": 3, "criteria": "be kind"}
    answers = [Answer(sample_id=f"s{place}", template="binary_qa") for place in range(5)]
    other = build_judged_run(tmp_path / "other", answers, judge={**JUDGE, **changes})
    with pytest.raises(UsageError, match="that run was judged in another way: criteria, repeats differ"):
        borrow_calibration(other, calibrated)


def test_a_judge_that_only_moved_is_the_same(calibrated: Path, tmp_path: Path) -> None:
    """Its address and its name in reports may change; once its model does, the correction is gone with its reason."""
    answers = [Answer(sample_id=f"s{place}", score=float(place % 2)) for place in range(40)]
    moved = [{"name": "other-name", "model": "judge-7b", "url": "https://elsewhere.test/v1"}]
    run_dir = build_judged_run(tmp_path / "moved", answers, judge={**JUDGE, "panel": moved})
    borrow_calibration(run_dir, calibrated)
    (item,) = write_artifacts(run_dir)
    assert item.metrics["judging"]["corrected"]["rogan_gladen"]["value"] is not None
    (run_dir / "run.db").unlink()
    build_judged_run(run_dir, answers, judge={**JUDGE, "panel": [{**moved[0], "model": "new"}]})
    (item,) = write_artifacts(run_dir)
    found = item.metrics["judging"]["corrected"]["rogan_gladen"]
    assert (found["value"], found["reason"]) == (None, "that run was judged in another way: models differ")


def test_runs_that_have_nothing_to_lend_are_refused(calibrated: Path, run: Path, tmp_path: Path) -> None:
    """A run without labels, one whose judge was never seen to fail, a damaged file."""
    with pytest.raises(UsageError, match="calibrate that run first"):
        borrow_calibration(run, tmp_path / "nowhere")
    right = [answer.sample_id for answer in _answers(600)[0] if answer.score == 1][:30]
    labels = "sample_id,label\n" + "".join(f"{name},1\n" for name in right)
    import_labels(calibrated, _file(tmp_path / "right.csv", labels))
    write_artifacts(calibrated)
    with pytest.raises(UsageError, match="cannot correct another run: specificity: no labelled answer is wrong"):
        borrow_calibration(run, calibrated)
    _file(calibrated / "qa" / "calibration.json", "{}")
    with pytest.raises(UsageError, match="is damaged; make it again with nel report"):
        borrow_calibration(run, calibrated)
    _file(run / "qa" / "calibration_from.json", "[]")
    with pytest.raises(UsageError, match="is damaged; borrow again"):
        write_artifacts(run)
