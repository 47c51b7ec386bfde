"""What a benchmark needs of pip: read, and checked against what is installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from nel.authoring.requirements import check_requirements, read_requirements
from nel.errors import ConfigError


def test_a_file_is_read_without_comments(tmp_path: Path) -> None:
    """A requirements.txt beside the benchmark gives one requirement a line."""
    (tmp_path / "requirements.txt").write_text("# what it needs\nrouge-score>=0.1.2  # for ROUGE\n\nnltk\n")
    assert read_requirements("requirements.txt", tmp_path) == ("rouge-score>=0.1.2", "nltk")


def test_a_missing_file_and_an_empty_entry_are_refused(tmp_path: Path) -> None:
    """What cannot be read, or is not a text, says so."""
    with pytest.raises(ConfigError, match=r"requirements\.txt cannot be read: No such file"):
        read_requirements("requirements.txt", tmp_path)
    with pytest.raises(ConfigError, match="not a requirement"):
        read_requirements([""], None)


@pytest.mark.parametrize(
    ("requirement", "problem"),
    [
        ("pytest>=1", None),
        ("PyYAML", None),
        ('nobody-has-this; python_version < "3"', None),
        ("nobody-has-this-package", "is not installed; install it: pip install"),
        ("pytest<1", "which does not fit <1"),
    ],
)
def test_what_is_installed_is_compared(requirement: str, problem: str | None) -> None:
    """A requirement is met by a fitting version, or the fix is named; a marker that does not hold asks for nothing."""
    (check,) = check_requirements([requirement])
    assert (check.problem is None) == (problem is None)
    assert problem is None or problem in (check.problem or "")
