"""A kill at any moment of an episode: nothing is asked or run twice, and the results are the same."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from tests.episodes.bank import depositing, write_bank
from tests.support.endpoint import Endpoint, scripted
from tests.support.runs import nel, only_run, read_results, without_volatile
from tests.support.tiers import first_rows

MOMENTS = ("before_step", "after_step", "before_tool", "after_tool", "before_commit", "after_score")
IN_FLIGHT = ("before_step", "request_sent", "response_received", "after_score")
"""Moments at which an answer may be lost that the endpoint has given already; the next episode is asked while one is
scored."""


def run(tmp_path: Path, endpoint: Endpoint, failpoint: str = "", *, bench: str = "bank") -> int:
    """Run the bank, or resume it; return the exit code."""
    where = ("--model-url", endpoint.url, "--model-id", "m", "-o", "out", "--episodes", "1")
    runs = list((tmp_path / "out").glob("*/run.db"))
    command = ("resume", str(runs[0].parent)) if runs else ("run", "--bench", f"{tmp_path / 'bank.py'}:{bench}", *where)
    env = {"MAILS": str(tmp_path / "mails"), **({"NEL_FAILPOINT": failpoint} if failpoint else {})}
    return nel("eval", *command, cwd=tmp_path, env=env).returncode


def lines_of(tmp_path: Path) -> list[dict]:
    """Return the lines of the only run."""
    return without_volatile(read_results(only_run(tmp_path / "out"), "bank"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> list[dict]:
    """Return the lines of a run that was not killed."""
    directory = tmp_path_factory.mktemp("whole")
    write_bank(directory, 2)
    with scripted(depositing) as endpoint:
        assert run(directory, endpoint) == 0
    return lines_of(directory)


def check_kill(killed: Path, whole: list[dict], moment: str, count: int) -> None:
    """Kill a run at a moment, resume it, and compare it with one that was not killed."""
    write_bank(killed, 2)
    with scripted(depositing) as endpoint:
        code = run(killed, endpoint, f"{moment}:{count}")
        was_killed = code != 0
        assert run(killed, endpoint) == 0 if was_killed else code == 0
    mails = (killed / "mails").read_text(encoding="utf-8").splitlines()
    timings = [line["timing"]["episode"] for line in read_results(only_run(killed / "out"), "bank")]
    if all(timing["attempts"] == 1 for timing in timings):
        assert endpoint.resent() <= (moment in IN_FLIGHT)
        assert len(mails) == len(set(mails))
    else:  # a mail may have been sent when the kill came, so its episode began again
        assert moment in ("before_tool", "after_tool", "before_step", "after_score")
    assert lines_of(killed) == whole


@pytest.mark.parametrize(
    ("moment", "count"), first_rows(2, [("after_step", 3), ("before_tool", 2), ("after_tool", 3), ("before_step", 4)])
)
def test_a_killed_episode_goes_on_at_its_last_step(tmp_path: Path, whole: list[dict], moment: str, count: int) -> None:
    """The artifacts are those of a run that was not killed."""
    check_kill(tmp_path, whole, moment, count)


def test_an_environment_that_cannot_be_replayed_begins_again(tmp_path: Path) -> None:
    """The stored steps of the first attempt are kept and paid for, and the next one comes to the same result."""
    write_bank(tmp_path, 1)
    with scripted(depositing) as endpoint:
        assert run(tmp_path, endpoint, "after_step:8", bench="lasting") != 0
        assert run(tmp_path, endpoint, bench="lasting") == 0
    (line,) = read_results(only_run(tmp_path / "out"), "lasting")
    assert (line["reward"], line["timing"]["episode"]["attempts"]) == (1.0, 2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("moment", "count"), list(itertools.product((*MOMENTS, "request_sent", "response_received"), (1, 2, 3, 5, 7)))
)
def test_an_episode_survives_a_kill_at_any_moment(tmp_path: Path, whole: list[dict], moment: str, count: int) -> None:
    """Forty moments of episodes with functions, a tool that may not run twice, and state."""
    check_kill(tmp_path, whole, moment, count)
