"""A scorer with partial credit: the share of keywords that the response mentions."""

from nel import ScorerInput, scorer


@scorer(example=ScorerInput(response="Red and blue.", target="red, blue"))
def keywords(sample: ScorerInput) -> dict[str, object]:
    """Share of the comma-separated keywords of the target that the response mentions."""
    words = [word.strip().lower() for word in str(sample.target).split(",") if word.strip()]
    matches = [word for word in words if word in sample.response.lower()]
    return {
        "score": len(matches) / len(words) if words else 0.0,
        "extracted": ", ".join(matches) or None,
    }
