"""A judge that answers yes or no."""

import re

from nel import Judge, JudgeError, Score, ScorerInput


def ask(sample: ScorerInput) -> str:
    """Return the question for the judging model."""
    return (
        "Does this answer say the same as the reference?\n\n"
        f"Reference: {sample.target}\n\nAnswer: {sample.response}\n\n"
        'Reply with a last line "VERDICT: yes" or "VERDICT: no".'
    )


def read(reply: str) -> Score:
    """Return the verdict on the reply's last line."""
    found = re.findall(r"(?m)^VERDICT: (yes|no)\s*$", reply)
    if len(found) != 1:
        raise JudgeError(f"the judge's reply has {len(found)} verdicts, not one")
    return Score(value=found[0] == "yes")


yes_no = Judge(
    name="example-yes-no",
    description="Same as the reference, yes or no",
    ask=ask,
    read=read,
    example_reply="They agree.\nVERDICT: yes",
)
