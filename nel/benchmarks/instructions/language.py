"""Which language a text is in, by the package langdetect.

The package draws random numbers, here from one seed: a text is always of the same language.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from nel.errors import MissingExtra


def is_language(text: str, language: str) -> bool:
    """Return whether a text is in the language of an ISO 639 code, as one without letters is.

    Raises:
        MissingExtra: The extra ``ifeval`` is not installed.
    """
    detector = _detector()
    try:
        return bool(detector.detect(text) == language)
    except detector.LangDetectException:  # no letters to go by; as in the authors' program
        return True


@cache
def _detector() -> Any:
    try:
        import langdetect  # noqa: PLC0415 - optional
    except ImportError as error:
        raise MissingExtra(
            "IFEval needs langdetect; install it with: pip install langdetect"
        ) from error
    langdetect.DetectorFactory.seed = 0
    return langdetect
