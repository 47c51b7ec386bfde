"""When an adapter asks a judge, and what: strategies and contracts by EvalScope's names.

    rule        the metrics of metric_list, as without a judge
    llm         the judge alone
    llm_recall  the metrics, and the judge for what they do not find right; the better of both
    auto        llm where the adapter says `_use_llm_judge = True`, else rule

Where the judge fails the sample is unscored in every strategy; EvalScope keeps the rule's verdict,
or counts 0.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from nel.compat.evalscope.samples import Score
from nel.errors import ConfigError, did_you_mean
from nel.judges.types import PROMPT, Case, only_reply
from nel.scoring.delegation import ask_judge, check_grade_pattern
from nel.types import JsonObject

STRATEGIES: Final = ("auto", "rule", "llm", "llm_recall")
RIGHT_ABOVE: Final = 0.99
"""A rule's main value above this needs no judge."""
LETTER_PATTERN: Final = r"(?m)^\W*([AB])\W*$"
"""A line that is nothing but A or B, as a custom prompt asks for."""
NUMBER_PATTERN: Final = r"\[\[(\d+(?:\.\d+)?)\]\]"
_LETTERS: Final = {"A": 1.0, "B": 0.0}
_NAMES: Final = {"pred": "response", "gold": "reference"}
_PLACEHOLDER: Final = re.compile(r"(?<!\{)\{(pred|gold)\}(?!\})")
_TYPES: Final = ("pattern", "numeric")
_NUMERIC: Final = """Rate how well an answer to a question agrees with the reference answer.

Question: {question}

Reference answer: {reference}

Answer: {response}

Reply with your reasons, and end with the rating, a number from 0 (not at all) to 1 (wholly) in double brackets:
[[RATING]]"""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeContract:
    """What a judge is asked and how its reply is read, as in EvalScope's ``judge_model_args``."""

    system_prompt: str | None = None
    """Stands before the prompt."""
    prompt_template: str | None = None
    """With ``{question}``, ``{gold}`` and ``{pred}``; the judge ``binary_qa`` without one."""
    score_pattern: str | None = None
    """Regular expression whose first group is the grade."""
    score_mapping: Mapping[str, float] | None = None
    """Grade to score."""
    score_type: str = "pattern"
    """``pattern``, or ``numeric`` where the reply holds ``[[0.9]]``."""

    @classmethod
    def of(cls, settings: JsonObject) -> JudgeContract:
        """Return the contract that a run gives.

        Raises:
            ConfigError: A key is unknown, or a value cannot be meant.
        """
        names = [item.name for item in dataclasses.fields(cls)]
        for key in settings:
            if key not in names:
                hint = did_you_mean(key, names, or_all="; there are ")
                raise ConfigError(f'judge_args has no "{key}"{hint}')
        contract = cls(**settings)
        if contract.score_type not in _TYPES:
            raise ConfigError(
                f'score_type "{contract.score_type}" is unknown; use {" or ".join(_TYPES)}'
            )
        if contract.score_pattern is not None:
            check_grade_pattern(contract.score_pattern, name="score_pattern")
        return contract

    def case(self, response: str, reference: str | None) -> Case:
        """Return what a judge is asked about a response; the question is the sample's prompt."""
        template = _PLACEHOLDER.sub(
            lambda match: f"{{{_NAMES[match[1]]}}}", self.prompt_template or ""
        )
        if self.score_type == "numeric":
            template = template or _NUMERIC
        lead = ""
        if self.system_prompt is not None:  # a text, in which braces name no field
            lead = self.system_prompt.replace("{", "{{").replace("}", "}}") + "\n\n"
        pattern, mapping = self.score_pattern, self.score_mapping
        if self.score_type == "numeric":
            pattern = pattern or NUMBER_PATTERN
        elif template and pattern is None:
            pattern, mapping = LETTER_PATTERN, mapping or _LETTERS
        criteria = ""
        if template:
            template = lead + template
        else:
            template = "binary_qa"
            criteria = self.system_prompt or ""
        return Case(
            response=response,
            template=template,
            reference=reference,
            criteria=criteria,
            grade_pattern=pattern,
            score_mapping=mapping,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeUse:
    """Whether and how an adapter asks a judge."""

    strategy: str = "auto"
    contract: JudgeContract = field(default_factory=JudgeContract)

    @classmethod
    def of(cls, strategy: str | None, contract: Mapping[str, object] | None) -> JudgeUse:
        """Return the use that a run asks for.

        Raises:
            ConfigError: The strategy is unknown, or the contract cannot be meant.
        """
        if strategy is not None and strategy not in STRATEGIES:
            hint = did_you_mean(str(strategy), STRATEGIES, or_all="; there are ")
            raise ConfigError(f'judge_strategy "{strategy}" is unknown{hint}')
        return cls(strategy=strategy or "auto", contract=JudgeContract.of(contract or {}))


class LlmJudge:
    """Hooks' ``self.llm_judge``: adapters give it a prompt of their own and read the reply."""

    def __init__(self, contract: JudgeContract) -> None:
        """Take what the run says of prompts."""
        self._contract = contract

    def judge(self, prompt: str, system_prompt: str | None = None) -> str:
        """Return the judge's reply.

        Nothing in the prompt is quoted, so that an answer in it may instruct the judge; the
        default `llm_match_score` quotes answers.

        Raises:
            JudgeError: There is none, or there are several judges.
        """
        lead = system_prompt or self._contract.system_prompt
        text = prompt if lead is None else f"{lead}\n\n{prompt}"
        return only_reply(
            ask_judge(None, Case(response=" ", template="unread", values={PROMPT: text}))
        )


def better_of(rule: Score, judgement: Score) -> Score:
    """Return a rule's score with the judge's main value if that is higher; details have both."""
    main = rule.main_name
    return dataclasses.replace(
        rule,
        value={**rule.value, main: max(rule.value[main], judgement.main_value)},
        explanation=judgement.explanation,
        metadata={**rule.metadata, **judgement.metadata, "rule_score": rule.value[main]},
        main_score_name=main,
    )
