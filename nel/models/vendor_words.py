"""What vendors say of filtered prompts, unpaid accounts, bad keys and rate limits. No I/O.

The status alone does not tell them apart: a filtered prompt comes with 400, 403 or 446, an empty
account with 400, 402, 403, 412 or 429, a wrong key with 400, and a rate limit with 400 or 413. The
codes decide first, then the words.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from nel.models.error_bodies import ErrorBody

Meaning = Literal["content_filter", "quota", "auth", "rate_limit"]

UNKNOWN_FIELD: Final = re.compile(
    r"""
      \b(?:unknown|unrecognized|unexpected|unsupported|additional)
        \ (?:request\ )?(?:field|parameter|name|key|argument|propert|keyword|option)
    | extra\ (?:fields|inputs)\b | invalid\ option
    | \b(?:field|parameter|argument|property|keyword)\b.{0,60}\bnot\ (?:permitted|allowed|supported|recognized)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""A field unknown to a server: its name, e.g. ``context_length``, says nothing of the prompt."""

_FILTER_CODES: Final = frozenset(
    {
        "content_filter",
        "content_policy_violation",
        "responsibleaipolicyviolation",
        "moderation_blocked",
        "cyber_policy_violation",
        "datainspectionfailed",
        "data_inspection_failed",
        "sensitivecontentdetected",
        "inputtextsensitivecontentdetected",
        "outputtextsensitivecontentdetected",
        "content_moderated",
        "moderation",
        "input_guardrail_triggered",
        "output_guardrail_triggered",
        "hooks_failed",
        "1301",
    }
)
"""OpenAI, Azure, DashScope, Volcengine, watsonx, Mistral, Databricks, Portkey and Zhipu."""

_FILTER_WORDS: Final = re.compile(
    r"""
      content[ _.-]?(?:filter|policy|management|moderation)            # Azure, OpenAI, Anthropic, Bedrock, LiteLLM
    | flagged\ as\ (?:potentially\ )?(?:violating|unsafe|harmful)     # OpenAI, Together
    | flagged\ (?:for|by)\ .{0,40}(?:violen|hate|sexual|self-harm|harass|moderation|safety|risk|polic|cyber)
    | requires\ moderation\ on                                        # OpenRouter
    | rejected\ (?:as\ a\ result\ of\ our|by\ (?:the|our))\ safety\ system   # OpenAI
    | limited\ access\ to\ this\ content\ for\ safety                 # OpenAI
    | considered\ high\ risk                                          # Kimi
    | (?:violat\w*|against)\ .{0,60}(?:usage\ (?:guideline|polic)|use\ polic|moderation\ polic|guardrail|safety\ polic
        |responsible\ ai|acceptable\ use)                             # Anthropic, xAI, Vertex, LiteLLM
    | SAFETY_CHECK_TYPE | PROHIBITED_CONTENT                          # xAI, Gemini
    | content\ exists\ risk                                           # DeepSeek
    | (?:inappropriate|sensitive|unsafe|harmful)\ (?:content|words|information|input)   # DashScope, Zhipu, Volcengine
    | \b(?:in|out)put\ (?:new_)?sensitive                             # MiniMax
    | \bblocked\ (?:in|out)put\b                                      # Cohere
    | (?:prompt|input|request|response|text)\ (?:was\ |has\ been\ )?blocked\ (?:by|due\ to)\ .{0,40}
        (?:filter|guardrail|polic|safety|security)                    # Bedrock, Cloudflare
    | unsuitable\ input | \b(?:in|out)put_guardrail | guardrail\ (?:triggered|checks|intervened|policy)
    | (?:In|Out)putModeration                                         # iFlytek
    | 敏感(?:内容|词|信息) | 不安全 | 违规 | 不当内容
    """,
    re.VERBOSE | re.IGNORECASE,
)

_QUOTA_CODES: Final = frozenset(
    {
        "billing_hard_limit_reached",
        "billing_not_active",
        "billing_error",
        "exceeded_current_quota_error",
        "arrearage",
        "allocationquota.freetieronly",
        "accountoverdueerror",
        "budget_exceeded",
        "credit_limit",
        "payment_required",
        "payment_required_error",
        "1113",
    }
)
"""OpenAI, Anthropic, Kimi, DashScope, Volcengine, LiteLLM, Together, Cerebras and Zhipu."""

_QUOTA_WORDS: Final = re.compile(
    r"""
      insufficient[ _](?:quota|balance|funds|credits?)\b               # OpenAI, DeepSeek, OpenRouter, Zhipu
    | (?:balance|credits?)\b.{0,20}\b(?:insufficient|too\ low|depleted|exhausted|expired|used\ up)
    | (?:not|n't)\ have\ (?:any|enough)\ credits | used\ all\ available\ credits     # xAI
    | out\ of\ credits | no\ credits\ (?:left|remaining|available)
    | credit\ limit\ exceeded | requires\ more\ credits               # Together, OpenRouter
    | billing\ hard\ limit | account\ is\ not\ active | requires\ billing\ to\ be\ enabled  # OpenAI, Vertex
    | overdue\ balance | account\ is\ in\ good\ standing | account\ (?:is|has\ been)\ (?:in\ arrears|suspended)
    | (?:reached|exceeded|reaching)\ .{0,30}(?:spending\ limit|included\ credits|specified\ .{0,20}usage\ limits)
    | budget\ has\ been\ exceeded | ExceededBudget | \bover\ budget\b  # LiteLLM
    | free\ tier\ .{0,40}exhausted | calls\ /\ month                   # DashScope, Cohere
    | payment\ required | enter\ a\ payment\ method | no\ active\ subscription
    | 余额不足 | 欠费
    """,
    re.VERBOSE | re.IGNORECASE,
)
_PLAN_QUOTA: Final = re.compile(r"exceeded your current (?:token )?quota", re.IGNORECASE)
"""OpenAI says so of a spent account, Gemini of a limit by the minute."""
_ALLOCATED: Final = re.compile(r"allocated quota exceeded", re.IGNORECASE)
"""DashScope says so of a limit by the minute, with OpenAI's code of a spent account."""
_PASSING: Final = re.compile(
    r"per[ _-]?(?:model[ _-]?per[ _-]?)?(?:min|sec|hour|day)"
    r"|retry in|try again in|retry after|\b[TR]P[MDS]\b"
    r"|google|resource_exhausted|for metric",  # Gemini's words around its limit by the minute
    re.IGNORECASE,
)
"""What is said beside `_PLAN_QUOTA` where it is a limit that passes."""
_SPENT_CODE: Final = "insufficient_quota"

_KEY_WORDS: Final = re.compile(
    r"""
      \b(?:incorrect|invalid|wrong|missing|malformed|expired|revoked|bad|no|provide(?:\ an)?)\ (?:or\ \w+\ )?
        (?:api[ _-]?key|authorization|(?:access|bearer|proxy\ server)\ token|auth(?:entication)?\ (?:token|header))
    | api[ _-]?key\ (?:is\ |was\ )?(?:not\ (?:valid|found|provided|set)|invalid|expired|missing|required|revoked
        |disabled)
    | no\ connected\ db            # LiteLLM without a database, in which it would look for any key but its own
    | \bauthentication\ error\b | \bauthenticationerror\b | unauthori[sz]ed
    """,
    re.VERBOSE | re.IGNORECASE,
)
_KEY_CODES: Final = frozenset(
    {"invalid_api_key", "authentication_error", "auth_error", "unauthenticated", "api_key_invalid"}
)

_RATE_CODES: Final = frozenset(
    {"throttlingexception", "rate_limit_exceeded", "rate_limit_error", "rate_limit_reached_error"}
)
_RATE_WORDS: Final = re.compile(
    r"too many (?:tokens|requests)[^.]{0,40}please wait|\bthrottl(?:ed|ing)\b", re.IGNORECASE
)
RATE: Final = re.compile(
    r"tokens?[ -]per[ -](?:min|day|hour|sec)|\b[TR]P[MD]\b|rate.?limit|\bthrottl|please wait before"
    r" trying again",
    re.IGNORECASE,
)
"""Groq answers a request above its tokens a minute with 413 and "Request too large"."""

# The statuses with which vendors say each of these.
_FILTERING: Final = frozenset({400, 403, 406, 422, 424, 446, 451})
_BILLING: Final = frozenset({400, 401, 403, 412, 422, 429})
_KEYED: Final = frozenset({400, 403, 422})
_LIMITING: Final = frozenset({400, 413})
_PAYMENT_REQUIRED: Final = 402


def meaning_of(status: int, error: ErrorBody) -> Meaning | None:
    """Return what a refusal's codes or words mean beyond its status; None where they add nothing.

    >>> meaning_of(403, ErrorBody("Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO"))
    'content_filter'
    >>> meaning_of(429, ErrorBody("Your account is suspended due to insufficient balance"))
    'quota'
    """
    if UNKNOWN_FIELD.search(error.message):
        return None
    if status == _PAYMENT_REQUIRED or (status in _BILLING and _is_spent(error)):
        return "quota"
    if status in _LIMITING and _matches(error, _RATE_CODES, _RATE_WORDS):
        return "rate_limit"
    if status in _FILTERING and _matches(error, _FILTER_CODES, _FILTER_WORDS):
        return "content_filter"
    if status in _KEYED and _matches(error, _KEY_CODES, _KEY_WORDS):
        return "auth"
    return None


def _is_spent(error: ErrorBody) -> bool:
    """Return whether the account has nothing left, not just reached a limit that passes."""
    if _ALLOCATED.search(error.message):
        return False
    if _SPENT_CODE in error.codes or _matches(error, _QUOTA_CODES, _QUOTA_WORDS):
        return True
    everything = " ".join((error.message, *error.codes))
    return bool(_PLAN_QUOTA.search(error.message)) and not _PASSING.search(everything)


def _matches(error: ErrorBody, codes: frozenset[str], words: re.Pattern[str]) -> bool:
    return not codes.isdisjoint(error.codes) or bool(words.search(error.message))
