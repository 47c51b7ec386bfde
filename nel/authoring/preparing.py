"""Functions of a benchmark's author that make rows and whole problems: `prepare_row` and `seed_fn`.

NeMo Evaluator hands them the row's position and one random stream for all rows. Nel's rows have no
position, since a limit or another order must change no prompt; `idx` is a number made of the row's
content, and `rng` is seeded by it.
"""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, ClassVar, Final

from nel.authoring.benchmark import Benchmark
from nel.authoring.problem import label_of
from nel.datasets.ids import content_id
from nel.errors import ConfigError, DatasetError
from nel.types import JsonObject, Message, Sample

_SEED: Final = 42
_HEX_DIGITS: Final = 12
"""Of the digest that `idx` is made of: 48 bits, which a float holds exactly as well."""
_POSITIONAL: Final = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_PARAMETERS_MAX: Final = {"prepare_row": 3, "seed_fn": 2}


@dataclass(slots=True)
class SeedResult:
    """One whole problem, as `seed_fn` returns it."""

    prompt: str
    expected_answer: Any
    metadata: dict[str, Any] = field(default_factory=dict)
    """Joins the row that the scorer sees."""
    messages: list[dict[str, Any]] | None = None
    """Sent instead of the prompt; each has ``role`` and ``content``."""
    system: str | None = None
    """A system message before the prompt."""
    tools: Sequence[JsonObject] = ()
    """What the model may call in its one answer, in the OpenAI shape; the scorer sees the calls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeededBenchmark(Benchmark):
    """A benchmark whose problems a function makes."""

    seed: Callable[[dict[str, Any]], Any]
    """From a prepared row to its `SeedResult`."""

    places_no_shots: ClassVar[str] = (
        "it makes whole problems with seed_fn, and examples have no place in them"
    )

    def sample(self, record: Mapping[str, object], *, sample_id: str) -> Sample:
        """Return the sample that the function makes of a raw row.

        Raises:
            DatasetError: It failed, or returned something else than a `SeedResult` with an answer.
        """
        row = self.prepared_fields(record)
        try:
            seed = self.seed(row)
        except (Exception, SystemExit) as error:
            raise DatasetError(f"seed_fn failed: {type(error).__name__}: {error}") from error
        what = None
        if not isinstance(seed, SeedResult):
            what = f"a {type(seed).__name__}"
        elif seed.expected_answer is None:
            what = "no expected_answer"
        if what is not None:
            raise DatasetError(
                f"seed_fn returned {what}; it must return a SeedResult with an expected_answer"
            )
        metadata = {**row, **seed.metadata}
        return Sample(
            id=sample_id,
            input=_question_of(seed),
            target=seed.expected_answer,
            choices=self.choices or None,
            gold_kind=self.gold_kind,
            metadata=metadata,
            tools=tuple(seed.tools),
            subset=label_of(metadata, self.category_field),
            group=label_of(metadata, self.group_field),
            recorded_response=self.recorded_in(metadata),
        )


def row_function(
    function: Callable[..., object], role: str
) -> Callable[[dict[str, object]], object]:
    """Return a function of a row from one of ``row``, ``row, idx`` or ``row, idx, rng``.

    Args:
        function: Of one's own.
        role: ``prepare_row`` or ``seed_fn``, for messages and how many parameters it may have.

    Raises:
        ConfigError: It takes another number of parameters.
    """
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # a built-in that does not say what it takes
        return function
    required = [
        parameter
        for parameter in parameters
        if parameter.kind in _POSITIONAL and parameter.default is inspect.Parameter.empty
    ]
    if not 1 <= len(required) <= _PARAMETERS_MAX[role]:
        forms = ["(row)", "(row, idx)", "(row, idx, rng)"][: _PARAMETERS_MAX[role]]
        raise ConfigError(
            f"{role} takes {len(required)} parameters; write it as {' or '.join(forms)}"
        )
    if len(required) == 1:
        return function

    @wraps(function)
    def of_row(row: dict[str, object]) -> object:
        # `idx` and `rng`, both of the content: equal rows are prepared alike in any order.
        content = content_id(row)
        extras = (
            int(content[:_HEX_DIGITS], 16),
            random.Random(f"{_SEED}:{content}"),  # noqa: S311 - no secret
        )
        return function(row, *extras[: len(required) - 1])

    return of_row


def _question_of(seed: SeedResult) -> str | tuple[Message, ...]:
    if seed.messages is not None:
        try:
            return tuple(
                Message(role=message["role"], content=message["content"])
                for message in seed.messages
            )
        except (TypeError, KeyError) as error:
            raise DatasetError("seed_fn returned messages without role and content") from error
    if seed.system is None:
        return seed.prompt
    return (Message(role="system", content=seed.system), Message(role="user", content=seed.prompt))
