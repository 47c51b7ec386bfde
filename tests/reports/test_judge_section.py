"""Pages and lines say who judged, how far to trust it, and what each judge said of a sample."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from nel.artifacts.write import write_artifacts
from nel.judges.record import KEY
from nel.reports.html import render_report
from nel.reports.island import unpack
from nel.reports.judge_section import judged_line, shown_judgements
from nel.reports.summary import csv_summary, markdown_summary
from nel.reports.tables.results import summary_rows
from nel.types import Outcome, Scored, Unscored
from tests.reports.run_fixture import HOSTILE
from tests.support.judgements import opinion, record, repeated, write_store

PANEL = (("strict", "gpt-4o"), ("gpt-4o-mini", "gpt-4o-mini"))


def judged_run(run_dir: Path) -> Path:
    """Write a run that two judges graded: 12 cases alike, 6 not, 2 without a verdict of the panel; hostile replies."""
    outcomes: list[Outcome] = []
    for idx in range(18):
        first, second = ("C", "I") if idx % 3 == 0 else ("C", "C") if idx % 2 else ("I", "I")
        reply = f"{HOSTILE[idx % len(HOSTILE)]}\nGRADE: {first}"
        said = record(first, repeated("strict", first, first, reply=reply), repeated("gpt-4o-mini", second, second))
        score = float(first == "C")
        outcomes.append(Scored(reward=score, metrics={"correct": score}, details={KEY: [said], "note": "kept"}))
    failed = record(
        None, opinion("strict", None, fault="two_verdicts", reasked=1, reply="C or I"), opinion("gpt-4o-mini", None)
    )
    outcomes += [Unscored(cause="judge", kind="no_quorum", detail="0 of 2", details={KEY: [failed]})] * 2
    return write_store(run_dir, outcomes, panel=PANEL)


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    made = judged_run(tmp_path / "run")
    write_artifacts(made)
    return made


def page_of(run_dir: Path) -> tuple[str, list[dict[str, Any]]]:
    """Return the page without its island, and the samples in it."""
    page = "".join(render_report(run_dir))
    packed = re.compile(r'<script type="application/gzip" data-part="block">(.*?)</script>', re.DOTALL)
    samples: Any = unpack(packed.findall(page)[0])
    return packed.sub("", page), samples


def test_the_page_names_judges_and_measures(run_dir: Path) -> None:
    """Who judged stands under the score; the section has each judge, its faults, and the agreement in numbers."""
    page, _ = page_of(run_dir)
    assert "Judged by strict=gpt-4o and gpt-4o-mini (binary_qa); 2 of 20 without verdict (no_quorum 2)" in page
    section = re.search(r"<h3>Judges</h3>(.*?)</section>", page, re.DOTALL)
    assert section is not None
    text = " ".join(re.sub(r"<[^>]+>", " ", section.group(1)).split())
    assert "strict gpt-4o 20 18 2 two_verdicts 2" in text
    assert "binary_qa nominal 18 2 66.67 %" in text
    assert "gpt-4o-mini binary_qa 18 0 100.00 %" in text


def test_warnings_stand_above_the_score(run_dir: Path) -> None:
    """What speaks against the judges is said before the number, once, in one banner."""
    page, _ = page_of(run_dir)
    warnings = [
        one
        for one in json.loads((run_dir / "mine" / "metrics.json").read_text())["warnings"]
        if one["kind"] == "judging"
    ]
    assert len(warnings) == 4
    above, _ = page.split('aria-label="Headline score"')
    assert above.count("Before this score is relied on") == 1
    assert above.count("<li>") == len(warnings)
    assert "2 of 20 judged samples have no verdict, more than 5 %" in above


def test_a_sample_shows_what_each_judge_said(run_dir: Path) -> None:
    """Grade, repeats, fault and reply of each judge are in the sample, and no longer among the scoring details."""
    page, samples = page_of(run_dir)
    (found,) = samples[0]["judgements"]
    assert (found["template"], found["grade"]) == ("binary_qa", "C (1)")
    strict = found["opinions"][0]
    assert (strict["judge"], strict["grade"], strict["fault"]) == ("strict", "C (1)", None)
    assert strict["notes"] == [["repeats", "C, C"]]
    assert strict["reply"].endswith("GRADE: C")
    assert KEY not in samples[0]["scoring"]
    assert '"note": "kept"' in samples[0]["scoring"]
    last = samples[-1]["judgements"][0]
    assert last["grade"] is None
    assert (last["opinions"][0]["fault"], last["opinions"][0]["notes"]) == ("two_verdicts", [["asked again", "1"]])
    assert "<svg onload" not in page


def test_tables_for_other_programs_name_the_judges(run_dir: Path) -> None:
    """Markdown has a line for who judged and for each warning under the table; CSV has two columns."""
    rows = summary_rows(run_dir)
    lines = markdown_summary(rows).splitlines()
    assert lines[3] == ""
    assert lines[4].startswith("- 20260401-mine, mine: judged by strict=gpt-4o and gpt-4o-mini (binary_qa);")
    assert len(lines) == 5 + len(rows[0].warnings)
    (row,) = csv.DictReader(io.StringIO(csv_summary(rows)))
    assert row["judged"].startswith("judged by strict=gpt-4o and gpt-4o-mini (binary_qa); 2 of 20 without verdict")
    assert row["warnings"].count("; ") >= len(rows[0].warnings) - 1


def test_one_line_says_who_judged() -> None:
    """A long panel is cut, and samples that no judge could grade are said to be so."""
    missing: dict[str, Any] = {"n": 0, "kinds": {}}
    panel = {
        "judges": [{"name": f"j{n}", "model": f"j{n}", "cases": 3} for n in range(6)],
        "templates": {"likert_5": 3},
    }
    line = judged_line({**panel, "n_judged": 3, "n_without_grade": missing})
    assert line == "judged by j0, j1, j2, j3 and 2 more (likert_5); 0 of 3 without verdict"
    missing = {"n": 3, "kinds": {"no_judge": 3}}
    asked_nothing = {"judges": [{"name": "a", "model": "a", "cases": 0}], "templates": {}}
    line = judged_line({**asked_nothing, "n_judged": 3, "n_without_grade": missing})
    assert line == "to be judged by a (not asked); 3 of 3 without verdict (no_judge 3)"
    line = judged_line({"judges": [], "templates": {}, "n_judged": 3, "n_without_grade": missing})
    assert line == "to be judged, but no judge is configured; 3 of 3 without verdict (no_judge 3)"


@pytest.mark.parametrize("kept", [None, "good", 5, {"opinions": []}, [None], [{"template": "x", "opinions": [7]}]])
def test_what_is_no_judgement_is_not_shown_as_one(kept: Any) -> None:
    """A scorer may keep anything under that name."""
    assert shown_judgements(kept) == []
