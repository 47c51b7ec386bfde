"""When a run may stop before its last question: the grammar of ``--stop-when``."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import NonNegativeInt, field_validator

from nel.config.named_baselines import read_baselines
from nel.config.schema.strict import Flag, Strict
from nel.errors import did_you_mean

StopKind = Literal["width", "better-or-worse", "futile"]
KINDS: Final = ("width", "better-or-worse", "futile")
HEADLINES: Final = ("accuracy", "mean_reward", "reward", "score")
"""Names of the headline, the mean reward, which is all that a rule looks at."""
_EXAMPLES: Final = {"width": "width<0.05", "futile": "futile accuracy>=0.8"}
GRAMMAR: Final = "width<0.05, better-or-worse BASELINE or futile accuracy>=0.8"
_WORD: Final = re.compile(r"[A-Za-z@_-]+")
_WIDTH: Final = re.compile(r"width\s*<\s*(?P<value>[^\s<>=]+)")
_FUTILE: Final = re.compile(r"futile\s+(?P<metric>[^\s<>=]+)\s*>=\s*(?P<value>[^\s<>=]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class StopCondition:
    """One condition of a stop rule."""

    kind: StopKind
    value: float = 0.0
    """Bound on the width of the interval (``width``), or the value out of reach (``futile``)."""
    baseline: str = ""
    """Of ``better-or-worse``: the directory of a finished run."""
    text: str
    """As it was given."""

    @property
    def name(self) -> str:
        """Return it with the name of its baseline in place of the path."""
        return f"{self.kind} {Path(self.baseline).absolute().name}" if self.baseline else self.text


def read_condition(text: str) -> StopCondition:
    """Return what one ``--stop-when`` says.

    Raises:
        ValueError: It is none of the forms of `GRAMMAR`; the message says what was meant.

    >>> read_condition("width<0.05").value, read_condition("futile accuracy>=0.8").value
    (0.05, 0.8)
    """
    text = text.strip()
    match = _WORD.match(text)
    word = match.group() if match else ""
    if word == "better-or-worse":
        baseline = text[len(word) :].strip()
        if not baseline:
            raise ValueError(
                f'"{text}" names no run; say better-or-worse BASELINE, a finished run by directory'
                " or name"
            )
        return StopCondition(kind="better-or-worse", baseline=baseline, text=text)
    if word not in KINDS:
        hint = did_you_mean(word, KINDS) or f"; say {GRAMMAR}"
        raise ValueError(f'"{text}" is not a stop rule{hint}')
    # The name of a baseline may hold anything, so the third form has no pattern.
    rule = (_WIDTH if word == "width" else _FUTILE).fullmatch(text)
    if rule is None:
        raise ValueError(f'"{text}" cannot be read; say {_EXAMPLES[word]}')
    if word == "futile" and rule["metric"] not in HEADLINES:
        hint = did_you_mean(rule["metric"], HEADLINES, or_all="; known: ")
        raise ValueError(
            f'"{text}": "{rule["metric"]}" is not a name of the headline, which a rule looks'
            f" at{hint}"
        )
    value = _share(rule["value"], text)
    return StopCondition(kind="width" if word == "width" else "futile", value=value, text=text)


def _with_directory(condition: StopCondition) -> str:
    """Return a condition's text with a directory for the name of a baseline: a resume keeps it."""
    name = condition.baseline
    if not name or Path(name).expanduser().exists():
        return condition.text
    baseline = read_baselines().get(name)
    return condition.text if baseline is None else f"{condition.kind} {baseline.directory}"


def _share(text: str, rule: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < 1:
        raise ValueError(f'"{rule}": {text} is not a number between 0 and 1, which scores lie in')
    return value


class StopConfig(Strict):
    """When a run may stop asking: which questions are asked depends on it, so a resume keeps it."""

    when: Annotated[
        tuple[str, ...],
        Flag(
            "--stop-when",
            "Stop at width<0.05, better-or-worse BASELINE or futile accuracy>=0.8; repeatable.",
        ),
    ] = ()
    """``width<0.05``, ``better-or-worse BASELINE``, ``futile accuracy>=0.8``; the first that holds
    ends a benchmark. A baseline is a finished run's directory, or its name (nel baseline set)."""
    seed: NonNegativeInt = 0
    """Of the random order in which the questions are then asked."""

    @field_validator("when")
    @classmethod
    def _readable(cls, when: tuple[str, ...]) -> tuple[str, ...]:
        conditions = [read_condition(text) for text in when]
        kinds = [condition.kind for condition in conditions]
        for kind in KINDS:
            if kinds.count(kind) > 1:
                raise ValueError(
                    f"{kind} is there {kinds.count(kind)} times; give each condition once"
                )
        return tuple(_with_directory(condition) for condition in conditions)

    @property
    def conditions(self) -> tuple[StopCondition, ...]:
        """Return what it says, read."""
        return tuple(read_condition(text) for text in self.when)

    def absolute(self) -> list[str]:
        """Return the conditions with absolute paths, so that they hold in any directory."""
        texts = []
        for condition in self.conditions:
            text = condition.text
            if condition.baseline:
                text = f"{condition.kind} {Path(condition.baseline).expanduser().absolute()}"
            texts.append(text)
        return texts
