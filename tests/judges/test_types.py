"""Cases whose fields do not have their declared types."""

from __future__ import annotations

from typing import Any

import pytest

from nel.errors import JudgeError
from nel.judges.types import Case, check_case


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"template": 3}, "template is 3 (int); give a text"),
        ({"criteria": 7}, "criteria is 7 (int); give a text"),
        ({"grade_pattern": b"C"}, "grade_pattern is b'C' (bytes); give a text"),
        ({"score_mapping": [1, 2]}, "score_mapping is [1, 2] (list); give a mapping of grades to numbers"),
        ({"score_mapping": {"C": [1]}}, "the score of the grade 'C' in score_mapping is [1] (list); give a number"),
        ({"values": [1]}, "values is [1] (list); give a mapping"),
        ({"judges": "strict"}, "judges is 'strict' (str); give a list of names"),
        ({"aggregate": "mode"}, "the aggregate 'mode' is none of majority, mean, median, min, max"),
    ],
)
def test_a_part_of_another_type_is_named(part: dict[str, Any], message: str) -> None:
    """What it is and what it must be; the fault is the case's own."""
    with pytest.raises(JudgeError) as refused:
        check_case(Case(**part))
    assert message in str(refused.value)
    assert refused.value.kind == "bad_case"
