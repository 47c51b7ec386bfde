"""A suite: benchmarks that are run together, with sub-scores and weights, as a plugin or a YAML
file has it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, ValidationError, model_validator

from nel.config.layers import first_problem
from nel.config.schema.strict import Strict, entries_by_name
from nel.errors import ConfigError


class SuiteMean(Strict):
    """A mean over members, each of which is a benchmark or a mean of its own."""

    weigh: Literal["alike", "by_size"] = "alike"
    """``by_size``: each as many questions as it has. Not read where members have weights."""
    members: Annotated[list[SuiteMember], Field(min_length=1)]
    """Names, or entries as below."""

    @model_validator(mode="before")
    @classmethod
    def _a_name_is_a_member(cls, value: object) -> object:
        if isinstance(value, dict) and isinstance(value.get("members"), list):
            return {**value, "members": entries_by_name(value["members"])}
        return value

    @model_validator(mode="after")
    def _weights_and_names_fit(self) -> SuiteMean:
        names = [member.name for member in self.members]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"{twice[0]} is a member twice")
        has_weight = [member.weight is not None for member in self.members]
        if any(has_weight) and not all(has_weight):
            raise ValueError(f"{names[has_weight.index(False)]} has no weight, and others have one")
        absent = next((member.name for member in self.members if any(member.absent())), None)
        if self.weigh == "by_size" and not any(has_weight) and absent is not None:
            raise ValueError(f"{absent} has no size, since it is missing; give weights")
        return self


class SuiteMember(Strict):
    """A benchmark, or a sub-score with members of its own."""

    name: str
    """Of a benchmark: as ``--bench`` takes it, or ``NAME#CATEGORY`` for one category of it."""
    weight: Annotated[float | None, Field(gt=0, allow_inf_nan=False)] = None
    """Beside those of the other members of the same mean; all of them have one, or none."""
    missing: str = ""
    """Why it cannot be run: it is named beside the score, and counts from 0 to 1 in the bounds."""
    mean: SuiteMean | None = None
    """Of a sub-score."""

    @model_validator(mode="before")
    @classmethod
    def _members_make_a_mean(cls, value: object) -> object:
        if not isinstance(value, dict) or "members" not in value:
            return value
        # `{name: …, weight: …, members: […], weigh: …}`: the last two are those of its mean.
        fields = {key: item for key, item in value.items() if key not in SuiteMean.model_fields}
        mean = {key: value[key] for key in value.keys() - fields.keys()}
        return {**fields, "mean": mean}

    @model_validator(mode="after")
    def _is_one_of_both(self) -> SuiteMember:
        if self.mean is not None and self.missing:
            raise ValueError(f"{self.name} has members; say which of them is missing")
        return self

    def absent(self) -> Iterator[str]:
        """Yield the names of what is missing of it."""
        if self.missing:
            yield self.name
        for member in () if self.mean is None else self.mean.members:
            yield from member.absent()


class SuiteConfig(SuiteMean):
    """A whole suite."""

    suite: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_.-]*$")]
    """Its name, which its row has."""
    description: str = ""
    """One line."""
    metric: str = ""
    """As metrics.json of the benchmarks names it; empty: the headline of each."""


def read_suite(document: object, where: str) -> SuiteConfig:
    """Return a suite; raises ConfigError, which names it by ``where``, for what is not one."""
    try:
        return SuiteConfig.model_validate(document)
    except ValidationError as error:
        raise ConfigError(f"{where} is not a suite: {first_problem(error)}") from error
