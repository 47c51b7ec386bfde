"""A verifier's files: one finite number, or no verdict at all."""

from __future__ import annotations

import io
import tarfile

import pytest

from nel.environments.tasks.rewards import headline_of, rewards_of, verdict_of_steps
from nel.tools import ToolsetFault


def packed(data: bytes, kind: bytes = tarfile.REGTYPE) -> bytes:
    """Return an archive of one file, as the engine gives it."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as members:
        info = tarfile.TarInfo("reward")
        info.type, info.size, info.linkname = kind, len(data), "/etc/passwd"
        members.addfile(info, io.BytesIO(data))
    return archive.getvalue()


def test_the_object_comes_before_the_number() -> None:
    """As in Harbor; the reward that counts has that name, or is the only one."""
    assert rewards_of(None, packed(b" 0.5\n")) == {"reward": 0.5}
    rewards = rewards_of(packed(b'{"speed": 2, "reward": 1}'), packed(b"0"))
    assert (rewards, headline_of(rewards), headline_of({"pass": 0.25})) == ({"speed": 2, "reward": 1}, 1, 0.25)


@pytest.mark.parametrize(
    ("as_json", "as_text", "reason"),
    [
        (None, None, "neither reward.json nor reward.txt"),
        (None, packed(b""), "is empty"),
        (None, packed(b"yes"), "not a number"),
        (None, packed(b"nan"), "not a finite number"),
        (None, packed(b"1 0"), "not a number"),
        (None, packed(b"1\0"), "not a number"),
        (None, packed(b"\xff"), "is not text"),
        (None, packed(b"1" + b" " * (10 << 20)), "is larger than"),
        (None, packed(b"", tarfile.SYMTYPE), "is not a plain file"),
        (None, packed(b"", tarfile.DIRTYPE), "is not a plain file"),
        (packed(b"{}"), packed(b"1"), "not an object of numbers"),
        (packed(b"1"), None, "not an object of numbers"),
        (packed(b'{"reward": 1e999}'), None, "not a finite number"),
        (packed(b'{"reward": "1"}'), None, "not a finite number"),
        (packed(b'{"reward": 1'), packed(b"1"), "cannot be read"),
        (packed(b"[" * 30_000), None, "cannot be read"),
        (packed(b'{"reward": NaN}'), None, "not a finite number"),
        (packed(b'{"reward": {"a": 1}}'), None, "not a finite number"),
    ],
)
def test_what_is_not_a_reward_is_a_fault_and_never_0(as_json: bytes | None, as_text: bytes | None, reason: str) -> None:
    """A number in the other file does not replace it."""
    with pytest.raises(ToolsetFault, match=reason) as caught:
        rewards_of(as_json, as_text)
    assert caught.value.kind.startswith("verifier_")


def test_several_rewards_without_a_headline_are_not_guessed() -> None:
    """Which of them counts is not nel's to say."""
    with pytest.raises(ToolsetFault, match="none is called reward"):
        headline_of({"a": 1.0, "b": 0.0})


def test_the_verdict_on_steps_is_the_mean_of_each_reward_or_the_last_at_the_least_level() -> None:
    """A reward that a step lacks is 0 there."""
    first = {
        "reward": 1.0,
        "rewards": {"reward": 1.0, "speed": 3.0},
        "level": "fresh",
        "tampered": ["/a"],
        "n_tampered": 1,
    }
    last = {"reward": 0.5, "rewards": {"reward": 0.5}, "level": "separate", "tampered": [], "n_tampered": 0}
    mean = verdict_of_steps([first, last], is_mean=True)
    assert (mean["reward"], mean["rewards"], mean["level"]) == (0.75, {"reward": 0.75, "speed": 1.5}, "fresh")
    assert (mean["tampered"], mean["n_tampered"], mean["steps"]) == (["/a"], 1, [1.0, 0.5])
    assert verdict_of_steps([first, last], is_mean=False)["rewards"] == {"reward": 0.5}
    assert verdict_of_steps([first], is_mean=True) == first
