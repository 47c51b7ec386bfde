"""What a language contributes to the grammar: sentences with a place for an answer.

In all texts ``§`` is the place of the answer that counts and ``¤`` that of another one.
"""

from __future__ import annotations

from dataclasses import dataclass

Texts = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Words:
    """The fragments of one language; each works for letters, numbers, names, labels and expressions alike."""

    sentences: Texts
    """Declarations that are sentences."""
    lines: Texts
    """Declarations that are a line or a section of their own."""
    letters: Texts
    """Sentences that choose an option; ``§`` is a bare letter."""
    yes: Texts
    """Sentences that open with a yes."""
    no: Texts
    """Sentences that open with a no."""
    said: tuple[str, str]
    """The words for yes and no."""
    fillers: Texts
    """Sentences of reasoning that say nothing of an answer."""
    corrections: Texts
    """Sentences between a declared answer and the one that replaces it."""
    corrected: Texts
    """Declarations after a correction."""
    quoted: Texts
    """Sentences that mention a wrong answer as that of other people, and reject it."""
    rejected: Texts
    """Remarks after an answer that mention a wrong one."""
    questioned: Texts
    """A wrong answer as a question, with its denial."""
    counterfactual: Texts
    """Remarks after an answer: what it would be in another case."""
    closings: Texts
    """Polite endings, notes and statements of confidence."""
    refusals: Texts
    """Refusals that name no answer, and a few that name two."""
    undecided: Texts
    """Sentences that leave the choice between two answers open."""
    conditional: Texts
    """Sentences that make the answer depend on something."""
    denied: Texts
    """Denials of an answer without another one."""
    cut: Texts
    """Ends of texts that were cut off before the answer."""
    markers: tuple[tuple[str, str], ...]
    """Pairs of markers of a question and its answer, as prompts of base models have them."""
