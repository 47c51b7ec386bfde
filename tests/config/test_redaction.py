"""Secrets stay out of texts, and come only from the environment."""

from __future__ import annotations

import json
from collections.abc import Callable
from urllib.parse import quote

import pytest

from nel.config.redaction import Redactor, redact_url, secrets_in_url
from nel.core.strict_json import dumps, loads

SECRETS = [
    "sk-a/secret+key",
    "cnry5f/7+bQ==zz9917&k",
    "Zx9_k2",
    "sk-proj-" + "aB3_x-Y9" * 16,
    "eyJhbGciOiJSUzI1NiJ9." + "eyJzdWIiOiIxMjM0NTY3ODkwIn0x" * 30 + ".q~Z'",
]


SPELLINGS: dict[str, Callable[[str], str]] = {
    "raw": str,
    "upper": str.upper,
    "percent": lambda text: quote(text, safe=""),
    "percent-lower": lambda text: quote(text, safe="").lower(),
    "percent-twice": lambda text: quote(quote(text, safe=""), safe=""),
    "json": lambda text: json.dumps(text)[1:-1],
    "json-slash": lambda text: text.replace("/", "\\/"),
    "json-u": lambda text: "".join(f"\\u{ord(c):04x}" for c in text),
    "json-u-twice": lambda text: "".join(f"\\\\u{ord(c):04X}" for c in text),
    "json-u-of-signs": lambda text: "".join(c if c.isalnum() else f"\\u{ord(c):04x}" for c in text),
    "percent-all": lambda text: "".join(f"%{ord(c):02x}" for c in text),
    "json-slash-twice": lambda text: text.replace("/", "\\\\\\/"),
}


@pytest.mark.parametrize("spell", SPELLINGS.values(), ids=SPELLINGS)
@pytest.mark.parametrize("secret", SECRETS, ids=lambda secret: secret[:6])
def test_every_spelling_is_redacted(secret: str, spell: Callable[[str], str]) -> None:
    """Escaped in part or as a whole, or in another case: no half of it stays, and what stands around it does."""
    redactor = Redactor([secret, None, ""])
    spelt = spell(secret)
    shown = redactor.text(f"refused: <{spelt}> (see below)")
    assert shown.startswith("refused: <")
    assert shown.endswith("> (see below)")
    assert "[redacted]" in shown
    kept = shown.replace("[redacted]", "")
    assert spelt[len(spelt) // 3 : 2 * len(spelt) // 3] not in kept
    assert redactor.message(f"refused: {spelt}").startswith("refused: ")
    assert spelt[len(spelt) // 3 : 2 * len(spelt) // 3] not in redactor.body(spelt.encode()).decode()


@pytest.mark.parametrize("spell", SPELLINGS.values(), ids=SPELLINGS)
def test_a_json_value_stays_one(spell: Callable[[str], str]) -> None:
    """Texts and keys are cleaned after decoding, at any depth, and numbers and the rest stay as they are."""
    secret = SECRETS[1]
    spelt = spell(secret)
    value = {"a": [1, None, {"b": spelt, spelt: "x\n"}], "n": 12345678, "t": "line\nbroken \\u00e9"}
    text = dumps(value)
    cleaned = Redactor([secret]).json_text(text)
    assert loads(cleaned)["n"] == 12345678
    assert loads(cleaned)["t"] == value["t"]
    assert loads(cleaned)["a"][2] == {"b": "[redacted]", "[redacted]": "x\n"}
    assert loads(Redactor([secret]).text(text))["n"] == 12345678


def test_a_secret_of_digits_leaves_numbers_alone() -> None:
    """A key that is a long number is taken out of texts; a JSON number stays valid."""
    redactor = Redactor(["1700000017000000"])
    assert redactor.json({"created": 1700000017000000, "text": "key 1700000017000000"}) == {
        "created": 1700000017000000,
        "text": "key [redacted]",
    }


def test_a_message_that_was_cut_off_in_a_secret() -> None:
    """What is left of it goes too; an answer is left as it is, since half a key may be a word."""
    redactor = Redactor([SECRETS[3]])
    assert redactor.message(f"bad key {SECRETS[3][:10]}… given") == "bad key [redacted] given"
    assert redactor.text("sk-proj- is how keys begin") == "sk-proj- is how keys begin"


@pytest.mark.parametrize(
    "text",
    ["", "42", "50% of 25%", "a\\nb", '{"a": "b\\u00e9c \\/ %20"}', "The secret is out", "=3D &amp; &#65;", "x" * 9999],
)
def test_what_holds_no_secret_is_left_alone(text: str) -> None:
    """Text with escapes but without a secret is returned as it is; a word that is a placeholder keeps its case."""
    redactor = Redactor([*SECRETS, "secret-", "SECRET"])
    assert redactor.text(text) == text
    assert redactor.body(text.encode()) == text.encode()


@pytest.mark.parametrize("word", ["ollama", "anything", "123456"])
def test_a_placeholder_is_taken_out_of_messages_and_never_out_of_answers(word: str) -> None:
    """A local server takes any key; an answer that holds that word or number is scored as it was given."""
    redactor = Redactor([word])
    answer = dumps({"content": f"The answer is {word}."})
    assert redactor.text(answer) == answer
    assert redactor.body(answer.encode()) == answer.encode()
    assert redactor.json(loads(answer)) == loads(answer)
    assert redactor.message(f"bad key {word}") == "bad key [redacted]"


def test_urls_lose_credentials_and_query_values() -> None:
    """What could be a key in a URL is not shown, and its password is a secret."""
    assert redact_url("https://u:p@h:1/v1?key=abc&x=1") == "https://h:1/v1?key=[redacted]&x=[redacted]"
    assert secrets_in_url("http://user:p%40ss@h:1") == ("p@ss", "dXNlcjpwQHNz")
    assert secrets_in_url("http://token@h:1") == ("token", "dG9rZW46")
    assert secrets_in_url("http://h:1") == secrets_in_url(None) == secrets_in_url("http://[") == ()
