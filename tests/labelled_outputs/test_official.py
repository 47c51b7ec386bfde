"""Nel's verdicts are the recorded ones, but for differences that are listed with a reason."""

from __future__ import annotations

import pytest

from tests.labelled_outputs.official import official_differences, present_differences, task_of_row

pytestmark = pytest.mark.shared_data


def test_each_difference_is_listed() -> None:
    """Nel differs where the recorded verdict errs, and nowhere that is not listed; its own errors may become fewer."""
    listed = {(difference.file, difference.row, difference.nel): difference for difference in official_differences()}
    present = present_differences()
    assert sorted(present - set(listed)) == []
    assert [
        place for place, difference in listed.items() if difference.errs == "official" and place not in present
    ] == []


def test_differences_name_their_outputs() -> None:
    """Each row is listed once, with two verdicts that differ; 44 are errors of the recorded verdict."""
    listed = official_differences()
    assert len({(difference.file, difference.row) for difference in listed}) == len(listed)
    assert sum(difference.errs == "official" for difference in listed) == 44
    assert all(difference.official != difference.nel for difference in listed)
    assert [d for d in listed if d.task != task_of_row(d.file, d.row)] == []
