"""The page is a pure, inert function of the artifact files."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from nel.errors import OutputError
from nel.reports.html import render_report, write_report
from nel.reports.island import PackedSamples, unpack
from nel.reports.run_files import stored_files
from nel.reports.samples import select
from tests.reports import run_fixture
from tests.support.report_pages import ISLAND, islands, samples_of


def rendered(run_dir: Path) -> str:
    return "".join(render_report(run_dir))


def without_islands(page: str) -> str:
    return ISLAND.sub("", page)


def edit(path: Path, **changes: Any) -> None:
    run_fixture.write_json(path, {**json.loads(path.read_text()), **changes})


def test_policy_allows_only_the_pages_own_style_and_script(run_dir: Path) -> None:
    """The hashes in the policy are those of the one style and the one script that can run."""
    page = rendered(run_dir)
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy is not None
    allowed = policy.group(1).replace("&#39;", "'")
    assert allowed.startswith("default-src 'none'; ")
    assert "unsafe" not in allowed
    style = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    script = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert len(style) == len(script) == 1
    for text in style + script:
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in allowed


def test_page_ignores_where_it_is_and_when(run_dir: Path, tmp_path: Path) -> None:
    """The same files in another place give the same bytes, and no absolute path is in them."""
    first = write_report(run_dir).read_bytes()
    moved = shutil.copytree(run_dir, tmp_path / "elsewhere" / "other")
    (moved / "report.html").unlink()
    assert write_report(moved).read_bytes() == first
    assert str(tmp_path).encode() not in first


def test_incomplete_artifact_is_named_as_the_cause(run_dir: Path) -> None:
    """A metric without its fields is the artifact's fault and says how to repair it."""
    edit(run_dir / "mmlu-pro" / "metrics.json", metrics=[{"name": "accuracy"}])
    with pytest.raises(OutputError, match=r"an artifact is incomplete .* nel report"):
        rendered(run_dir)


@pytest.mark.parametrize("text", [*run_fixture.HOSTILE, "&amp;", "]]>", "\u2028\u2029"])
def test_the_island_is_inert_and_lossless(text: str) -> None:
    """What is packed holds no character that HTML or JavaScript could act on, and comes back as it was."""
    sendable = text.encode("utf-8", "replace").decode()
    packed = PackedSamples()
    packed.add([0, sendable], {"response": sendable})
    found = [ISLAND.fullmatch(element.strip()) for element in packed.elements({})]
    assert all(one is not None and re.fullmatch("[A-Za-z0-9+/=]+", one[2]) for one in found)
    assert [unpack(one[2]) for one in found if one is not None] == [
        [{"response": sendable}],
        {"rows": [[0, sendable]], "totals": {}},
    ]


def test_hostile_outputs_stay_text(run_dir: Path) -> None:
    """No tag of a model's answer is markup, and control and bidi characters are visible escapes everywhere."""
    page = rendered(run_dir)
    for tag in ("<svg onload", "<img", "<script>window", "<!-- ", "<a href='javascript"):
        assert tag not in page
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e\u2066-\u2069]", page)
    text = "\n".join(str(sample["response"]) for sample in islands(page)[0]["samples"])
    assert "\\x1b[31mred" in text
    assert "\\u202egnp.exe" in text
    assert "lone \\ud800 surrogate, NUL \\x00" in text


def test_headline_is_readable_without_script(run_dir: Path) -> None:
    """Number, interval, method, accounting and failures are in the served markup, and the list says what it needs."""
    page = without_islands(rendered(run_dir))
    metrics = json.loads((run_dir / "mmlu-pro" / "metrics.json").read_text())
    assert f"{metrics['headline']['value'] * 100:.2f}\u202f%" in page
    for text in ("wilson", "complete</span>", "wrong_answer", "needs JavaScript", "3373e0b", "aurora-7b-instruct"):
        assert text in page


def test_unscored_samples_bring_banner_and_bounds(run_dir: Path) -> None:
    """Unscored samples are announced with their causes, and the bounds stand beside the score."""
    page = without_islands(rendered(run_dir))
    assert "18 of 600 unscored by infra" in page
    assert "all 18 unscored wrong, or all right" in page


@pytest.mark.parametrize(
    "kind", ["first_n", "partial", "no_answer", "copies", "judge_not_asked", "judging", "verdicts", "versions"]
)
def test_what_can_mislead_is_loud(tmp_path: Path, kind: str) -> None:
    """A warning of metrics.json is a banner whatever it is about."""
    rows = run_fixture.make_rows(30, unscored=0)
    run_fixture.write_benchmark(tmp_path / "gsm8k", "gsm8k", rows)
    edit(tmp_path / "gsm8k" / "metrics.json", warnings=[{"kind": kind, "text": "mind the number"}])
    above, _ = without_islands(rendered(tmp_path)).split('aria-label="Headline score"')
    assert "mind the number" in above


def test_a_run_that_fits_is_shown_whole(run_dir: Path) -> None:
    """Every sample is embedded in the order of the results, in blocks that the list's rows agree with."""
    (found,) = islands(rendered(run_dir))
    assert [row[0] for row in found["rows"]] == list(range(600))
    assert [sample["id"] for sample in found["samples"]] == [f"mmlu-pro/{index:05d}" for index in range(600)]
    assert found["totals"]["group"]["unscored"] == 18
    assert "Showing all 600." in rendered(run_dir)


def test_a_larger_run_is_drawn_and_says_so(tmp_path: Path) -> None:
    """Of what does not fit each category and outcome gets its room, with the true counts beside what is shown."""
    run_fixture.build_run(tmp_path, n=600, benchmarks=("alpha", "zeta"))
    files = stored_files(tmp_path)
    selections = select(files, samples_max=100)
    assert [selection.n_shown for selection in selections] == [50, 50]
    island = samples_of(selections[0])
    rows = island["rows"]
    assert [row[0] for row in rows] == sorted(row[0] for row in rows)
    assert selections[0].totals["group"]["unscored"] == 18
    assert {row[4] for row in rows} == set(selections[0].totals["category"])
    assert {row[2] for row in rows} == {"right", "wrong", "model_failure", "unscored"}
    assert samples_of(select(files, samples_max=100)[0]) == island


@pytest.mark.parametrize("n_not_asked", [0, 3])
def test_the_drawn_samples_are_read_by_their_place(tmp_path: Path, n_not_asked: int) -> None:
    """Among those that were asked; lines that are not shown are not decoded, blank ones are passed over."""
    run_fixture.build_run(tmp_path, n=200, benchmarks=("alpha",))
    (files,) = stored_files(tmp_path)
    path = files.directory / "results.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    for place in range(n_not_asked):
        lines[place] = json.dumps({**json.loads(lines[place]), "outcome": {"state": "not_asked"}}).encode() + b"\n"
    files.metrics["accounting"]["n_not_asked"] = n_not_asked
    path.write_bytes(b"\n".join(lines))
    (selection,) = select([files], samples_max=40)
    island = samples_of(selection)
    assert len(island["rows"]) == selection.n_shown == 40
    ids = {json.loads(line)["problem_idx"]: json.loads(line)["sample_id"] for line in lines}
    assert [ids[row[0]] for row in island["rows"]] == [sample["id"] for sample in island["samples"]]
    assert min(row[0] for row in island["rows"]) >= n_not_asked


def test_rows_have_question_answer_and_target(run_dir: Path) -> None:
    """The list shows the last message of the user, the answer, what was read from it, and the target."""
    row = islands(rendered(run_dir))[0]["rows"][1]
    assert row[6].startswith("Question 1: which statement about")
    assert row[7]
    assert row[9] in "ABCDEFGHIJ"


def test_distributions_are_drawn(run_dir: Path) -> None:
    """Latency, length and tokens are charts, with the library that draws them in the page and its licence named."""
    page = without_islands(rendered(run_dir))
    for title in ("Latency", "Length of the answer", "Completion tokens"):
        assert f"<figcaption>{title} " in page
    assert "Copyright (c) 2022 Leon Sorokin" in page
    assert page.count("data-chart=") >= 3


def test_long_texts_are_cut_with_a_mark_and_keep_their_end(tmp_path: Path) -> None:
    """A response of a million characters is cut in its middle, so that the answer at its end is still there."""
    rows = run_fixture.make_rows(3, unscored=0)
    rows[0]["model_response"] = "x" * 1_000_000 + "The answer is (C)."
    run_fixture.write_benchmark(tmp_path / "b", "b", rows)
    page = rendered(tmp_path)
    response = islands(page)[0]["samples"][0]["response"]
    assert len(response) < 4_100
    assert "[… 996,018 characters cut here; results.jsonl holds all …]" in response
    assert response.endswith("The answer is (C).")
    assert len(page) < 200_000


def test_only_metrics_json_is_required(run_dir: Path) -> None:
    """Without the other files the page still carries the number, and names what is not there."""
    for path in [*(run_dir / "mmlu-pro").iterdir(), run_dir / "run.yaml"]:
        if path.name != "metrics.json":
            path.unlink()
    page = rendered(run_dir)
    assert "There is no failure_analysis.json" in page
    assert "There is no runtime_stats.json" in page
    assert [found["rows"] for found in islands(page)] == [[]]
