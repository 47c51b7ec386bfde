"""The judges and how they judge.

A field that can change a grade must also be named in `nel.config.identity`; else a resume would mix
two settings.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, PositiveFloat, model_validator

from nel.config.schema.endpoint import ModelConfig
from nel.config.schema.strict import NAMED, Flag, Strict


class JudgeConfig(Strict):
    """The judges and how they judge; a single one may be given by its ``url`` and ``model``."""

    panel: Annotated[
        list[ModelConfig],
        Flag(
            "--judge-url",
            "Base URL of the judge; repeatable, or one for all judges.",
            item_key="url",
        ),
        Flag("--judge-id", "Name of the judging model; several make a panel.", item_key="model"),
        Flag(
            "--judge-api-key-env",
            "Name of the variable that holds the judge's key.",
            item_key="api_key_env",
        ),
    ] = []
    """The judges; each gives its opinion of every case."""
    template: Annotated[
        str | None,
        NAMED,
        Flag(
            "--judge-template",
            "Where the benchmark leaves it open: an installed judge, or a template's text.",
        ),
    ] = None
    """For benchmarks that leave it open: an installed judge (nel list judges), or a template."""
    grade_pattern: str | None = None
    """Regular expression whose first group is the grade of a reply; None: a line ``GRADE: X``."""
    score_mapping: dict[str, float] | None = None
    """Grade to score, for a `template` of one's own; of a pair the score of answer A."""
    grade_logprobs: Annotated[
        bool,
        Flag(
            "--judge-logprobs",
            "Grade by the probabilities of the grades as the reply's first token.",
        ),
    ] = False
    """For a `template` of one's own with `score_mapping`, whose grades are single tokens: the score
    is their mean, weighted by the probabilities that the judge gives them as its first token, as in
    AlpacaEval 2 and G-Eval."""
    criteria: Annotated[str | None, Flag("--judge-criteria", "What the judge is to look at.")] = (
        None
    )
    """What the judge is to look at, where the scorer says nothing."""
    aggregate: Literal["majority", "mean", "median", "min", "max"] = "majority"
    """How opinions become one grade; a tie for the majority is settled by the mean score."""
    weights: dict[str, PositiveFloat] | None = None
    """Votes of each judge by name, as ``nel judge calibrate`` prints them; None: one each."""
    quorum: Annotated[int, Field(ge=1)] | None = None
    """Opinions needed for a grade; None: more than half of the panel."""
    repeats: Annotated[
        int, Field(ge=1, le=100), Flag("--judge-repeats", "How often each judge is asked the same.")
    ] = 1
    """How often each judge is asked the same, which measures its self-consistency."""
    threshold: Annotated[float, Field(ge=0, le=1)] | None = None
    """Of the template ``llm_rubric``: the least score to pass; None: as the judge says."""
    swap: bool = True
    """Show a pair in both orders; a judge that changes its mind with the order calls it a tie."""
    reasks: Annotated[int, Field(ge=0, le=5)] = 1
    """How often a judge whose reply cannot be read is asked again."""

    @property
    def unset(self) -> frozenset[str]:
        """Return the optional settings that are not set; identities and records leave them out."""
        optional = ("grade_pattern", "score_mapping", "grade_logprobs", "threshold", "weights")
        # Not `in (None, False)`: a threshold of 0 equals False, and is set.
        return frozenset(
            name for name in optional if getattr(self, name) is None or getattr(self, name) is False
        )

    @model_validator(mode="before")
    @classmethod
    def _one_judge_is_a_panel(cls, data: object) -> object:
        if not isinstance(data, dict):
            if isinstance(data, JudgeConfig):
                return data
            what = f"a {type(data).__name__} is not a judge"
            raise ValueError(what + "; give {url: …, model: …}, or several as {panel: [{…}, …]}")
        if "api_key" in data:
            raise ValueError(
                "api_key would be stored; give api_key_env, the name of the variable that holds"
                " the key"
            )
        if isinstance(data.get("panel"), dict):
            raise ValueError(
                "panel is one judge; make it a list, or give url and model without panel"
            )
        # Keys of a model, such as url: the judge is given without a panel.
        member = {key: data[key] for key in data if key in ModelConfig.model_fields}
        if not member:
            return data
        if "panel" in data:
            raise ValueError(
                f"{', '.join(member)} and panel are both given; name each judge in panel"
            )
        return {
            **{key: value for key, value in data.items() if key not in member},
            "panel": [member],
        }

    @model_validator(mode="after")
    def _names_differ(self) -> JudgeConfig:
        labels = [member.label for member in self.panel]
        twice = {label for label in labels if labels.count(label) > 1}
        if twice:
            raise ValueError(f'two judges are called "{min(twice)}"; give each a name')
        if self.weights is not None and self.panel and set(self.weights) != set(labels):
            raise ValueError(
                f"weights name {', '.join(sorted(self.weights))}; give one for each of"
                f" {', '.join(labels)}"
            )
        if self.weights is not None and self.aggregate not in ("majority", "mean"):
            raise ValueError(f"weights hold for majority and mean, not for {self.aggregate}")
        if self.quorum is not None and self.panel and self.quorum > len(self.panel):
            raise ValueError(
                f"quorum is {self.quorum} and the panel has {len(self.panel)}; give no more than"
                " that"
            )
        return self
