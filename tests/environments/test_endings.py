"""How a container ended, of what the engine says."""

from __future__ import annotations

from nel.environments.endings import post_mortem

RUNNING = {"Running": True, "Paused": False, "Dead": False, "ExitCode": 0, "StartedAt": "1"}


def event(action: str, time: int, **attributes: str) -> dict[str, object]:
    return {"Action": action, "time": time, "Actor": {"Attributes": attributes}}


def test_a_running_container_has_not_ended() -> None:
    """Whatever its processes came to, kills for memory among them."""
    assert post_mortem({**RUNNING, "OOMKilled": True}, [event("oom", 5)], "1") is None


def test_a_paused_container_is_named() -> None:
    """It answers nothing, and the engine says that it runs."""
    ending = post_mortem({**RUNNING, "Paused": True}, (), "1")
    assert ending is not None
    assert ending.kind == "container_paused"


def test_a_container_that_was_started_again_has_ended() -> None:
    """It runs, and what ran in it before does not."""
    ending = post_mortem(RUNNING, (), "0")
    assert ending is not None
    assert (ending.kind, ending.detail[:31]) == ("container_died", "the container was started again")


def test_the_engines_events_say_how_a_removed_container_ended() -> None:
    """A kill for memory counts at the container's end alone: an earlier one was of another process."""
    by_memory = [event("oom", 100), event("die", 100, exitCode="137"), event("destroy", 101)]
    from_outside = [event("oom", 50), event("kill", 100), event("die", 100, exitCode="137")]
    endings = [post_mortem(None, events, "1") for events in (by_memory, from_outside, [])]
    assert [ending.detail for ending in endings if ending] == [
        "the container was killed for memory (exit code 137)",
        "the container was killed from outside (exit code 137)",
        "the container was removed",
    ]
