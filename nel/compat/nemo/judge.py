"""The lower functions of NeMo Evaluator's judge, for files that do not call `judge_score`::

    prompt = render_judge_prompt(TEMPLATE, question=..., response=...)
    reply = judge_call(JudgeConfig.from_dict(sample.config["judge"]), prompt)
    grade = parse_grade(reply, r"GRADE:\\s*([CI])")

They ask the run's judge, as `judge_score` does. Such a file turns a failing judge into 0; the run
and `nel.compat.nemo.decorators` see to it that its sample is unscored all the same.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from nel.core import timed_regex
from nel.errors import JudgeError
from nel.judges.parsing.formats import grade_in_json
from nel.judges.quoting import NO_CODE, Quoted
from nel.judges.types import PROMPT, TEMPLATE, Case, only_reply
from nel.scoring.delegation import ask_judge
from nel.scoring.judge import DEFAULT_KEY, RESPONSE_FORMAT
from nel.scoring.protocol import scored_now

__all__ = ["JudgeConfig", "judge_call", "parse_grade", "render_judge_prompt"]

# ``{response}``, and not ``{{response}}``, which is a text in braces.
_SHOWS_RESPONSE = re.compile(r"(?<!\{)\{response\}(?!\})")
_FORMER_NAMES = {"api_key_name": "api_key", "max_tokens": "max_new_tokens"}


@dataclass
class JudgeConfig:
    """A judge's endpoint, by NeMo Evaluator's names; ``api_key`` is the name of a variable."""

    url: str
    model_id: str
    api_key: str | None = None
    temperature: float = 0.0
    top_p: float = 1.0
    max_new_tokens: int = 4096
    parallelism: int | None = None
    max_retries: int = 16
    request_timeout: float = 600

    @classmethod
    def from_dict(cls, d: Mapping[str, Any]) -> JudgeConfig:
        """Return the configuration in a mapping, former names included."""
        names = [item.name for item in dataclasses.fields(cls)]
        settings = {
            _FORMER_NAMES.get(key, key): value for key, value in d.items() if value is not None
        }
        return cls(**{name: settings[name] for name in names if name in settings})


class _Rendered(str):
    """A prompt that knows what it was made of, so that the run can quote the response in it."""

    __slots__ = ("template", "values")
    template: str
    values: dict[str, Any]


def render_judge_prompt(template: str, **values: object) -> str:
    """Return a template with its placeholders filled in."""
    prompt = _Rendered(template.format(**values))
    prompt.template, prompt.values = template, values
    return prompt


def judge_call(
    config: JudgeConfig | Mapping[str, object],
    prompt: str,
    session: object = None,
    response_format: Mapping[str, object] | None = None,
) -> str:
    """Return a judge's reply to a prompt; only in a sync scorer.

    Args:
        config: Of one of the benchmark's judges, which is the one to ask.
        prompt: Where `render_judge_prompt` made it of a template with ``{response}``, the response
            is quoted in it.
        session: Not used.
        response_format: Sent with the prompt.

    Raises:
        JudgeError: There is no reply.
    """
    _ = session
    values: dict[str, object] = {}
    if response_format is not None:
        values[RESPONSE_FORMAT] = dict(response_format)
    case = Case(response=" ", template="unread", judges=_judges_of(config))
    if isinstance(prompt, _Rendered) and _SHOWS_RESPONSE.search(prompt.template):
        settings = {
            name: value
            for name, value in prompt.values.items()
            if name not in ("response", "question")
        }
        case = dataclasses.replace(
            case,
            response=str(prompt.values["response"]),
            question=str(prompt.values.get("question", "")),
            values={**settings, **values, TEMPLATE: prompt.template},
        )
    else:
        case = dataclasses.replace(case, values={**values, PROMPT: str(prompt)})
    judgement = ask_judge(None, case)
    if hasattr(judgement, "__await__"):
        judgement.close()
        raise JudgeError(
            "judge_call works in a def scorer; in an async def one use judge_score",
            kind="unsupported",
        )
    return only_reply(judgement)


def parse_grade(response: str, grade_pattern: str, structured: bool = False) -> str | None:
    """Return the grade in a reply: in its JSON if it is `structured`, else the pattern's last."""
    if structured:
        with suppress(JudgeError):
            return grade_in_json(Quoted(prompt="", code=NO_CODE, foreign=()), response)
    return timed_regex.last_group(grade_pattern, response)


def _get_judge_session(_config: object) -> None:
    """Return nothing: the run keeps the connections."""


def _judges_of(config: JudgeConfig | Mapping[str, object]) -> tuple[str, ...]:
    """Return the name of the judge that a configuration is of, none for the usual one."""
    judge = config if isinstance(config, JudgeConfig) else JudgeConfig.from_dict(config)
    sample = scored_now()
    for key, value in (sample.config if sample is not None else {}).items():
        is_judge = isinstance(value, Mapping) and {"url", "model_id"} <= value.keys()
        if is_judge and JudgeConfig.from_dict(value) == judge:
            return () if key == DEFAULT_KEY else (key,)
    return ()
