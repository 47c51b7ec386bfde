"""What is read as the label of a response."""

from __future__ import annotations

import pytest

from nel.scoring.reading.categories import read_category

SENTIMENT = ("positive", "negative", "neutral")
SPAM = ("spam", "not spam")
INTENT = ("card_lost", "close_account")


@pytest.mark.parametrize(
    ("response", "labels", "label"),
    [
        ("Negative", SENTIMENT, "negative"),
        ("**Label:** negative\n\nThe tone is not positive.", SENTIMENT, "negative"),
        ("I would classify this review as negative, since nothing is praised.", SENTIMENT, "negative"),
        ("It is neutral rather than positive.", SENTIMENT, "neutral"),
        ("Not positive, but neutral.", SENTIMENT, "neutral"),
        ("It starts off as positive but ends up as negative, so the final label is negative.", SENTIMENT, "negative"),
        ("The sentiment is positive. Wait, that's not right. It is negative.", SENTIMENT, "negative"),
        ('{"label": "negative", "confidence": 0.9}', SENTIMENT, "negative"),
        ("- positive: 0.1\n- negative: 0.8\n- neutral: 0.1\n\nSo the label is negative.", SENTIMENT, "negative"),
        ("Label: not spam", SPAM, "not spam"),
        ("This is a positive review.", SENTIMENT, "positive"),
        ("A positive review!", SENTIMENT, "positive"),
        ("Neither positive nor negative, so neutral.", SENTIMENT, "neutral"),
        ("It's hard to say, but I lean towards neutral.", SENTIMENT, "neutral"),
        ("The tweet is neutral in tone, neither positive or negative.", SENTIMENT, "neutral"),
        ("This article belongs to the World category.", ("World", "Sci/Tech"), "World"),
        ("Sci / Tech", ("World", "Sci/Tech"), "Sci/Tech"),
        ("This is spam.", SPAM, "spam"),
        (r"\boxed{\text{card\_lost}}", INTENT, "card_lost"),
        ("The intent is card lost.", INTENT, "card_lost"),
        ("Die Stimmung ist positiv, nicht negativ.", ("positiv", "negativ"), "positiv"),
        ("这条评论的情感是负面。", ("正面", "负面"), "负面"),
    ],
)
def test_what_is_given(response: str, labels: tuple[str, ...], label: str) -> None:
    """A declared or asserted label, the longer one where one is a part of another."""
    assert read_category(response, labels).value == label


@pytest.mark.parametrize(
    ("response", "labels"),
    [
        ("", SENTIMENT),
        ("The possible labels are: positive, negative, neutral", SENTIMENT),
        ("- positive\n- negative\n- neutral", SENTIMENT),
        ("Label: positive or negative", SENTIMENT),
        ("Label: positive/negative", SENTIMENT),
        ("It could be positive.", SENTIMENT),
        ("It is not positive.", SENTIMENT),
        ('{"label": "not positive"}', SENTIMENT),
        ("I can't decide between positive and negative.", SENTIMENT),
        ("Others would say that it is positive.", SENTIMENT),
        ("The sentiment is positive. Wait, that's wrong. I don't know.", SENTIMENT),
        ("Label: happy", SENTIMENT),
        ("positively charged", SENTIMENT),
        ("spam", ()),
    ],
)
def test_what_gives_none(response: str, labels: tuple[str, ...]) -> None:
    """Denied, supposed, quoted, several, taken back, or no permitted label."""
    assert read_category(response, labels).value is None


def test_capitals_count_where_labels_differ_in_nothing_else() -> None:
    """Else they do not."""
    assert read_category("Label: US", ("us", "US")).value == "US"
    assert read_category("Label: POSITIVE", SENTIMENT).value == "positive"


@pytest.mark.parametrize(
    ("response", "label"),
    [
        ("This review is very positive.", "positive"),
        ("The overall sentiment of this review is overwhelmingly positive.", "positive"),
        ("The review expresses a positive sentiment.", "positive"),
        ("Overall, the sentiment is positive, although the acting is negative.", "positive"),
        ("Although the acting is negative, the sentiment is positive.", "positive"),
        ("It is hardly positive.", None),
        ("It has a positive and a negative sentiment.", None),
    ],
)
def test_labels_with_what_stands_around_them(response: str, label: str | None) -> None:
    """Adverbs, articles and nouns beside a label change nothing; what is conceded after it is not the label."""
    assert read_category(response, ("positive", "negative", "neutral")).value == label


@pytest.mark.parametrize(
    ("response", "labels", "label"),
    [
        ("This isn't toxic.", ("toxic", "not toxic"), "not toxic"),
        ("The comment isn't toxic at all.", ("toxic", "non-toxic"), None),
        ("I don't think this is toxic.", ("toxic", "not toxic"), "not toxic"),
        ("I don't think this is toxic.", ("toxic", "civil"), None),
        ("I don't think this is toxic, it's civil.", ("toxic", "civil"), "civil"),
        ("I would not call it spam, but ham.", ("spam", "ham"), "ham"),
        ("Positive. Wait, it's sarcastic, so negative.", ("positive", "negative"), "negative"),
        ("The claim is supported by the evidence.", ("supported", "refuted"), "supported"),
        ("I don't think anyone would disagree that this is toxic.", ("toxic", "not toxic"), None),
        ("I don't say this lightly, but this is toxic.", ("toxic", "not toxic"), "toxic"),
        ('I did not find the word "positive"; the tone is negative.', ("positive", "negative"), "negative"),
    ],
)
def test_labels_that_are_denied_or_taken_back(response: str, labels: tuple[str, ...], label: str | None) -> None:
    """A denial gives the opposite label where it is permitted, and else none."""
    assert read_category(response, labels).value == label
