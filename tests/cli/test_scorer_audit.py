"""`nel eval score --explain` and `nel scorer audit`: how stored answers were read, and what the score owes to it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import jsonschema
import pytest

from nel.artifacts.schema import load_schema
from tests.support.runs import nel, only_run, read_json, write_jsonl

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
    data = write_jsonl(tmp_path / "data.jsonl", rows)
    where = ("--dataset", str(data), "--response-field", "said", "-o", "out")
    done = nel("eval", "run", "--bench", "gsm8k", *where, *more, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    return only_run(tmp_path / "out")


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
    jsonschema.validate(audit, load_schema("extraction_audit"))
    jsonschema.validate(metrics, load_schema("metrics"))
    assert metrics["extraction"]["band"] == {"lower": pytest.approx(1 / 3), "upper": 0.5}
    assert metrics["extraction"]["readings"]["scored"]["score"] == metrics["headline"]["value"]
    assert metrics["extraction"]["without_reading"] == {"model failure (empty)": 1}
    assert [one["sample_id"] for one in audit["differences"]] == ["stated"]


def test_an_audit_follows_the_answers_and_ends_with_its_file(tmp_path: Path) -> None:
    """Scored by another rule the band follows; the same store gives the same bytes; without the file there is none."""
    run_dir = _recorded(tmp_path)
    path = run_dir / "gsm8k" / "extraction_audit.json"
    assert nel("scorer", "audit", str(run_dir), cwd=tmp_path).returncode == 0
    first = path.read_bytes()
    assert nel("report", str(run_dir), cwd=tmp_path).returncode == 0
    assert path.read_bytes() == first
    again = nel("eval", "score", str(run_dir), "--scorer", "exact_match", cwd=tmp_path)
    assert "gsm8k: 0.00 – 50.00 % by the way of reading; 5 of 5 answers are read differently" in again.stdout
    found = read_json(run_dir / "gsm8k" / "metrics.json")["extraction"]
    assert (found["readings"]["scored"]["score"], found["band"]) == (0.0, {"lower": 0.0, "upper": 0.5})
    path.unlink()
    assert nel("report", str(run_dir), cwd=tmp_path).returncode == 0
    assert "extraction" not in read_json(run_dir / "gsm8k" / "metrics.json")


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
