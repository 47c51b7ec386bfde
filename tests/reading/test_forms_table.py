"""Every row of the table of forms names the recorded output or the published task that needs it."""

from __future__ import annotations

import html
import re
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from nel.reading.reader import sentences
from nel.reading.response import own_response
from nel.reading.table import FormRow, rows, words_by_language
from nel.reading.types import Form
from tests.reading.recorded import outputs, sets

RECORDED = re.compile(r"(?P<name>[a-z][a-z0-9_]+)(?: (?P<row>\d+))?(?=[:,]|$)")
"""The set and, from 0, the row of ../shared/data that a row of the table names."""
PUBLISHED = (
    "BBH's ",
    "MGSM's ",
    "MMMLU's ",
    "MMLU-ProX,",
    "M3Exam's ",
    "TurkishMMLU's ",
    "GSM8K,",
    "OpenCompass's ",
    "MathVista's ",
)
KEYS = {"form", "strength", "kind", "language", "decimal", "needs", "pattern", "needed_by"}
TABLE: list[dict[str, Any]] = tomllib.loads((files("nel.reading") / "forms.toml").read_text(encoding="utf-8"))["row"]


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row["needed_by"][:40])
def test_row_is_complete(row: dict[str, Any]) -> None:
    """A row has a form, a language, what its pattern needs, and what needs it."""
    assert set(row) <= KEYS
    assert row["form"].upper() in Form.__members__
    assert row["language"]
    assert row["needed_by"]
    assert row["needs"]
    assert all(text and text == text.lower() for text in row["needs"])
    assert (row["form"] == "sentence") == ("kind" in row)
    assert row.get("strength") in ((None,) if row["form"] == "sentence" else ("strong", "plain"))


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.needed_by[:40])
def test_pattern_compiles_and_names_its_answer_where_it_must(row: FormRow) -> None:
    """A row of the form sentence has the group value, since nothing is introduced."""
    assert row.form is not Form.SENTENCE or "value" in row.pattern.groupindex


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.needed_by[:40])
def test_row_names_a_recorded_output_or_a_published_task(row: FormRow) -> None:
    """Invented forms are not evidence for a row."""
    recorded = RECORDED.match(row.needed_by)
    assert row.needed_by.startswith(PUBLISHED) or (recorded is not None and recorded["row"] is not None)


@pytest.mark.shared_data
@pytest.mark.parametrize(
    "row",
    [row for row in rows() if not row.needed_by.startswith(PUBLISHED)],
    ids=lambda row: row.needed_by[:40],
)
def test_named_output_has_the_form(row: FormRow) -> None:
    """The pattern matches the recorded output that the row names."""
    recorded = RECORDED.match(row.needed_by)
    assert recorded is not None
    assert recorded["row"] is not None
    assert recorded["name"] in sets()
    output = outputs(recorded["name"])[int(recorded["row"])]
    response = own_response(output.response, output.prompt)
    stretches = [(0, len(response.low))]
    if row.form is Form.SENTENCE:
        stretches += sentences(response.low, *stretches[0])
    assert any(text in response.low for text in row.needs)
    assert any(row.pattern.search(response.low, *stretch) for stretch in stretches)


def test_the_page_of_the_reference_has_every_row() -> None:
    """docs/reference/reading.md is generated from the table; run `make docs` when this fails."""
    page = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "reading.md").read_text(encoding="utf-8")
    cells = html.unescape(page).replace("\\|", "|")
    assert [row.source for row in rows() if row.source not in cells] == []
    words = {word for several in words_by_language().values() for each in several.values() for word in each}
    assert [word for word in words if word not in cells] == []
