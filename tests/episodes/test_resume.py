"""A kill at any moment of an episode: nothing is asked or run twice, and the results are the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.episodes.bank import depositing, results, write_bank
from tests.support.endpoint import Endpoint, scripted
from tests.support.runs import nel, only_run, read_results, without_volatile
from tests.support.tiers import first_rows

MOMENTS = (
    "after_step",
    "before_tool",
    "after_tool",
    "before_step",
    "request_sent",
    "response_received",
    "before_commit",
    "after_score",
)
KILLS = [(moment, count) for count in (3, 1, 2, 5, 7) for moment in MOMENTS]
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
    """Kill a run at a moment, resume it, and compare it with one that was not killed.

    An effect of a tool is a line of the file of mails: none happens twice. Of the call that the kill interrupted the
    model reads so, and its mail may be missing.
    """
    write_bank(killed, 2)
    with scripted(depositing) as endpoint:
        code = run(killed, endpoint, f"{moment}:{count}")
        was_killed = code != 0
        assert run(killed, endpoint) == 0 if was_killed else code == 0
    mails = (killed / "mails").read_text(encoding="utf-8").splitlines()
    timings = [line["timing"]["episode"] for line in read_results(only_run(killed / "out"), "bank")]
    assert [timing["attempts"] for timing in timings] == [1, 1]
    assert endpoint.resent() <= (moment in IN_FLIGHT)
    lines = lines_of(killed)
    interrupted = sum(line["episode"]["tool_errors"].pop("interrupted", 0) for line in lines)
    assert interrupted <= was_killed
    assert len(set(mails)) == len(mails) >= 2 - interrupted
    assert lines == whole


def test_an_environment_that_cannot_be_replayed_begins_again(tmp_path: Path) -> None:
    """The stored steps of the first attempt are kept and paid for, and the next one comes to the same result."""
    write_bank(tmp_path, 1)
    with scripted(depositing) as endpoint:
        assert run(tmp_path, endpoint, "after_step:8", bench="lasting") != 0
        assert run(tmp_path, endpoint, bench="lasting") == 0
    (line,) = read_results(only_run(tmp_path / "out"), "lasting")
    assert (line["reward"], line["timing"]["episode"]["attempts"]) == (1.0, 2)


@pytest.mark.parametrize(("moment", "count"), first_rows(2, KILLS, storm=2 * len(MOMENTS)))
def test_an_episode_survives_a_kill_at_any_moment(tmp_path: Path, whole: list[dict], moment: str, count: int) -> None:
    """Forty moments of episodes with functions, a tool that may not run twice, and state: the artifacts are the same."""
    check_kill(tmp_path, whole, moment, count)


@pytest.mark.parametrize(
    ("declared", "n_mails", "attempts", "errors"),
    [("again", 2, 1, {}), ("tell", 1, 1, {"interrupted": 1}), ("restart", 2, 2, {})],
)
def test_a_tool_says_what_a_kill_inside_it_means(
    tmp_path: Path, declared: str, n_mails: int, attempts: int, errors: dict[str, int]
) -> None:
    """The kill comes after the mail and before its result: sent again, told to the model, or begun again."""
    path = write_bank(tmp_path, 1)
    source = path.read_text(encoding="utf-8").replace(
        "@tool\ndef send_mail", f'@tool(on_interrupt="{declared}")\ndef send_mail'
    )
    path.write_text(source, encoding="utf-8")
    with scripted(depositing) as endpoint:
        assert run(tmp_path, endpoint, "after_tool:2") != 0
        assert run(tmp_path, endpoint) == 0
    (line,) = read_results(only_run(tmp_path / "out"), "bank")
    assert len((tmp_path / "mails").read_text(encoding="utf-8").splitlines()) == n_mails
    assert (line["reward"], line["timing"]["episode"]["attempts"]) == (1.0, attempts)
    assert line["episode"]["tool_errors"] == errors
    told = [text for call in endpoint.calls for text in results(call) if "may have taken effect" in text]
    assert bool(told) == (declared == "tell")


def test_an_environment_is_closed_once_its_episode_is_over(tmp_path: Path) -> None:
    """What the object holds outside its process is released, once for each episode."""
    path = write_bank(tmp_path, 2)
    close = '\n    def close(self):\n        with open(os.environ["MAILS"], "a") as mails:\n            mails.write("closed\\\\n")\n'
    source = path.read_text(encoding="utf-8").replace(
        '    def evidence(self):\n        return {"balance": self.balance,',
        close.replace("\\\\n", "\\n") + '\n    def evidence(self):\n        return {"balance": self.balance,',
        1,
    )
    path.write_text(source, encoding="utf-8")
    with scripted(depositing) as endpoint:
        assert run(tmp_path, endpoint) == 0
    assert (tmp_path / "mails").read_text(encoding="utf-8").splitlines().count("closed") == 2
