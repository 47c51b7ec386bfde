"""Few-shot examples of a benchmark: how they are chosen and shown. Opens nothing.

Examples are rendered when they are bound, which happens before anything is sent, so that an example
without a target refuses the run and costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias, get_args

from nel.datasets.fewshot import ExampleSource, draw
from nel.datasets.ids import own_id
from nel.errors import ConfigError, DatasetError, did_you_mean
from nel.prompts import Template
from nel.types import Message

Sampler: TypeAlias = Literal["first", "fixed", "seeded"]
SAMPLERS: Final = get_args(Sampler)


@dataclass(frozen=True, slots=True, kw_only=True)
class FewShot:
    """Where a benchmark's examples come from, which are taken, and how they are shown."""

    dataset: ExampleSource | None = None
    """A path, a URI, a callable or a list of rows; None: the benchmark's own dataset, at `split`
    where that is set.
    """
    split: str | None = None
    """The split of a hub dataset that holds the examples, such as ``train``."""
    sampler: Sampler = "first"
    """``first`` of the source; ``fixed``, those of `ids`; ``seeded``, drawn by a sample's content.
    """
    ids: tuple[str | int, ...] = ()
    """For ``fixed``: own ids as text, or positions from 0 as numbers, in the order shown."""
    seed: int = 42
    """For ``seeded``."""
    match_field: str | None = None
    """Only examples that have the sample's own value in this field, such as the subject."""
    template: Template | None = None
    """Renders one whole example, ``{target}`` included; None: the prompt, then the target."""
    target_template: Template | None = None
    """Renders an example's answer; None: the target as text, or the gold choice where ranked."""
    prefix: Template | None = None
    """What stands before the first example, where there is one."""
    separator: str = "\n\n"
    """Between examples, and between the last one and the prompt."""
    as_turns: bool = False
    """Show each example as a user's message and the assistant's answer, not all in one prompt."""

    def __post_init__(self) -> None:
        if self.sampler not in SAMPLERS:
            hint = did_you_mean(str(self.sampler), SAMPLERS) or ";"
            raise ConfigError(
                f'fewshot_sampler "{self.sampler}" is unknown{hint} use {", ".join(SAMPLERS)}'
            )
        if (self.sampler == "fixed") != bool(self.ids):
            raise ConfigError(
                'fewshot_ids and fewshot_sampler="fixed" belong together; give both or neither'
            )
        if self.as_turns and self.template is not None:
            raise ConfigError(
                "fewshot_template renders an example in one piece, which cannot be two turns;"
                " drop one"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """One example, rendered."""

    key: str
    """Of its prompt, see `nel.datasets.fewshot.prompt_key`."""
    own_id: str | None
    """The row's own id, where it has one."""
    question: str
    answer: str
    text: str
    """Question and answer in one piece."""
    group: str | None = None
    """Its value in the field that must match."""


@dataclass(frozen=True, slots=True)
class ExamplePool:
    """Examples that can stand for each other, with their keys."""

    shots: tuple[Shot, ...] = ()
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Shots:
    """The examples that a benchmark's samples are given from."""

    settings: FewShot
    n: int
    pools: Mapping[str | None, ExamplePool] = field(repr=False)
    """By the value that must match; seeded ones in the order of their content, so that the source's
    is of no matter.
    """
    source: str
    """For messages."""

    @property
    def seed(self) -> int | None:
        """Return what they are drawn with for each sample, None where they are not."""
        return self.settings.seed if self.settings.sampler == "seeded" else None

    def as_json(self) -> dict[str, object]:
        """Return how many each prompt has and where they come from, as JSON values."""
        return {
            "n": self.n,
            "sampler": self.settings.sampler,
            "seed": self.seed,
            "source": self.source,
        }

    def of(self, key: str, group: str | None) -> list[Shot]:
        """Return the examples of a sample; itself is never among them.

        Raises:
            DatasetError: There are too few for any sample of its group.
            ConfigError: There are too few without the sample itself, whose prompt is among them.
        """
        pool = self.pools.get(group, ExamplePool())
        # Enough for every other sample: then the number that was asked for is at fault, and the run
        # ends; else this sample's group is, and only its samples are left out.
        is_large = len(pool.keys) >= self.n
        positions = draw(pool.keys, self.n, own=key, seed=self.seed)
        shots = [pool.shots[position] for position in positions]
        if len(shots) < self.n:
            where = "" if group is None else f' with {self.settings.match_field} "{group}"'
            error = ConfigError if is_large else DatasetError
            raise error(
                f"{self.n} few-shot examples are asked for and {self.source} has"
                f" {len(shots)}{where}, the sample itself left out; ask for fewer with"
                " --num-fewshot, or give a larger source"
            )
        return shots


def make_shots(
    settings: FewShot, n: int, shots: Iterable[Shot], *, source: str, holds_samples: bool
) -> Shots:
    """Return examples ready to be given out.

    Args:
        settings: How they are chosen.
        n: So many for each sample.
        shots: All that the source has, in its order.
        source: Its name, for messages.
        holds_samples: Whether the samples themselves come from that source, so that one more is
            needed.

    Raises:
        DatasetError: There are too few, or a fixed one is missing.
    """
    examples = list(shots)
    n_needed = n + holds_samples
    if settings.sampler == "fixed":
        examples = _fixed_shots(settings.ids, examples, source)
        n_needed = n
    if len(examples) < n_needed:
        reserve = ", one more since a sample is never its own example" if n_needed > n else ""
        raise DatasetError(
            f"{n} few-shot examples are asked for and {source} has {len(examples)}{reserve}; "
            "ask for fewer with --num-fewshot, or give a larger source"
        )
    if settings.sampler == "seeded":
        examples.sort(key=lambda shot: shot.key)
    groups: dict[str | None, list[Shot]] = {}
    for shot in examples:
        groups.setdefault(shot.group, []).append(shot)
    pools = {}
    for group, members in groups.items():
        keys = tuple(shot.key for shot in members)
        pools[group] = ExamplePool(tuple(members), keys)
    return Shots(settings=settings, n=n, pools=pools, source=source)


def _fixed_shots(ids: Sequence[str | int], shots: Sequence[Shot], source: str) -> list[Shot]:
    by_id = {shot.own_id: shot for shot in shots if shot.own_id is not None}
    examples = []
    for shot_id in ids:
        shot = by_id.get(own_id(shot_id)) if isinstance(shot_id, str) else None
        if isinstance(shot_id, int) and 0 <= shot_id < len(shots):
            shot = shots[shot_id]
        if shot is None:
            what = f'the id "{shot_id}"' if isinstance(shot_id, str) else f"position {shot_id}"
            hint = did_you_mean(str(shot_id), by_id) or "; check fewshot_ids"
            raise DatasetError(
                f"{source} has no few-shot example of {what} among {len(shots)} rows{hint}"
            )
        examples.append(shot)
    return examples


def join_answer(question: str, answer: str, delimiter: str) -> str:
    """Return an example that is asked for, not ranked: without a delimiter a space stands between
    question and answer, unless one of them brings it.
    """
    has_space = question[-1:].isspace() or answer[:1].isspace()
    return f"{question}{delimiter or ('' if has_space else ' ')}{answer}"


def as_text(shots: Sequence[Shot], prompt: str, settings: FewShot) -> str:
    """Return examples and prompt as one text."""
    return settings.separator.join([*[shot.text for shot in shots], prompt])


def as_turns(shots: Sequence[Shot], prompt: str, prefix: str) -> tuple[Message, ...]:
    """Return examples and prompt as the turns of a chat; the prefix heads the first."""
    messages = []
    for shot in shots:
        messages.append(Message(role="user", content=prefix + shot.question))
        messages.append(Message(role="assistant", content=shot.answer))
        prefix = ""
    return (*messages, Message(role="user", content=prefix + prompt))


def rows_needed(settings: FewShot, n: int) -> int | None:
    """Return how many rows of the source, or of each matching value, can be drawn; None: any."""
    if settings.sampler == "first":
        return n + 1  # one of them may be the sample itself
    # A row that is named by its id may stand anywhere.
    positions = [shot_id for shot_id in settings.ids if isinstance(shot_id, int)]
    if not positions or len(positions) < len(settings.ids):
        return None
    return max(positions) + 1
