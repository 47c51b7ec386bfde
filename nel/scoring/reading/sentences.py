"""The label that the last sentence asserts, in a response that declares none.

Depends on `nel.scoring.reading.status` for what speaks against a label.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

from nel.core.lazy_regex import lazy_pattern
from nel.scoring.reading import phrases, status
from nel.scoring.reading.label_runs import Found, is_word
from nel.scoring.reading.option_texts import OptionTexts
from nel.scoring.reading.result import Reading

_CUE = r"""
    (?: option | choice | answer | letter | statement | alternative | antwort | antwortmöglichkeit | buchstabe
    | réponse | lettre
      | opción | respuesta | letra | opzione | risposta | lettera | opção | resposta | alternativa | вариант\w*
      | ответ | букв\w+
      | 选项 | 選項 | 选择 | 答案 | 답은 | 정답은 | 選択肢 | 正解 | 选 | 選 | 答えは | الخيار | الإجابة | الحرف )
"""
_APT = r"(?:likely|probabl[ey]|accurate|appropriate|plausible|consistent|suitable|correct|reasonable|valid|viable|true)"
_MENTIONED = lazy_pattern(
    rf"""
      [(\[{{（【] \s* (?:[Oo]ption\s+)? (?P<bracketed>[A-Z]) \s* [)\]}}）】]
    | \*\*? \(? (?P<bold>[A-Z]) [).:]{{0,2}} (?: \*\*? | \s+[^*\n]{{1,120}}\*\* )
    | ["“'‘`「『„$] \(? (?P<quoted>[A-Z]) [).:]? ["”'’`」』“$]
    | \\[(\[] \s* \(? (?P<inline>[A-Z]) \)? \s* \\[)\]]
    | \\(?:text|textbf|mathrm|mathbf|boxed)\s?\{{ \(? (?P<latex>[A-Z]) \)? \}}
    | (?i: (?<![a-z]) (?:option|choice|answer|alternative|statement) ) \s+ \( (?P<small>[a-z]) \)
    | (?i: (?<![A-Za-zÀ-ɏЀ-ӿ]) {_CUE} ) s? [\s:：*_]*+ (?:[Nn]o\.?\s)? \(? (?P<named>[A-Z])
      (?![A-Za-z0-9_À-ɏЀ-ӿ'’+\#\u0300-\u036f]|-\w|\s?=\s?[-−$\\]?\d)
    | (?<![A-Za-z0-9À-ɏЀ-ӿ°'’.+\#/-])(?<!\d[ ])(?<!\d[ ][ ]) (?P<opening>[A-Z]) (?: [):：] (?=\s*\S) (?!\w)
    | [.] (?=\s+[^\Wa-z]|\s+[^\w\s]|\s*\n) | (?=\s\() | (?=\s[—–-]\s) ) (?!\s*[A-Z]\.)
    | (?<![A-Za-z0-9À-ɏЀ-ӿ°'’.+\#/-])(?<!\d[ ])(?<!\d[ ][ ]) (?P<right>[A-Z]) (?=
          \s*[✅✓✔☑] | \s+(?:it\s+)?is[.!](?:\s|\Z) | \s+(?:heißen|lauten|sein)\b | \s+(?:the|my)\s+(?:final\s+)?answer
          | \s+makes\s+the\s+most\s+sense\b | \s+(?:remains|fits|works|stands|matches|applies|satisfies)\b
          | \s*[)\]}}*_$"”]*\s+as\s+(?:the|my|our)\s+(?:final\s+)?(?:answer|choice)
        | \s+(?:wählen|nehmen|ankreuzen|in\s+Frage)\b
        | \s+(?:seems|appears|looks)\s+(?:to\s+be\s+)?(?:the\s+)?(?:best\b|(?:correct|right)\b(?!,)
        |(?:most|more)\s+{_APT})
        | \s+(?:is|was|(?:must|should|would|has\s+to)\s+be)\s+(?:clearly\s+|therefore\s+|thus\s+)?(?:the\s+|my\s+
        |our\s+)?(?:final\s+)?(?:right|correct|best(?!\s+known)|answer|one\b(?!\s+of)|choice|likel(?:y|ier|iest)
        |(?:most|more)\s+{_APT}|remaining\b|only\s+(?:one|option|choice|answer|statement|{_APT}|remaining|that|which))
        | \s+(?:ist\s+)?(?:die\s+)?(?:richtig|korrekt) | \s+ist\s+die\s+Antwort | \s+est\s+(?:la\s+)?(?:bonne
        |correct|réponse|exact) | \s+es\s+(?:la\s+)?(?:opción\s+)?(?:correct|respuesta)
        | \s+è\s+(?:la\s+|quella\s+)?(?:risposta|corrett|giust|opzione) | \s+é\s+(?:a\s+)?(?:corret|resposta
        |opção\s+corr|alternativa\s+corr) | \s+[—-]\s+(?:верн|правильн)
        | \s+(?:верен|верно|правильн) | \s*(?:选项|選項)?\s*(?:是|が|は)?\s*正[确確解し]
        | (?:가|이)\s*(?:정답|맞|옳) | を選 | \s+هي?\s+(?:الإجابة|الصحيح) )
    | \b I (?: ['’](?:d|ll|m) | \s+(?:would|will|am) )? \s+ (?:go(?:ing)?\s+with|choose|pick|select) \s+
      (?:[Oo]ption\s+)? \(? (?P<chosen>[A-Z]) (?= \)? \s+ (?:here|for|as|because|since|over|this)\b )
    | \b[Oo]nly \s+ (?P<only>[A-Z])
      (?=\s+(?:is|was|has|can|does|fits|matches|satisf\w+|works|gives|agrees|makes|remains)\b)
    | (?<![A-Za-z0-9À-ɏЀ-ӿ°'’.+\#/-])(?<!\d[ ])(?<!\d[ ][ ]) (?P<last>[A-Z])
      (?= [)\]*_"”'’`$ ]*+ (?: [，。！；、] | (?!\.\s+[a-z]) (?!\.\s*[A-Z]\.) [.!,;:] [)\]*_"”'’`]* (?:\s|\Z)
      | \s*(?:\n|\Z) | 。 | です | だ | 입니다 | 이다 | 예요 ) )
    """,
    re.VERBOSE,
)
"""A label that is set off, named by a word before it, or at the end of its sentence."""
_LOOSE = lazy_pattern(r"(?<![A-Za-z0-9À-ɏЀ-ӿ°'’.+#/-])[A-Z](?![A-Za-z0-9À-ɏ'’+#-])")
"""A capital that may be a label, to see whether a sentence names several."""
_SMALL = lazy_pattern(r"[(（\[]([a-z])[)）\]]")
_JOINS = lazy_pattern(r"[^\S\n]+(?:and|or|nor|und|oder|noch|et|ou|y|e|o|и|или)\b")
_JOINS_LABEL = lazy_pattern(r"[)\]*_]*\s*(?:,\s*)?\b(?:and|or|nor|und|oder|noch|et|ou|y|e|o|и|или)\s+[(\[*_]*[A-Z]\b")
_EXAMINED = lazy_pattern(
    r"\b(?:look(?:ing)?\s+at|consider(?:ing)?|examin(?:e|ing)|check(?:ing)?|analy[sz](?:e|ing)|evaluat(?:e|ing)"
    r"|test(?:ing)?|assess(?:ing)?|verify(?:ing)?|(?:start|begin|compar|turn|mov)(?:e|n?ing)?\s+(?:with\s+|on\s+)?(?:to\s+)?)"
    r"\s*(?:the\s+)?(?:(?:first|second|third|next|last|remaining)\s+)?(?:option|choice|statement|answer)?\s*[(\[*_\"“]*\Z",
    re.IGNORECASE,
)
"""Right before a label that is looked at, not chosen."""
_REMAINS = lazy_pattern(
    r"(?:,\s*(?:and\s+)?(?:hence|therefore|thus|so)(?:,?\s+it(?:['’]s|\s+is|\s+must\s+be))?"
    r"|\b(?:left\s+with|leaves?(?:\s+us)?(?:\s+with)?|leaving)(?:\s+only)?"
    r"|\b(?:the\s+)?(?<!second\s)(?<!second-)(?<!next\s)(?<!next-)(?:best|only|right|correct)(?:\s+(?:one|option|choice|answer)){1,2}\s+is|\bthe\s+best\s+is)\s+(?:option\s+|choice\s+)?[(\[*_]*(?P<label>[A-Z])[)\]*_]*\s*[.!]?[*_]*\s*\Z",
    re.IGNORECASE,
)
"""A sentence that ends with the label that is left of several."""
_BARE: Final = frozenset({"opening", "right", "last"})
_WORDS: Final = frozenset({"opening", "last"})
"""Forms in which a label may be the article or the pronoun."""
_TYPESET: Final = frozenset({"bracketed", "latex", "quoted", "inline"})
_UNIT_BEFORE = lazy_pattern(
    r"\d(?:[^\S\n]|[~${]|\\[,;:! (]|\\(?:text(?:rm|normal)?|math(?:rm|it|sf)|rm|unit|operatorname)(?![A-Za-z]))+\Z"
)
"""A number before a letter that LaTeX sets as its unit: ``1.5\\,\\text{A}``."""
_WORD_BEFORE = lazy_pattern(r"([^\W\d_]+)[\s*_]+\Z")
_NAMED_BY_LETTER: Final = frozenset(
    "angle appendix block box case category chapter class column compound drug edge edges event events figure force "
    "grade graph group hepatitis line matrix molecule node nodes part phase plan platform point points product room "
    "row sample schedule section segment set side state step substance team test type u.s variable vertex vitamin "
    "vitamins alcohol allele atom complex detector element energy enzyme gas gene intermediate ion isomer ketone metal "
    "mixture mutant particle planet polymer protein reactant reagent species star strain system".split()
)
"""Nouns whose things are named by letters."""
_OPTION_WORDS: Final = frozenset(
    "answer alternative choice option are chose choose both between antwort auswahl alternativa choix bonne correcte "
    "correct entre either".split()
)
_WORD_CHARACTERS_MIN: Final = 4
"""Of a word that a letter in brackets after it may stand for."""
_LABEL_ENDS = lazy_pattern(r"(?<![A-Za-z0-9À-ɏЀ-ӿ])([A-Z])[)\]*_\"”`$]*[.][)\]*_\"”`$]*\Z")
_ADDED = lazy_pattern(r"[A-Z][)\]*_]*\s*(?:[+&/<>≻→⇒]|-+>)\s*[(\[*_]*\Z")
"""Another label and a mark that joins it to the one after: "A + D", "B > A"."""
_MADE = lazy_pattern(
    r"\b(?:gives?|giving|yields?|yielding|forms?|forming|affords?|produces?|producing|into|reacts?\s+with)\s+[(\[*_]*\Z",
    re.IGNORECASE,
)
"""Right before a letter that names what something is made into: "A reacts with B to give C"."""
_DESCRIBED = lazy_pattern(
    r"[\s*_>#-]*(?:(?:[Oo]ption|[Cc]hoice|[Ss]tatement)\s+[(\[*_]*|[(\[])(?P<label>[A-Z])[)\]*_:]*\s+(?=[a-z])"
)
"""The beginning of a sentence about an option: "Option B is sincere"."""
_JOINING: Final = frozenset("and or und oder et ou y e o и или".split())
_DANGLES = lazy_pattern(
    r"[,;:：，][\"*_\s]*\Z|(?:\A|\n)[\s*_#]*(?:final\s+)?answer[\s*_#]*\Z|\s(?:with|to|is|of|the|a|and|or|between|that|for|in|by|but|because|which|who|whose|from|as|if|than|will|would|should|has|had|may|might|its|their|an|und|zwischen|e|y|et)\Z|\{\Z"
)
_DANGLING_CHARACTERS: Final = 24
_CUT_OFF_CHARACTERS_MIN: Final = 400
_BOUNDARY = lazy_pattern(
    r"[.!?;。！？؟\n](?:(?<=[.!?])(?<!\b[A-Za-z][.!])(?<!\b[A-Z]\*[.!?])[.!?]*[\"”’)*_]*(?=\s)"
    r"|(?<=\w[ ][A-Z][.!?])(?=\s+(?:[A-Z][a-z]+['’]?[a-z]*\s+[a-z]|I(?:['’][a-z]+)?\s))|(?<=;)(?=\s)|(?<=[。！？؟\n]))"
)
_OPTION_LINE = lazy_pattern(
    r"[\s*_>|#✅❌✓✗✔✘-]{0,14}[(\[]?(?:[Oo]ption\s+)?[A-Z\d][*_]*(?:\s?[)\].:|]|\s\([^()\n]{1,120}\)[*_]*:)[*_]*\s"
)
_SAYS_RIGHT = lazy_pattern(
    r"\b(?:is|are)\s+(?:the\s+|my\s+)?(?:final\s+)?(?:correct|right|best|answer)|[✅✓✔☑]", re.IGNORECASE
)
_EXAMINED_CHARACTERS: Final = 60
_TURN = lazy_pattern(
    r"(?:[,;:–—]\s*)?\b(?:but|however|still|yet|aber|mais|pero|ma|mas|но)\b|但是?|が[、,]|けれど|でも|しかし|하지만|지만|لكن",
    re.IGNORECASE,
)
"""What a hedge goes on with where an answer follows: "I'm not sure, but I think B"."""
_STILL_OPEN = lazy_pattern(
    r"\b(?:might|may|could|can(?:no|['’])t|just\s+as|equally|also|too|either)\b(?!\s+be\s+wrong)", re.IGNORECASE
)
"""Words of a clause after a hedge that leaves the answer as open as before."""
_NAMED_AS = lazy_pattern(
    r"\s+(?:is|was|stands\s+as)\s+(?:the\s+)?(?:option|choice|answer\s+choice)\s+[(\[*_\"“]*\Z", re.IGNORECASE
)
_PREVIOUS_MAX: Final = 300
_ONLY_POSSIBLE = lazy_pattern(
    r"\s*(?:but\s+)?(?:(?:it|that|the\s+answer)\s+(?:could|might|may)\b|maybe\b|perhaps\b|possibly\b)", re.IGNORECASE
)
_LABEL_LIST = lazy_pattern(
    r"[A-Z][)\]*_]*(?:\s?(?:,\s?(?:(?:and|or)\s)?|(?:and|or|&)\s)[(\[*_]*[A-Z][)\]*_]*(?![\w'’])){1,20}"
)
_ARE_RIGHT = lazy_pattern(
    r"[)\]*_]*\s+(?:are|would\s+be)\s+(?:(?:all|both)\s+)?(?:right|correct|true)\b", re.IGNORECASE
)
_ITEM = lazy_pattern(r"\s*(?:[-*•]|\d{1,2}[.)])\s")
_CONTRASTED_SENTENCES_MAX: Final = 3
"""Sentences of a response whose last one may contrast its answer with another option; the last of more concludes."""
_VERDICT_MARK = re.compile("[✅✓✔❌✗✘]")
_AROUND_SUBJECT: Final = " \t\r\n*_\"'“”‘’`#>-•"
_ARTICLES: Final = frozenset({"", "the", "a", "an"})
_MENTIONS_MAX: Final = 20
"""A sentence that names labels more often than that decides for none."""
_HEAD_CHARACTERS: Final = 4_000
_TAIL_CHARACTERS: Final = 16_000
"""Characters at the beginning and at the end of a long response that are split into sentences."""
_FIRST_SENTENCES: Final = 2
_LAST_SENTENCES: Final = 6
"""Sentences at the beginning and at the end of a response in which an undeclared answer is looked for."""


def concluded_label(
    text: str, labels: tuple[str, ...], texts: OptionTexts | None, reading: Reading, begin: int = 0
) -> Found | None:
    """Return the label of the last sentence that asserts one, or None where a later one decides for none.

    Sentences are looked at from the last to the first. One that only denies, supposes, asks or reports a label is
    passed over; one that offers two, or says that there is no answer, ends the search. The lines of a list of options
    do not count, but for one that says that it is right. An empty label: the response decides for none.
    """
    sentences = _ends_of(text, begin)
    if texts is not None:
        sentences = _with_option_texts(text, sentences, labels, texts)
    is_weighed = False
    listed = sum(_OPTION_LINE.match(text, start) is not None for start, _ in sentences)
    for start, end in reversed(sentences[:_FIRST_SENTENCES] + sentences[_FIRST_SENTENCES:][-_LAST_SENTENCES:]):
        if listed > 1 and _OPTION_LINE.match(text, start) and not _SAYS_RIGHT.search(text, start, end):
            continue
        start = _behind_hedge(text, start, end, labels, texts)  # noqa: PLW2901 - what is hedged before is not what the sentence says
        remaining = _REMAINS.search(text, start, end)
        if remaining is not None and remaining["label"] in labels:
            return remaining["label"], *remaining.span("label")
        mentions = mentions_in(text, start, end, labels, texts)
        if len(mentions) > _MENTIONS_MAX or (not mentions and _decides_for_none(text, start, end, labels)):
            return "", start, end
        if is_weighed and mentions and texts is not None and texts.is_mention(mentions[0]):
            return "", start, end  # the words of an option, before a sentence that weighs other options
        apart = [
            one
            for one in mentions
            if not (_is_listed_wrong(text, one, reading) or _is_name_of(text, begin, start, one, texts))
        ]
        found_here = asserted(text, apart, texts, reading)
        is_weighed = is_weighed or bool(mentions and not found_here)
        if len(found_here) > 1 or (found_here and _is_given_up(text, begin, start, end)):
            return "", start, end
        if found_here:
            found = next(iter(found_here.values()))
            several = (
                len(mentions) > 1
                or _JOINS_LABEL.match(text, found[2]) is not None
                or len(labels_named(text, start, end, labels) | {found[0]}) > 1
            )
            if (run := _LABEL_LIST.match(text, found[1])) is not None:
                all_listed = labels_named(text, *run.span(), labels) if _ARE_RIGHT.match(text, run.end()) else set()
                return ",".join(label for label in labels if label in all_listed), *run.span()
            is_made = several and _MADE.search(text, start, found[1]) is not None
            is_described = _is_one_of_descriptions(text, sentences, (start, end), labels, texts)
            if _ADDED.search(text, start, found[1]) or is_made or is_described:
                return "", start, end
            if several and phrases.UNDECIDED.search(text, start, _denied_from(mentions, found_here, found, end)):
                return "", start, end
            return _stated_first(text, sentences, (start, found), labels, texts) or found
    return None


def _is_name_of(text: str, begin: int, start: int, one: Found, texts: OptionTexts | None) -> bool:
    """Return whether a sentence only says which label an option has: "London is option A".

    Where the sentence before it names that option, "It is London. London is option A", it gives the answer.
    """
    if texts is None or texts.is_mention(one):
        return False
    before = _NAMED_AS.search(text, start, one[1])
    if before is None or texts.exactly(text[start : before.start()]) != one[0]:
        return False
    named = texts.mentioned(text, max(begin, start - _PREVIOUS_MAX), start)
    return not named or max(named, key=lambda found: found[1])[0] != one[0]


def _is_given_up(text: str, begin: int, start: int, end: int) -> bool:
    """Return whether a sentence says that there is no answer, or only what might be one after another has said so."""
    if phrases.GIVEN_UP.search(text, start, end):
        return True
    return (
        _ONLY_POSSIBLE.match(text, start, end) is not None and phrases.GIVEN_UP.search(text, begin, start) is not None
    )


def _denied_from(mentions: list[Found], asserted_ones: dict[str, Found], found: Found, end: int) -> int:
    """Return where after a label the sentence goes on to deny others: "B, not A or C"."""
    return min((one[1] for one in mentions if one[0] not in asserted_ones and one[1] > found[1]), default=end)


def _stated_first(
    text: str,
    sentences: list[tuple[int, int]],
    last: tuple[int, Found],
    labels: tuple[str, ...],
    texts: OptionTexts | None,
) -> Found | None:
    """Return the option that a response states at once, where its last sentence only says something about another one.

    "The capital is Canberra. Sydney is the largest city." An empty label: the first sentence says something about an
    option too, and nothing tells which is the answer.
    """
    start, found = last
    if texts is None or not texts.is_mention(found) or _VERDICT_MARK.search(text):
        return None
    said = [place for place in sentences if text[slice(*place)].strip()]
    first = said[0]
    is_short = len(said) <= _CONTRASTED_SENTENCES_MAX and not _ITEM.match(text, first[0])
    if not is_short or first[0] >= start or text[start : found[1]].strip(_AROUND_SUBJECT).lower() not in _ARTICLES:
        return None
    stated = asserted(text, mentions_in(text, *first, labels, texts), texts, Reading())
    stated.pop(found[0], None)
    if len(stated) != 1:
        return None
    only = stated.popitem()[1]
    is_emphasised = text[only[1] - 2 : only[1]] in {"**", "__"}
    is_subject = text[first[0] : only[1]].strip(_AROUND_SUBJECT).lower() in _ARTICLES
    return ("", *only[1:]) if is_subject and not is_emphasised else only


def _is_one_of_descriptions(
    text: str,
    sentences: list[tuple[int, int]],
    place: tuple[int, int],
    labels: tuple[str, ...],
    texts: OptionTexts | None,
) -> bool:
    """Return whether a sentence says something about an option as the one before it does about another one."""
    before = next((one for one in reversed(sentences) if one[1] <= place[0] and text[slice(*one)].strip()), None)
    if before is None or _SAYS_RIGHT.search(text, *place) or _SAYS_RIGHT.search(text, *before):
        return False
    own, other = _DESCRIBED.match(text, *place), _DESCRIBED.match(text, *before)
    if own is None or other is None or own["label"] == other["label"] or other["label"] not in labels:
        return False
    return bool(asserted(text, [(other["label"], *other.span("label"))], texts, Reading()))


def _behind_hedge(text: str, start: int, end: int, labels: tuple[str, ...], texts: OptionTexts | None) -> int:
    """Return where a sentence decides that begins with a hedge: "I'm torn between A and B, but I'll go with B"."""
    turn = None
    for turn in _TURN.finditer(text, start, end):  # noqa: B007 - the last one is wanted
        pass
    if turn is None or phrases.GIVEN_UP.search(text, turn.end(), end) or _STILL_OPEN.search(text, turn.end(), end):
        return start
    if not mentions_in(text, turn.end(), end, labels, texts):
        return start
    hedges = (phrases.GIVEN_UP, phrases.UNDECIDED)
    return turn.end() if any(hedge.search(text, start, turn.start()) for hedge in hedges) else start


def _is_listed_wrong(text: str, one: Found, reading: Reading) -> bool:
    """Return whether a label begins a list of several that is denied as a whole: "A, C and D are wrong"."""
    listed = _LABEL_LIST.match(text, one[1])
    why = status.objection(text, *listed.span()) if listed is not None else None
    if listed is not None and why is not None:
        reading.reject(*listed.span(), why)
    return why is not None


def _decides_for_none(text: str, start: int, end: int, labels: tuple[str, ...]) -> bool:
    """Return whether a sentence says that there is no answer, or offers several labels in passing: "A or D?"."""
    if phrases.GIVEN_UP.search(text, start, end):
        return True
    return len(labels_named(text, start, end, labels)) > 1 and phrases.UNDECIDED.search(text, start, end) is not None


def _with_option_texts(
    text: str, sentences: list[tuple[int, int]], labels: tuple[str, ...], texts: OptionTexts
) -> list[tuple[int, int]]:
    """Return sentences of which none ends between a label and the text of its option: "torn between A and B. Rome"."""
    joined: list[tuple[int, int]] = []
    for start, end in sentences:
        before = _LABEL_ENDS.search(text, joined[-1][0], joined[-1][1]) if joined else None
        if before is not None and before[1] in labels and texts.behind(text, before.end(1), before[1]) > start:
            joined[-1] = joined[-1][0], end
        else:
            joined.append((start, end))
    return joined


def _ends_of(text: str, begin: int) -> list[tuple[int, int]]:
    """Return the sentences of a response; of a long one, those of its beginning and its end."""
    if len(text) - begin <= _HEAD_CHARACTERS + _TAIL_CHARACTERS:
        return sentences_of(text, begin)
    head = sentences_of(text[: begin + _HEAD_CHARACTERS], begin)[:-1]
    return head + sentences_of(text, len(text) - _TAIL_CHARACTERS)


def asserted(text: str, mentions: list[Found], texts: OptionTexts | None, reading: Reading) -> dict[str, Found]:
    """Return the mentions by label against which nothing speaks, and note the others as rejected."""
    found: dict[str, Found] = {}
    for label, start, end in mentions:
        behind = texts.behind(text, end, label) if texts else end
        why = status.objection(text, start, behind, whole=texts is not None)
        why = status.WEIGHED if why is None and is_examined(text, start) else why
        if why == status.DENIED and texts is not None and texts.is_over_another(text, behind, label):
            why = None
        if why is None:
            found[label] = label, start, end
        else:
            reading.reject(start, end, why)
    return found


def is_examined(text: str, start: int) -> bool:
    """Return whether the words before a label only turn to it: "First, we look at (B)"."""
    return _EXAMINED.search(text, max(0, start - _EXAMINED_CHARACTERS), start) is not None


def is_cut_off(text: str, labels: tuple[str, ...]) -> bool:
    """Return whether a long response ends in the midst of a sentence, and not with a label."""
    last = text.rstrip()
    if _DANGLES.search(last, max(0, len(last) - _DANGLING_CHARACTERS)):
        return True
    if len(last) < _CUT_OFF_CHARACTERS_MIN or not (last[-1:].isalnum() or last[-1:] in "+-=*/\\$(,<{"):
        return False
    return re.search(r"(?<![A-Za-z0-9])[A-Z]\Z", last[-2:]) is None or last[-1:] not in labels


def labels_named(text: str, start: int, end: int, labels: tuple[str, ...]) -> set[str]:
    """Return the labels that a sentence may name in any way."""
    found = {
        match[0]
        for match in _LOOSE.finditer(text, start, end)
        if match[0] != "I" and (_JOINS.match(text, match.end()) or not is_word(text, match.end(), match[0]))
    }
    found |= {match[1].upper() for match in _SMALL.finditer(text, start, end)}
    return found & set(labels)


def sentences_of(text: str, begin: int) -> list[tuple[int, int]]:
    """Return where the sentences and lines of a text begin and end."""
    found, start = [], begin
    for match in _BOUNDARY.finditer(text, begin):
        if match.start() > start:
            found.append((start, match.end()))
        start = match.end()
    if start < len(text):
        found.append((start, len(text)))
    return found


def mentions_in(text: str, start: int, end: int, labels: tuple[str, ...], texts: OptionTexts | None) -> list[Found]:
    """Return the labels that a sentence names: set off, after a word such as "option", or at its end."""
    found = []
    for match in islice(_MENTIONED.finditer(text, start, end), _MENTIONS_MAX + 1):
        group = match.lastgroup or ""
        label = match[group].upper() if group == "small" else match[group]
        if label not in labels or (group in _BARE and _is_other(text, match.start(group))):
            continue
        if group in _WORDS and is_word(text, match.end(group), label):
            continue
        if group == "named" and match[0].lower().startswith("answer") and is_word(text, match.end(group), label):
            continue
        if group in _TYPESET and _UNIT_BEFORE.search(text, max(0, match.start(group) - 24), match.start(group)):
            continue
        if group == "bracketed" and _is_abbreviation(text, match.start(), label, texts):
            continue
        found.append((label, match.start(group), match.end(group)))
    if not found and texts is not None:
        found = texts.mentioned(text, start, end)
    return found


def _is_abbreviation(text: str, start: int, label: str, texts: OptionTexts | None) -> bool:
    """Return whether a letter in brackets stands for the word before it: "hydrogen (H)"."""
    before = _WORD_BEFORE.search(text, max(0, start - 24), start)
    word = before[1].lower() if before else ""
    if len(word) < _WORD_CHARACTERS_MIN or word[0].upper() != label or word in _OPTION_WORDS:
        return False
    return texts is None or not texts.ends_with(text[:start][-100:], label)


def _is_other(text: str, start: int) -> bool:
    """Return whether a bare capital is no label but the name of something, "edge B", or one of several."""
    before = _WORD_BEFORE.search(text, max(0, start - 24), start)
    return before is not None and before[1].lower() in _NAMED_BY_LETTER | _JOINING
