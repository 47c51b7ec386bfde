"""Collectors of warnings in one pass over the results.

They notice unknown finish reasons, cuts that a server does not report, repeats that are copies, and
notes of scorers.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from nel.core.finish_reasons import Ending
from nel.types import Outcome, Response, Scored, Unscored

_REASONS_MAX: Final = 8
"""Distinct unknown finish reasons that are named."""
_CHARACTERS_MAX: Final = 60
_WINDOW_MIN: Final = 1_024
"""Tokens; Ollama cuts a prompt to its window, a power of two, and does not report it."""
_FULL_PROMPTS_MIN: Final = 2
_MISSING_PACKAGE: Final = re.compile(r"\bNo module named '(?P<name>[A-Za-z]\w*)")
"""Python's own message: "No module named 'sklearn.svm'" lacks the package sklearn."""


class ScorerNotes:
    """Counts the notes of scorers in the details of outcomes."""

    def __init__(self) -> None:
        self.shared_passes = 0
        """Passes in a mode in which a program can forge its verdict."""
        self.missing_packages: Counter[str] = Counter()
        """Programs and tests that need a package which their image lacks, by its name."""
        self.ran_on = 0
        """Answers that continue with a question of the model's own."""
        self.in_other_form = 0
        """Answers without the form that the prompt asks for."""

    def add(self, outcome: Outcome) -> None:
        """Add one outcome."""
        details = outcome.details
        text = outcome.detail if isinstance(outcome, Unscored) else (details or {}).get("detail")
        if text:
            package_match = _MISSING_PACKAGE.search(str(text))
            if package_match:
                self.missing_packages[package_match["name"]] += 1
        if not details:
            return
        if details.get("mode") in ("equality", "shared") and details.get("verdict") == "passed":
            self.shared_passes += isinstance(outcome, Scored)
        if details.get("ran_on") is True:
            self.ran_on += 1
        if details.get("in_asked_form") is False:
            self.in_other_form += 1

    def warnings(self) -> list[tuple[str, str]]:
        """Return the kind and the text of each warning."""
        notes = (
            (
                self.shared_passes,
                "verdicts",
                ("pass is", "passes are"),
                (
                    "not proof against a program that attacks its tests, which share its process or"
                    " ask its objects whether they are equal; --strict-verdicts leaves such"
                    " verdicts unscored"
                ),
            ),
            (
                self.ran_on,
                "ran_on",
                ("answer goes", "answers go"),
                (
                    "on with a question of the model's own, which is not read; --stop ends answers"
                    " before it"
                ),
            ),
            (
                self.in_other_form,
                "other_form",
                ("answer is", "answers are"),
                "not in the form that the prompt asks for; --strict-form reads no other",
            ),
        )
        lines = [
            (kind, f"{count:,} {verbs[count != 1]} {text}")
            for count, kind, verbs, text in notes
            if count
        ]
        for name, count in self.missing_packages.most_common(_REASONS_MAX):
            verb = "program needs" if count == 1 else "programs need"
            text = f"the package {name}, which the image lacks; see nel sandbox build --packages"
            lines.append(("missing_packages", f"{count:,} {verb} {text}"))
        return lines


class UnknownEndings:
    """Counts the finish reasons whose meaning is not known."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def add(self, response: Response, ending: Ending) -> None:
        """Add one answer, and the meaning of its finish reason."""
        if ending == "unknown":
            name = (response.finish_reason or "")[:_CHARACTERS_MAX]
            has_room = name in self._counts or len(self._counts) < _REASONS_MAX
            self._counts[name if has_room else "others"] += 1

    def warnings(self) -> list[str]:
        """Return a warning for each unknown reason, most frequent first."""
        warnings = []
        for name, count in sorted(self._counts.items(), key=lambda item: (-item[1], item[0])):
            answers, verb, them = "answers", "count", "them"
            if count == 1:
                answers, verb, them = "answer", "counts", "it"
            warnings.append(
                f'{count:,} {answers} ended with the unknown finish reason "{name}" and {verb} as'
                f" complete; look at {them} in results.jsonl"
            )
        return warnings


class SilentCuts:
    """Counts answers and prompts that a server cuts without a finish reason that says so."""

    def __init__(self, tokens_max: int | None) -> None:
        self._tokens_max = tokens_max
        self._at_limit = 0
        self._only_reasoning = 0
        self._full_prompts: Counter[int] = Counter()
        """Prompts with exactly as many tokens as a usual context window, by that size."""

    def add(self, response: Response, ending: Ending) -> None:
        """Add one answer, and the meaning of its finish reason."""
        if response.episode is not None:  # its usage is the sum over all steps
            return
        is_complete = ending == "complete"
        n_tokens = response.usage.completion_tokens
        if self._tokens_max is not None and is_complete and n_tokens is not None:
            self._at_limit += n_tokens >= self._tokens_max
        if is_complete and response.reasoning:
            self._only_reasoning += not response.text.strip() and not response.tool_calls
        prompt = response.usage.prompt_tokens or 0
        if prompt >= _WINDOW_MIN and prompt.bit_count() == 1:  # a power of two
            self._full_prompts[prompt] += 1

    def warnings(self) -> list[tuple[str, str]]:
        """Return the kind and the text of each warning."""
        notes = []
        if self._at_limit:
            text = "used all tokens of --max-tokens and say that they are complete; raise it"
            notes.append(("token_limit", f"{self._at_limit:,} of the answers {text}"))
        if self._only_reasoning:
            text = "complete and have reasoning alone; the server may take answers for reasoning"
            notes.append(("only_reasoning", f"{self._only_reasoning:,} of the answers are {text}"))
        for tokens, count in sorted(self._full_prompts.items()):
            if count >= _FULL_PROMPTS_MIN:
                text = f"have exactly {tokens:,} tokens; the server may cut longer ones in silence"
                notes.append(("cut_prompt", f"{count:,} of the prompts {text}"))
        return notes


class Copies:
    """Counts questions whose repeats all have the same text, as those of a deterministic model."""

    def __init__(self) -> None:
        self.n = 0
        """Questions with at least two answers."""
        self.n_equal = 0
        """Those of which all answers are the same text."""
        self._question = -1
        self._text = ""
        self._is_equal = True
        self._n_answers = 0

    def add(self, question: int, response: Response) -> None:
        """Add one answer; the repeats of a question are added consecutively."""
        if question != self._question:
            self._question, self._text = question, response.text
            self._n_answers, self._is_equal = 1, True
            return
        self._n_answers += 1
        is_equal = self._is_equal and response.text == self._text
        # Counted at the second answer, and taken back at the first that differs later.
        if self._n_answers == 2:  # noqa: PLR2004
            self.n += 1
            self.n_equal += is_equal
        elif self._is_equal and not is_equal:
            self.n_equal -= 1
        self._is_equal = is_equal
