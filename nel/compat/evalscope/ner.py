"""EvalScope's adapter of named entities: tags in the text become labels of its tokens, and the
numbers are seqeval's.

Source of the prompt and of how tags are read: EvalScope, Apache-2.0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from nel.compat.evalscope.adapters import DefaultDataAdapter
from nel.compat.evalscope.samples import AggScore, Sample, SampleScore, Score, TaskState
from nel.scoring.tokens import f1_of

__all__ = [
    "FEWSHOT_TEMPLATE",
    "PROMPT_TEMPLATE",
    "NERAdapter",
    "clean_prediction",
    "create_target_text",
    "extract_entities_from_text",
    "xml_to_bio_tags",
]

PROMPT_TEMPLATE: Final = """\
You are a named entity recognition system that identifies the following entity types:
{entities}

Process the provided text and mark all named entities with XML-style tags.

For example:
<person>John Smith</person> works at <organization>Google</organization> in <location>Mountain View</location>.

Available entity tags: {entity_list}

INSTRUCTIONS:
1. Wrap your entire response in <response>...</response> tags.
2. Inside these tags, include the original text with entity tags inserted.
3. Do not change the original text in any way (preserve spacing, punctuation, case, etc.).
4. Tag ALL entities you can identify using the exact tag names provided.
5. Do not include explanations, just the tagged text.
6. If entity spans overlap, choose the most specific entity type.
7. Ensure every opening tag has a matching closing tag.

Text to process:
{text}
"""
FEWSHOT_TEMPLATE: Final = (
    "Here are some examples of named entity recognition:\n\n{fewshot}\n\n" + PROMPT_TEMPLATE
)
# ``<person>Ann</name>``, whose tags do not match.
_TAGGED: Final = re.compile(r"<(\w+)>(.*?)</\w+>")
_CONTEXT: Final = 20
"""Characters on each side of an entity that tell which of several equal texts it is."""
_TAG: Final = re.compile(r"<[^>]+>")
_OUTSIDE: Final = "O"
"""The label of a token that belongs to no entity."""
_METRICS: Final = ("precision", "recall", "f1", "accuracy")


def create_target_text(
    tokens: Sequence[str], ner_tags: Sequence[str], entity_type_map: Mapping[str, str]
) -> str:
    """Return the text with its entities in tags.

    >>> create_target_text(["Ann", "Lee", "left"], ["B-PER", "I-PER", "O"], {"PER": "person"})
    '<response><person>Ann Lee</person> left</response>'
    """
    words: list[str] = []
    entity: list[str] = []
    kind = ""
    # The empty pair at the end closes an entity that the text ends in.
    for token, tag in [*zip(tokens, ner_tags, strict=False), ("", "")]:
        if entity and tag.startswith("I-") and tag[2:] == kind:
            entity.append(token)
            continue
        if entity:
            name = entity_type_map.get(kind, "").lower()
            text = " ".join(entity)
            words.append(f"<{name}>{text}</{name}>" if name else text)
            entity = []
        if tag.startswith("B-"):
            kind, entity = tag[2:], [token]
        elif tag:
            words.append(token)
    return f"<response>{' '.join(words)}</response>"


def clean_prediction(text: str) -> str:
    """Return what stands in ``<response>``, closing tags made those of their opening ones."""
    response = re.search(r"<response>(.*?)</response>", text, re.DOTALL)
    return _TAGGED.sub(r"<\1>\2</\1>", response[1] if response else text)


def extract_entities_from_text(
    text: str, reverse_entity_map: Mapping[str, str]
) -> list[tuple[str, str, int, int]]:
    """Return kind, text, start and end of each entity; of unclosed tags only those of known
    kinds.
    """
    entities = []
    for match in re.finditer(r"<(\w+)>(.*?)</\1>", text):
        name = match[1].lower()
        entities.append(
            (reverse_entity_map.get(name) or name, match[2], match.start(), match.end())
        )
    for match in re.finditer(r"<(\w+)>(.*?)(?=<|$)", text):
        kind = reverse_entity_map.get(match[1].lower())
        is_inside = any(start <= match.start() < end for _, _, start, end in entities)
        if kind and not is_inside:
            entities.append((kind, match[2], match.start(), match.end()))
    return entities


def xml_to_bio_tags(
    xml_text: str, original_tokens: Sequence[str], reverse_entity_map: Mapping[str, str]
) -> list[str]:
    """Return a label for each token of the original text; entities that follow each other are two.

    >>> tokens, names = ["Ann", "Lee", "left", "Rome"], {"person": "PER", "place": "LOC"}
    >>> xml_to_bio_tags("<person>Ann Lee</person> <person>left</person> Rome", tokens, names)
    ['B-PER', 'I-PER', 'B-PER', 'O']
    """
    labels = [_OUTSIDE] * len(original_tokens)
    text = " ".join(original_tokens)
    spans, position = [], 0
    for token in original_tokens:
        start = text.find(token, position)
        position = start + len(token)
        spans.append((start, position))
    is_unchanged = _TAG.sub("", xml_text) == text
    for kind, entity, start, end in extract_entities_from_text(xml_text, reverse_entity_map):
        if is_unchanged and not _TAG.search(entity):
            entity_start = len(_TAG.sub("", xml_text[:start]))
        else:
            # In a text that the model changed, what stands around an entity tells its place.
            before = _TAG.sub("", xml_text[max(0, start - _CONTEXT) : start])
            after = _TAG.sub("", xml_text[end : end + _CONTEXT])
            entity_start = _position_of(entity, text, before, after)
        if entity_start < 0:
            continue
        entity_end = entity_start + len(entity)
        # The first token within it begins the entity; one that has a label already keeps it.
        tag = "B"
        for index, (token_start, token_end) in enumerate(spans):
            if token_start < entity_end and token_end > entity_start:
                if labels[index] == _OUTSIDE:
                    labels[index] = f"{tag}-{kind}"
                tag = "I"
    return labels


def _position_of(entity: str, text: str, before: str, after: str) -> int:
    """Return where an entity stands: where its context does, else the first place of its text.

    As in EvalScope, the text before it or the text after it is enough, and in the second half of
    the text no context is needed.
    """
    search = 0
    while search < len(text):
        start = text.find(entity, search)
        if start < 0:
            break
        end = start + len(entity)
        has_context = (
            before.strip() in text[max(0, start - len(before)) : start].strip()
            or after.strip() in text[end : end + len(after)].strip()
        )
        if has_context or search > len(text) // 2:
            return start
        search = start + 1
    return text.find(entity)


def _chunks(labels: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """Yield kind, first and last place of each entity, as seqeval reads labels.

    A tag says that its token begins an entity (B), goes on with it (I), ends it (E), is one by
    itself (S) or belongs to none (O). An entity that its tags leave open ends where the next one
    begins, and one that no B begins is one all the same.
    """
    previous, previous_kind, begin = _OUTSIDE, "", 0
    for index, label in enumerate([*labels, _OUTSIDE]):
        # "B-PER" has the kind PER, and a bare "B" the kind "_", as in seqeval.
        tag, kind = label[0], label[1:].split("-", maxsplit=1)[-1] or "_"
        changes = kind != previous_kind
        ends = previous in "ES" or (previous in "BI" and tag in "BSO")
        if ends or (previous not in "O." and changes):
            yield previous_kind, begin, index - 1
        if tag in "BS" or (previous in "ESO" and tag in "EI") or (tag not in "O." and changes):
            begin = index
        previous, previous_kind = tag, kind


def _scores(
    golds: Sequence[Sequence[str]], predictions: Sequence[Sequence[str]]
) -> dict[str, float]:
    """Return precision, recall and F1 over all entities, and the share of right labels."""
    gold_labels: list[str] = []
    predicted_labels: list[str] = []
    n_right_labels = 0
    for labels, prediction in zip(golds, predictions, strict=True):
        pairs = zip(labels, prediction, strict=True)
        n_right_labels += sum(label == predicted for label, predicted in pairs)
        # A label of no entity between two texts, so that none goes on from one to the next.
        gold_labels += [*labels, _OUTSIDE]
        predicted_labels += [*prediction, _OUTSIDE]
    n_labels = len(gold_labels) - len(golds)
    gold, entities = set(_chunks(gold_labels)), set(_chunks(predicted_labels))
    n_right = len(gold & entities)
    return {
        "precision": n_right / len(entities) if entities else 0.0,
        "recall": n_right / len(gold) if gold else 0.0,
        "f1": f1_of(n_right, len(entities), len(gold)),
        "accuracy": n_right_labels / n_labels,
    }


class NERAdapter(DefaultDataAdapter):
    """The adapter of named entities, which the model marks with tags in the text."""

    def __init__(self, **options: Any) -> None:
        """Take what `DefaultDataAdapter` takes."""
        super().__init__(**options)
        self.entity_type_map: dict[str, str] = {}
        self.entity_descriptions: dict[str, str] = {}
        self.reverse_entity_map: dict[str, str] = {}
        self.entity_list: list[str] = []
        self.entities_description = ""

    def setup_entity_mappings(self) -> None:
        """Make what the prompt says of kinds, of their names and descriptions."""
        names = self.entity_type_map
        self.reverse_entity_map = {name.lower(): kind for kind, name in names.items()}
        self.entity_list = [f"<{name.lower()}>" for name in names.values()]
        self.entities_description = ", ".join(
            f"{name} ({self.entity_descriptions[kind]})" for kind, name in names.items()
        )

    def record_to_sample(self, record: dict[str, Any]) -> Sample | list[Sample]:
        """Return the text, its tagged form, and its tokens with their labels."""
        tokens, labels = record["tokens"], record["ner_tags"]
        return Sample(
            input=" ".join(tokens),
            target=create_target_text(tokens, labels, self.entity_type_map),
            metadata={"tokens": tokens, "ner_tags": labels},
        )

    def _instruction(self, template: str | None, sample: Sample, **more: str) -> str:
        return str(template).format(
            entities=self.entities_description,
            entity_list=", ".join(self.entity_list),
            text=sample.input,
            **more,
        )

    def format_prompt_template(self, sample: Sample) -> str:
        """Return the prompt of a sample without examples."""
        return self._instruction(self.prompt_template, sample)

    def format_fewshot_template(self, fewshot: str, sample: Sample) -> str:
        """Return the prompt of a sample with its examples."""
        return self._instruction(self.few_shot_prompt_template, sample, fewshot=fewshot)

    def sample_to_fewshot(self, sample: Sample) -> str:
        """Return a text and its tagged form."""
        return f"Input:\n{sample.input}\n\nOutput:\n{sample.target}" if sample.metadata else ""

    def match_score(
        self,
        original_prediction: str,
        filtered_prediction: str,
        reference: str,
        task_state: TaskState,
    ) -> Score:
        """Return the numbers of one text, all 0 where its tokens have no labels of their own."""
        score = Score(
            value=dict.fromkeys(_METRICS, 0.0),
            extracted_prediction=filtered_prediction,
            prediction=original_prediction,
        )
        tokens: Any = task_state.metadata["tokens"]
        golds: Any = task_state.metadata["ner_tags"]
        if tokens and len(tokens) == len(golds):
            content = clean_prediction(filtered_prediction)
            labels = xml_to_bio_tags(content, tokens, self.reverse_entity_map)
            score.value = _scores([golds], [labels])
            score.metadata = {"y_true": golds, "y_pred": labels}
        return score

    def aggregate_scores(self, sample_scores: Sequence[SampleScore]) -> list[AggScore]:
        """Return the numbers over all entities of all texts."""
        golds, predictions = [], []
        for sample in sample_scores:
            details = sample.score.metadata or {}
            if "y_true" in details:
                golds.append(details["y_true"])
                predictions.append(details["y_pred"])
        value = _scores(golds, predictions) if golds else dict.fromkeys(_METRICS, 0.0)
        count = len(sample_scores)
        return [AggScore(metric_name=name, score=value[name], num=count) for name in _METRICS]
