"""A reader that has a model name the answer of a response in its last word."""

from nel import AnswerReader, UnreadAnswer, quote

PROMPT = """Which answer does this response give? Reply with that answer alone, or with nothing if it gives none.

{response}"""


def ask(unread: UnreadAnswer) -> str:
    """Return the prompt about an answer."""
    return quote(PROMPT, {"response": unread.response}).prompt


def read(unread: UnreadAnswer, reply: str) -> str | None:
    """Return the last word of a reply without its full stop."""
    words = reply.split()
    return words[-1].rstrip(".") if words else None


last_word = AnswerReader(
    name="example-last-word",
    description="The last word of the reply",
    ask=ask,
    read=read,
)
