"""What people say of answers is kept beside the run, and is a file of labels for a calibration."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from nel.apps.calibrate.judged_answers import judged_benchmark
from nel.apps.calibrate.labelling import import_labels
from nel.apps.view.ratings import Rating, add_rating, ratings_path, read_ratings
from nel.artifacts.files import directory_name
from nel.artifacts.labels.file import read_label_file
from nel.engine.store.snapshot import FILE_NAME, Snapshot
from nel.runs.verification import _files
from tests.apps.view.conftest import opened
from tests.apps.view.test_pages import text_of
from tests.support.judged_run import Answer, build_judged_run
from tests.support.viewed_run import build_viewed_run


async def test_ratings_are_labels_of_a_calibration(tmp_path: Path) -> None:
    """Each person has one rating of an answer, with the answer beside it; an empty one takes it back."""
    run_dir = build_viewed_run(tmp_path / "runs" / "a-run", n=10, texts=(), is_complete=True)
    address, path = "/api/runs/a-run/quiz/4/rating", ratings_path(run_dir, "quiz")
    files = _files(run_dir)
    async with opened(tmp_path / "runs", tmp_path / "cache", token=None) as client:
        own = {"Origin": f"http://127.0.0.1:{client.port}"}
        for name, label, note in (("Ada", "incorrect", ""), ("Ada", "correct", "<b>fine\x00"), ("Ben", "", "unsure")):
            sent = {"label": label, "note": note, "annotator": name}
            assert (await client.post(address, json=sent, headers=own)).status == 200
        lines = [(line.sample_id, line.label, line.annotator, line.response) for line in read_label_file(path)]
        answer = "Step 4: look at it.\n\nThe answer is blue."
        assert lines == [("quiz/0004", "correct", "Ada", answer), ("quiz/0004", None, "Ben", answer)]
        page = await text_of(client, "/runs/a-run/quiz/4")
        assert "&lt;b&gt;fine\\x00" in page
        assert "2 ratings" in await text_of(client, "/runs/a-run/quiz")
        assert (await client.get("/runs/a-run/quiz/ratings.jsonl")).headers["Content-Disposition"].startswith("attach")
        assert (await client.post(address, json={"annotator": "Ben"}, headers=own)).status == 200
        assert [rating.annotator for rating in read_ratings(path)] == ["Ada"]
        assert (await client.post(address, json={"label": "x" * 61}, headers=own)).status == 400
        assert (await client.post("/api/runs/a-run/quiz/99/rating", json={"label": "x"}, headers=own)).status == 404
    assert _files(run_dir) == files  # what is verified, archived digests included, is without it


def test_a_calibration_takes_ratings(tmp_path: Path) -> None:
    """A rating of a judged answer is its label; a note alone is none."""
    answers = [Answer(sample_id=f"s{idx}", response=f"answer {idx}", score=1.0) for idx in range(3)]
    run_dir = build_judged_run(tmp_path / "run", answers)
    with Snapshot(run_dir / FILE_NAME) as snapshot:
        path = ratings_path(run_dir, directory_name(judged_benchmark(snapshot, run_dir, None).slot))
    for idx, label in enumerate(("correct", "incorrect", None)):
        fields: dict[str, Any] = {"repeat": 0, "note": "seen", "annotator": "Ada", "response": f"answer {idx}"}
        add_rating(path, Rating(sample_id=f"s{idx}", label=label, **fields))
    imported = import_labels(run_dir, path)
    assert (imported.n, imported.n_empty, list(imported.skipped)) == (2, 1, [])


async def test_a_sample_is_downloaded_as_its_line(tmp_path: Path) -> None:
    """The file holds the line of results.jsonl and the request, and is offered to be saved."""
    run_dir = build_viewed_run(tmp_path / "runs" / "a-run", n=10, is_complete=True)
    async with opened(tmp_path / "runs", tmp_path / "cache", token=None) as client:
        answer = await client.get("/runs/a-run/quiz/3.json")
        assert "sample-3-0.json" in answer.headers["Content-Disposition"]
        content = await answer.json(content_type=None)
    line = json.loads((run_dir / "quiz" / "results.jsonl").read_text("utf-8").split("\n")[3])
    assert {name: content[name] for name in line} == line
    assert content["request"]["messages"][0]["role"] == "system"
