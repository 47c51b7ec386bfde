"""Secrets stay out of texts, and come only from the environment."""

from __future__ import annotations

import base64

import pytest

from nel.config.redaction import read_secret, redact, redact_url
from nel.errors import ConfigError

SECRET = "sk-a/secret+key"


@pytest.mark.parametrize("spelling", [SECRET, "sk-a%2Fsecret%2Bkey", base64.b64encode(SECRET.encode()).decode()])
def test_every_spelling_is_redacted(spelling: str) -> None:
    """Raw, percent-encoded and base64."""
    assert redact(f"refused: {spelling}!", SECRET) == "refused: [redacted]!"


def test_urls_lose_credentials_and_query_values() -> None:
    """What could be a key in a URL is not shown."""
    assert redact_url("https://u:p@h:1/v1?key=abc&x=1") == "https://h:1/v1?key=[redacted]&x=[redacted]"


def test_a_key_that_no_header_can_carry(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line break inside a key is found before it breaks a header, and the key is not shown."""
    monkeypatch.setenv("NEL_TEST_KEY", "abc\ndef")
    with pytest.raises(ConfigError, match="no HTTP header can carry") as caught:
        read_secret("NEL_TEST_KEY")
    assert "abc" not in str(caught.value)
