"""Reads what a verifier left: the file of a reward, or what pytest printed. Pure.

What cannot be read is a fault of the verifier and never a reward of 0.
"""

from __future__ import annotations

import io
import json
import math
import tarfile
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

from nel.tools import ToolsetFault
from nel.types import JsonObject

REWARD_BYTES_MAX: Final = 64 << 10
HEADLINE: Final = "reward"
LEVELS: Final = ("shared", "fresh", "separate")
"""Of trust in a verdict, the least first."""
NO_REWARD: Final = "verifier_no_reward"
UNREADABLE: Final = "verifier_unreadable"
TIMEOUT: Final = "verifier_timeout"
DIED: Final = "verifier_died"
TAMPERED: Final = "verifier_tampered"
"""Kinds of fault of a verifier."""


def rewards_of(as_json: bytes | None, as_text: bytes | None) -> dict[str, float]:
    """Return the rewards in a verifier's files, ``reward.json`` before ``reward.txt``.

    Args:
        as_json: The archive of the one, as the engine gives it; None where it is not there.
        as_text: That of the other.

    Raises:
        ToolsetFault: There is none, or it is not one finite number or an object of those.
    """
    if as_json is not None:
        return _from_json(_text_of(as_json, "reward.json"))
    if as_text is None:
        raise ToolsetFault(NO_REWARD, "the tests wrote neither reward.json nor reward.txt")
    text = _text_of(as_text, "reward.txt")
    try:
        return {HEADLINE: _finite(float(text), "reward.txt")}
    except ValueError as error:
        raise ToolsetFault(UNREADABLE, f"reward.txt holds {text[:100]!r}: not a number") from error


def headline_of(rewards: dict[str, float]) -> float:
    """Return the reward that counts: the one of that name, or the only one.

    Raises:
        ToolsetFault: There are several, and none has that name.
    """
    if HEADLINE in rewards:
        return rewards[HEADLINE]
    if len(rewards) != 1:
        names = ", ".join(rewards)
        raise ToolsetFault(UNREADABLE, f"reward.json holds {names}, and none is called reward")
    return next(iter(rewards.values()))


def verdict_of_steps(verdicts: Sequence[JsonObject], *, is_mean: bool) -> JsonObject:
    """Return the verdict on a task by those on its steps, which is that of its only one.

    As in Harbor a step that was not begun counts nowhere, and a reward that a step lacks is 0.

    Raises:
        ToolsetFault: There are several rewards, and none is called reward.
    """
    result = verdicts[-1]
    if len(verdicts) == 1:
        return result
    steps: list[Any] = [verdict["rewards"] for verdict in verdicts]
    names = dict.fromkeys(name for rewards in steps for name in rewards)
    means = {name: sum(step.get(name, 0.0) for step in steps) / len(steps) for name in names}
    rewards = means if is_mean else steps[-1]
    tampered = [path for verdict in verdicts for path in verdict["tampered"]]
    levels = [str(verdict["level"]) for verdict in verdicts]
    return {
        **result,
        "level": min(levels, key=LEVELS.index),
        "reward": headline_of(rewards),
        "rewards": rewards,
        "tampered": list(dict.fromkeys(tampered)),
        "n_tampered": max(int(str(verdict["n_tampered"])) for verdict in verdicts),
        "steps": [verdict["reward"] for verdict in verdicts],
    }


def _text_of(archive: bytes, name: str) -> str:
    """Return the text of the one file of an archive; a link or a folder is not a reward."""
    try:
        with tarfile.open(fileobj=io.BytesIO(archive)) as members:
            member = members.next()
            if member is None or not member.isreg():
                raise ToolsetFault(UNREADABLE, f"{name} is not a plain file")
            file = members.extractfile(member)
            data = b"" if file is None else file.read(REWARD_BYTES_MAX + 1)
    except tarfile.TarError as error:
        raise ToolsetFault(UNREADABLE, f"{name} cannot be read: {error}") from error
    if not data:
        raise ToolsetFault(UNREADABLE, f"{name} is empty")
    if len(data) > REWARD_BYTES_MAX:
        raise ToolsetFault(UNREADABLE, f"{name} is larger than {REWARD_BYTES_MAX:,} bytes")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise ToolsetFault(UNREADABLE, f"{name} is not text: {error}") from error


def _from_json(text: str) -> dict[str, float]:
    try:
        rewards = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ToolsetFault(UNREADABLE, f"reward.json cannot be read: {error}") from error
    if not isinstance(rewards, dict) or not rewards:
        raise ToolsetFault(
            UNREADABLE, f"reward.json holds {text[:100]!r}: not an object of numbers"
        )
    return {str(name): _finite(value, "reward.json") for name, value in rewards.items()}


def _finite(value: object, name: str) -> float:
    with suppress(OverflowError):  # by a whole number that no float holds
        if isinstance(value, (int, float)) and math.isfinite(value):
            return float(value)
    raise ToolsetFault(UNREADABLE, f"{name} holds {str(value)[:100]}: not a finite number")
