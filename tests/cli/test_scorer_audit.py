"""`nel eval score --explain` and `nel scorer audit`: how stored answers were read, and what the score owes to it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.endpoint import Call, Reply, answer, scripted
from tests.support.report_pages import islands
from tests.support.runs import nel, only_run, read_json, read_results, recorded_run, write_jsonl
from tests.support.schemas import check_schema

SAID = {
    "declared": "9 + 9 = 18\nAnswer: 18",
    "stated": "Adding them gives 18 apples.",
    "corrected": "Answer: 18\nAnswer: as above.",
    "wrong": "Answer: 19",
    "refused": "I cannot help with that.",
    "empty": "",
}


def _recorded(tmp_path: Path, said: Mapping[str, str] = SAID, *more: str) -> Path:
    rows = (
        {"id": name, "question": "What is 9 plus 9?", "answer": "It is\n#### 18", "said": text}
        for name, text in said.items()
    )
    return recorded_run(tmp_path, rows, *more)


def test_an_explanation_shows_spans_rules_and_what_was_rejected(tmp_path: Path) -> None:
    """The number that counts stands between marks with its rule and place; the one taken back is named with why."""
    run_dir = _recorded(tmp_path)
    before = {path.name: path.read_bytes() for path in run_dir.rglob("*.json*")}
    done = nel("eval", "score", str(run_dir), "--explain", "corrected", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "gsm8k #2 (corrected)" in done.stdout
    assert "scored:   18, scored, reward 1" in done.stdout
    assert "lenient:  18, would be right; form: marker" in done.stdout
    assert "Answer: ⟦18⟧" in done.stdout
    assert "rejected, not readable: " in done.stdout
    assert {path.name: path.read_bytes() for path in run_dir.rglob("*.json*")} == before


def test_an_audit_gives_the_band_and_lists_what_is_read_differently(tmp_path: Path) -> None:
    """Three of six right as scored, two by strict reading: band 33 to 50 %, one answer listed; files fit schemas."""
    run_dir = _recorded(tmp_path)
    done = nel("scorer", "audit", str(run_dir), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "50.00 %; 95 % interval" in done.stdout
    assert "33.33 – 50.00 % by the way of reading; 1 of 5 answers are read differently" in done.stdout
    assert "stated: scored 18, strict none, lenient 18; expected 18" in done.stdout
    audit = read_json(run_dir / "gsm8k" / "extraction_audit.json")
    metrics = read_json(run_dir / "gsm8k" / "metrics.json")
    check_schema(audit, "extraction_audit")
    check_schema(metrics, "metrics")
    assert metrics["extraction"]["band"] == {"lower": pytest.approx(1 / 3), "upper": 0.5}
    assert metrics["extraction"]["readings"]["scored"]["score"] == metrics["headline"]["value"]
    assert metrics["extraction"]["without_reading"] == {"model failure (empty)": 1}
    assert [one["sample_id"] for one in audit["differences"]] == ["stated"]


def test_the_report_shows_the_band_and_how_a_sample_was_read(tmp_path: Path) -> None:
    """Below the score, in a table of ways, and among the parts of the sample that is read differently."""
    run_dir = _recorded(tmp_path)
    assert "by the way of reading" not in (run_dir / "report.html").read_text(encoding="utf-8")
    assert nel("scorer", "audit", str(run_dir), cwd=tmp_path).returncode == 0
    page = (run_dir / "report.html").read_text(encoding="utf-8")
    assert "by the way of reading; 1 of 5 answers are read differently" in page
    assert "How answers were read" in page
    (island,) = islands(page)
    shown = {sample["id"]: sample["reading"] for sample in island["samples"]}
    assert shown["declared"] is None
    assert "rejected, not declared as the answer: 18–20: Adding them gives ⟦18⟧ apples." in shown["stated"]


def test_answers_of_a_live_run_are_read_with_their_choices(tmp_path: Path) -> None:
    """MMLU-Pro over HTTP: the published rule stands beside strict and lenient, and two repeats are told apart."""
    rows = [
        {"question_id": n, "question": f"Q{n}?", "options": ["red", "green", "blue"], "answer": "B", "category": "art"}
        for n in range(3)
    ]
    texts = ["So the answer is (B).", "Neither (A) nor (C) fits, I would go with B, as I said.", "It is green."]

    def script(call: Call, _: int) -> Reply:
        return answer(texts[int(re.findall(r"Q(\d)\?", call.text)[0])])

    data = write_jsonl(tmp_path / "data.jsonl", rows)
    with scripted(script, models=["m"]) as endpoint:
        where = ("--dataset", str(data), "--model-url", endpoint.url, "--model-id", "m", "-o", "out", "--repeats", "2")
        assert nel("eval", "run", "--bench", "mmlu_pro", *where, cwd=tmp_path).returncode == 0
    run_dir = only_run(tmp_path / "out")
    done = nel("scorer", "audit", str(run_dir), "--json", cwd=tmp_path)
    found = json.loads(done.stdout)["benchmarks"]["mmlu_pro"]
    assert found["kinds"] == {"letter": 6}
    assert found["readings"]["official"] == found["readings"]["scored"]
    assert {(one["sample_id"], one["repeat"]) for one in found["differences"]} >= {("1", 0), ("1", 1)}
    extracted = {
        (row["sample_id"], row["repeat"]): row["extracted_answer"] for row in read_results(run_dir, "mmlu_pro")
    }
    explained = nel("eval", "score", str(run_dir), "--explain", "1", cwd=tmp_path)
    assert extracted["1", 0] == "I"
    assert "official: I, would be wrong; form: official rule" in explained.stdout
    assert "mmlu_pro #1, repeat 1 (1)" in explained.stdout


def test_partial_credit_has_counts_and_no_band(tmp_path: Path) -> None:
    """Where rewards lie between 0 and 1 a band would not be of the same score; the reason is said."""
    run_dir = _recorded(tmp_path, {"one": "It is 18, I am sure.", "two": "Answer: 18"}, "--scorer", "f1_token")
    done = nel("scorer", "audit", str(run_dir), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "no band by the way of reading: a score between 0 and 1 is not that of one right answer" in done.stdout
    found = read_json(run_dir / "gsm8k" / "metrics.json")["extraction"]
    assert (found["band"], found["n_differ"] > 0) == (None, True)


def test_unknown_ids_and_directories_are_said(tmp_path: Path) -> None:
    """Exit 2 and the next step: the id that was meant, the directory of a run, or options that do not go together."""
    run_dir = _recorded(tmp_path)
    cases = {
        ("eval", "score", str(run_dir), "--explain", "declred"): 'did you mean "declared"?',
        ("eval", "score", str(run_dir), "--explain", "zzzzzz"): "results.jsonl has the ids (sample_id)",
        ("eval", "score", "nowhere", "--explain", "declared"): "there is no run.db in nowhere",
        ("eval", "score", str(run_dir), "--explain", "declared", "--scorer", "exact_match"): "leave --scorer and -O",
        ("scorer", "audit", "nowhere"): "there is no run.db in nowhere",
    }
    for arguments, message in cases.items():
        done = nel(*arguments, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, ""), arguments
        assert message in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1
