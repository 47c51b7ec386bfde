"""A response in lines and sentences, and what a sentence says against the answer in it, in ten languages.

Texts and labels are read with it. Each rule looks at one sentence and does not understand a text beyond that. Depends
on the standard library alone, and on `nel.scoring.reading.status` for the names of the reasons.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from nel.core.lazy_regex import lazy_pattern
from nel.scoring.reading.rules import Rule
from nel.scoring.reading.status import ASKED, DENIED, MARKED_WRONG, QUOTED, SUPPOSED
from nel.scoring.reading.turns import own_turn

_LINES_MAX: Final = 200
"""Lines at the end of a response that are looked at."""
_LINE_CHARACTERS_MAX: Final = 1_000
"""Characters at the end of a line that are looked at, and as many at its start."""
SENTENCE_CHARACTERS_MAX: Final = 500
"""Longer ones state no short answer."""
_THOUGHT_ENDS: Final = lazy_pattern(
    r"""
      </(?:think(?:ing)?|thoughts?|reasoning|scratchpad|reflection|seed:think|explanation)> | \[/THINK\] | ◁/think▷
    | <\|end_of_thought\|> | <\|END_THINKING\|> | <\|channel\|>final<\|message\|> | \.\.\.done\ thinking\. | </details>
    """,
    re.IGNORECASE | re.VERBOSE,
)
_THOUGHT_BEGINS: Final = lazy_pattern(
    r"""
      <(?:think(?:ing)?|thoughts?|reasoning|scratchpad|reflection|seed:think)> | \[THINK\] | ◁think▷
    | <\|begin_of_thought\|> | <\|START_THINKING\|> | <\|channel\|>analysis<\|message\|> | ^Thinking\.\.\.\s*$
    | <details><summary>Thought
    """,
    re.IGNORECASE | re.VERBOSE | re.MULTILINE,
)
_FENCED_THOUGHT: Final = lazy_pattern(r"```(?:thinking|thought)\n.*?(?:\n```|\Z)", re.DOTALL)
_DROPPED: Final = lazy_pattern(
    r"""
      <\|(?!begin_of_sol|end_of_sol)[a-z_]{2,30}\|> | </s> | \[/?(?:INST|END)\]
        | <(?:eos|end_of_turn|eot_id)>            # end tokens
    | </?(?:b|i|u|em|strong|br|p|span|div|mark)(?:\s[^<>\n]{0,80})?/?>                         # emphasis in HTML
    | ~~[^~\n]{1,400}~~ | <(?P<tag>s|del|strike)>[^<]{1,400}</(?P=tag)>                        # struck out
    """,
    re.IGNORECASE | re.VERBOSE,
)
_SPACES: Final = lazy_pattern("[\u00a0\u2007\u2009\u202f\u3000\u00ad\u200b\u200e\u200f\u2060\ufeff\r]")


def plain(text: str) -> str:
    """Return a response in the same length, with reasoning in tags, struck-out text and end tokens as spaces.

    >>> plain("<think>A?</think><b>B</b> ~~C~~").strip()
    'B'
    """
    if not text.isascii() or "\r" in text:
        text = _SPACES.sub(" ", text)
    if "<" in text or "[" in text or "◁" in text or "hinking" in text:
        text = own_turn(_without_thoughts(text))
        text = _DROPPED.sub(_blank, text)
    elif "~~" in text:
        text = _DROPPED.sub(_blank, text)
    return text


def _without_thoughts(text: str) -> str:
    if "```th" in text:
        text = _FENCED_THOUGHT.sub(_blank, text)
    closing = 0
    for match in _THOUGHT_ENDS.finditer(text):
        closing = match.end()
    opening = _THOUGHT_BEGINS.search(text, closing)
    stop = opening.start() if opening else len(text)
    return " " * closing + text[closing:stop] + " " * (len(text) - stop) if closing or opening else text


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


class Line(NamedTuple):
    """A line that is not blank, without the spaces around it."""

    start: int
    text: str


def lines_backwards(text: str) -> Iterator[Line]:
    """Yield the lines of a text that are not blank, from the last to the first."""
    end = len(text)
    for _ in range(_LINES_MAX):
        while end > 0 and text[end - 1].isspace():
            end -= 1
        if end <= 0:
            return
        start = text.rfind("\n", 0, end) + 1
        part = max(start, end - _LINE_CHARACTERS_MAX)
        bare = text[part:end].lstrip()
        yield Line(end - len(bare), bare)
        if part > start:
            head = text[start : min(part, start + _LINE_CHARACTERS_MAX)].strip()
            if head:
                yield Line(start + text[start:part].find(head[0]), head)
        end = start


_STARTERS: Final = (
    "This|That|The|It|I|I'm|I’m|I'd|I'll|Sentence|Paragraph|See|Let|We|If|Note|So|Confidence|There|Some|Many|Hope|Had|"
    "Wait|Actually|No|But|However|One|Feel|Is|Thank|Thanks|Good|Please|Sorry|Apologies|To|In|On|For|First|Next|Now|Okay|"
    "Therefore|Thus|Hence|My|Everything|Because|Students|Oops|Hmm|Correction|Strike|Scratch|Hold|Anyone|Could|Would|"
    "Why|You|A|An|Several|According|Don't|What|As|Going|Checking|Only|Not|Without|Here|Depending|Happy|Does"
)
_STOP: Final = rf"""
    [。！？!?؟.] (?:
        (?<= [。！？] ) ["'”’*_)）」]* \s*
      | (?<= [!?؟] ) ["'”’*_)`»]* \s+
      | (?<= \. ) (?<! \b[A-Z]\. ) (?<! \b(?:St|Dr|Mr|Ms|Jr|Sr|vs|No)\. ) (?<! \b(?:Mrs|Ans)\. )
        ["'”’*_)`»$\])]* \s+ (?= [^\sa-z\d,;:)\]}}] )
      | (?<= \b[A-Z]\. ) ["'”’*_)`»$]* \s+ (?= (?:{_STARTERS})\b )
    )
"""
_BOUNDARY: Final = lazy_pattern(_STOP, re.VERBOSE)
_BOUNDARY_OR_REMARK: Final = lazy_pattern(
    rf"""
      {_STOP}
    | \s+ (?= \( (?:If|Had|Note|The\ answer|Not\b|A\ frequent|Confidence|Without|Hätte|Ohne|Nicht|Wenn|Si\ |Sans
        |Et\ non|Sin|No\ |
        Senza|Se\ |Non\ |Sem|E\ não|Если|Без|А\ не|A\ common) )
    """,
    re.VERBOSE,
)


_MAY_END: Final = lazy_pattern(r"[.!?؟][^\w\n]*\s|[。！？(]")


def sentences(line: str) -> list[tuple[int, str]]:
    """Return the sentences of a line with their places in it.

    >>> [text for _, text in sentences("It is J. R. R. Tolkien. This is known. (If not, so be it.)")]
    ['It is J. R. R. Tolkien.', 'This is known.', '(If not, so be it.)']
    """
    if not _MAY_END.search(line):
        return [(0, line)]
    found: list[tuple[int, str]] = []
    start = 0
    boundary = _BOUNDARY_OR_REMARK if "(" in line else _BOUNDARY
    for match in boundary.finditer(line):
        if match.end() >= len(line):
            break
        part = line[start : match.end()]
        found.append((start, part.rstrip()))
        start = match.end()
    found.append((start, line[start:]))
    return [(place, part) for place, part in found if part]


RETRACTION: Final = Rule(
    r"\b(?:wait|hold\s+on|oops|correction|strike\s+that|scratch\s+that|on\s+second\s+thought|"
    r"on\s+(?:closer\s+)?(?:reflection|inspection))\b",
    r"\b(?:that|this|it|(?:the\s+)?(?:line|answer|result)?\s*above)\s*(?:['’]s|is|was)\s+(?:\w+\s+)?(?:wrong|"
    r"incorrect|not\s+(?:quite\s+)?(?:right|correct|true)|a\s+mistake|an\s+error)\b",
    r"\bcan(?:['’]t|not)\s+be\s+(?:right|correct)\b|\bi\s+(?:made\s+an?\s+(?:\w+\s+)?(?:mistake|error)|misread|"
    r"need\s+to\s+correct|should\s+correct|was\s+wrong)\b|\bcorrect\s+myself\b",
    r"\b(?:hmm|actually),?\s+no\b|\bno,?\s+(?:wait|that|scratch)\b|\bdisregard\b|\bhave\s+to\s+revise\b|\bconditions?\s+fails?\b|\b(?:but|"
    r"when)\s+[^.]{0,30}\bit\s+fails\b|\bapologies,\s+that\b|^no\s*[.,:!—–-]|\.\.\.\s*no\b|\bself-check\b|"
    r"\bactually\s+that['’]s",
    r"\b(?:moment|halt)\s*,|\bdas\s+(?:stimmt\s+nicht|ist\s+falsch|war\s+falsch)|\bkorrektur\b|"
    r"\bhabe\s+mich\b[^.]{0,20}\b(?:geirrt|vertan)|\bdass\s+das\s+falsch\b|^nein\s*[,.:]",
    r"\battendez\b|\bme\s+suis\s+trompé|\bce\s+n['’]est\s+pas\s+(?:correct|exact)|\bc['’](?:est|était)\s+(?:faux|"
    r"une\s+erreur)|\bj['’]ai\s+fait\s+une\s+erreur|^non\s*[,.:]",
    r"\bespera\s*,|\beso\s+(?:no\s+es\s+correcto|está\s+mal)|\bme\s+(?:he\s+)?equivo|"
    r"\bveo\s+que\s+es\s+incorrecto|\bcometí\s+un\s+error|^no\s*,",
    r"\baspetta\s*,|\bnon\s+è\s+corretto\b|\bmi\s+sono\s+sbagliat|(?:^\W*|[,;:—]\s*|\b(?:questo|ciò|quello|che)\s+)è\s+sbagliato|"
    r"\bho\s+commesso\s+un\s+errore",
    r"\bespere\s*,|\bisso\s+(?:não\s+está\s+certo|está\s+errado)|\bme\s+enganei|\bvejo\s+que\s+está\s+errado|"
    r"\bcometi\s+um\s+erro|^não\s*,",
    r"\bподождите\b|\bэто\s+(?:неверно|неправильно|ошибка)|\bя\s+(?:выше\s+)?ошиб|\bвыше\s+я\s+ошибся|^нет\s*,",
    r"等等|^不[，,]|^不对|这不对|弄错了|写错了|有误|是错误的$|^检查后|待って|^いや|^いえ|間違いでした|これは間違い|これは誤り|違いました|\bانتظر|\bلحظة|\bأخطأت|"
    r"أن\s+هذا\s+خطأ|^لا،",
)
"""Words that take back what was said before."""
REFUSAL: Final = Rule(
    r"\b(?:can(?:not|['’]t)|could\s?n(?:o|['’])t|could\s+not|unable\s+to|not\s+able\s+to|"
    r"won['’]t(?:\s+be\s+able\s+to)?|don['’]t\s+want\s+to|rather\s+not|not\s+going\s+to|"
    r"am\s+unable)\b(?:\s+\w+){0,3}?\s+"
    r"(?:answer|decide|say|tell|determine|be\s+determined|help|assist|verify|commit|choose|settle|figure|give|"
    r"provide|guess|find|work\s+this|go\s+further|do\s+that|confirm|view|be\s+given)\b",
    r"\bdon['’]t\s+(?:know|have\s+(?:another|an\s+answer))\b|\bno\s+(?:(?:better|other|final)\s+)?(?:answer|suggestion|way\s+to|"
    r"way\s+for)\b|\bnot\s+enough\s+information\b|\bdoes(?:n['’]t|\s+not)\s+(?:say|mention|decide)\b|"
    r"\bi['’]m\s+not\s+sure\b|\bno\s+text\s+was\b",
    r"\btorn\s+between\b|\btoss-up\b|\b50/50\b|\bback\s+and\s+forth\s+between\b|\bnarrowed\s+it\s+down\b|"
    r"\bseem\s+equally\b|\bjust\s+as\s+(?:well|likely)\b|\b(?:question|passage|part|information|image|text|"
    r"context)\b[^.]{0,30}\bis\s+missing\b|\bstart\s+over\b|\bseems?\s+to\s+be\s+incomplete\b|"
    r"\bimpossible\s+to\s+say\b|\bdon['’]t\s+have\s+access|\bdo\s+not\s+have\s+access|\bdepend(?:s|ing)\s+on\b|"
    r"\bboth\b[^.]{3,80}\b(?:look\s+right|could\s+be\s+correct)\b|\bone\s+(?:reading|website)\b[^.]+\banother\b|"
    r"\bnot\s+given\b",
    r"\bnicht\s+(?:beantworten|bestimmen|entscheiden|helfen|sagen|sicher|überprüfen|mehr)\b|"
    r"\bschwanke\s+zwischen\b|\bkeine\s+antwort\b|\bweiß\s+(?:das|es)\b[^.]{0,10}\bnicht\b|\bdas\s+weiß\s+ich\b|"
    r"\bje\s+nach\b|\bnicht\s+gesagt\b|\bvon\s+vorn\b|\blässt\s+sich\s+(?:die\s+antwort\s+)?nicht\b",
    r"\bne\s+(?:peux|sais|permettent|suis\s+pas\s+en\s+mesure)\b|\bhésite\s+entre\b|\bimpossible\s+de\b|"
    r"\bpas\s+de\s+réponse\b|\btout\s+recommencer\b|\bn['’]arrive\s+pas\b|\bselon\s+la\b|\bpas\s+pu\s+le\b",
    r"\bno\s+(?:puedo|lo\s+sé|se\s+puede|tengo\s+una|he\s+podido)\b|\bdudo\s+entre\b|\bempezar\s+de\s+nuevo\b|"
    r"\bdepende\b|\bsegún\s+la\b|\bno\s+lo\s+aclara\b",
    r"\bnon\s+(?:posso|so\b|lo\s+so|è\s+possibile|permettono|sono\s+in\s+grado|ho\s+una|ho\s+potuto|riesco|"
    r"si\s+può|lo\s+dice)\b|\bindeciso\s+tra\b|\bricominciare\b|\bdipende\b|\ba\s+seconda\s+d",
    r"\bnão\s+(?:posso|sei|permitem|consigo|consegui|tenho\s+uma|dá\s+para|diz)\b|\bem\s+dúvida\s+entre\b|"
    r"\brecomeçar\b|\bdependendo\b|\bconforme\s+a\b",
    r"\bне\s+(?:могу|знаю|смог|уверен|указано|берусь)\b|\bопределить\s+нельзя|\bсказать\s+нельзя|"
    r"\bрешить\s+нельзя|\bколеблюсь\b|\bнет\s+ответа\b|\bсначала\.|\bзависит\s+от|\bв\s+зависимости\b",
    r"无法|不能(?:确定|肯定|回答)|不知道|拿不定|没有答案|没有说明|重新计算|取决于|答えられ|答えを(?:決め|出せ)|お答えできません|お手伝いできません|わかりません|判断(?:できません|は控え)|"
    r"決められません|迷って|言え(?:ません|ない)|やり直|によって[、は]",
    r"لا\s+(?:أستطيع|أعرف|يمكن|يوضح)|لا\s+يمكنني|متردد|ليست\s+لدي|من\s+جديد|بحسب|يعتمد\s+على|لم\s+أستطع",
)
"""Sentences that leave the question without an answer."""
ALTERNATIVE: Final = Rule(
    r"\b(?:otherwise|if\s+not,|and\s+under\b|with\s+the\s+other)\b|\bif\b[^.]{0,80}\bholds\b|"
    r"\bwhen\b[^.]{3,60};\s+when\b|\bsome\s+sources\s+say\b|\bon\s+one\s+reading\b|\bif\s+the\s+(?:first|"
    r"statement)\b|\bif\s+we\s+take\b",
    r"\b(?:sonst|andernfalls|sinon|si\s+no|altrimenti|caso\s+contrário)\b|\bиначе\b|否则|不然|そうでなければ|وإلا",
    r"\b(?:either|entweder|soit|o\s+bien)\b[^.]{1,120}\b(?:or|oder|soit|o\s+bien)\b|\blibо\b|\bлибо\b|"
    r"\bpossibly\b|\bperhaps\b[^.]{1,80}\bperhaps\b|\bmaybe\b[^.?]{1,80}\bmaybe\b|\bвозможно,|\bможет\s+быть\b",
    r"\b(?:it\s+)?(?:could|might)\s+be\b|\bpuede\s+ser\b|\bpodría\s+ser\b|\bpuò\s+essere\b|\bpotrebbe\s+essere\b|"
    r"\bpode\s+ser\b|\bpourrait\s+être\b|\bes\s+könnte\b|可能是|也许|かもしれ|قد\s+(?:تكون|يكون)|\bإما\b|要么",
)
"""Sentences that offer several answers and choose none."""
OPEN: Final = Rule(
    r"^\W*(?:if\s(?!i\s(?:had|have|must))|when\b|depending|it\s+depends|wenn\b|falls\b|si\s(?!tratta|ottiene|ha\b|trova|ricava|arriva|conclude|deduce|vede|evince)|"
    r"se\s(?!trata)|если\b|如果|もし|إذا|je\s+nach|selon|según|a\s+seconda|dependendo|в\s+зависимости|根据|によって|بحسب)",
    r"\bon\s+one\s+reading\b|(?:无法|不能)(?:判断|确定)|\bwhether\b|\beither\b|\bentweder\b",
)
"""Words before an answer that make it depend on something."""
QUOTING: Final = Rule(
    r"\b(?:students?|people|someone|somebody|anyone|many|others|reader|user|colleague|forum|website|textbook|"
    r"answer\s+keys?|hint|instructions|prompt|in\s+a\s+hurry|instinct|misconception|classifier|quick\s+guess|"
    r"misprint|(?:worked|the|an)\s+example|previous\s+question|next\s+question|earlier\s+version|considered|"
    r"different\s+(?:question|version|set)|written\s+down)\b",
    r"\b(?:one|you)\s+(?:might|may|could)\b|\bat\s+first\b|\bi\s+(?:first|initially)\b|\bi\s+wrote\b|"
    r"\b(?:my\s+)?(?:first|initial)\s+(?:answer|guess|instinct|attempt)\s+(?:was|is)\b|\byou\s+(?:mentioned|said|"
    r"may)\b|\btempting\b|\bsome\s+would\b|\bone\s+could\b|\bif\s+you\s+got\b|\bdon['’]t\s+confuse\b",
    r"\b(?:viele|schüler|student|lösungsheft|beaucoup|élève|corrigé|vous\s+dites|mucha|muchos|estudiante|"
    r"solucionario|dices|molti|studente|soluzioni|dici|muita|muitos|aluno|gabarito|você\s+disse|du\s+hast\s+(?:geschrieben|gesagt)|du\s+(?:sagst|schreibst)|sie\s+(?:sagten|schrieben)|häufiger?|"
    r"zunächst|auf\s+den\s+ersten|à\s+première|d['’]abord|a\s+primera|al\s+principio|primero\s+pensé|a\s+prima|"
    r"all['’]inizio|à\s+primeira|no\s+início|primeiro\s+pensei|многие|ученик|учебник\w*|вы\s+пишете|сначала|"
    r"на\s+первый|частая|частый)\b",
    r"很多人|学生|有的|参考答案|你说|乍一看|一开始|常见|多くの人|生徒|解答集|一見|最初は|よくある|とのこと|كثيرون|طالب|البعض|ذكرت|كتاب|للوهلة|ظننت|فكرت|الشائعة",
)
_CONDITION: Final = Rule(
    r"\b(?:if(?!\s+i\s+(?:had|have|must)\b)|had\s+(?:the|it)|were|without|unless|under\s+a|suppose|supposing|"
    r"instead|missing|dropped)\b",
    r"\b(?:wenn|falls|hätte|ohne|si|sans|sin|se|senza|sem|если|без)\b|如果|没有|もし|なければ|違っていれば|\bلو\b|لولا|إذا",
)
_WOULD: Final = Rule(
    r"\b(?:would|could|might|were)\b|\b(?:wäre|könnte|serait|aurait|pourrait|sería|podría|sarebbe|potrebbe|seria|"
    r"poderia)\b|\bбы\b|会是|将是|就会|可能|だった|なります|でした|لكان"
)
REJECTED: Final = Rule(
    r"\b(?:wrong|incorrect|mistake|mistaken|misconception|misreading|error|overlook\w*|ignores|rule(?:s|"
    r"d)?\s+(?:it\s+)?out|rejected|does\s?n['’]t\s+(?:fit|work|hold)|does\s+not\s+(?:fit|work|hold|satisfy)|"
    r"not\s+hold\s+up|conflicts|fails|false\s+lead|not\s+quite|not\s+credit|not\s+get\s+credit|disregard|contradicts|"
    r"not\s+correct|not\s+right|skipped|correct\s+only|right\s+for\s+a\s+different|confuse|compare)\b",
    r"\b(?:falsch\w*|irrtum|fehler|stimmt\s+nicht|passt\s+nicht|ausschließen|nicht\s+zu|faux|erreur|incorrect\w*|"
    r"se\s+tromperait|écarter|ne\s+colle|error|equivocaría|descartar|no\s+encaja|sbagliat\w*|errore|sbaglierebbe|"
    r"escludere|non\s+è\s+coerente|errad\w*|erro|enganado|não\s+combina|ошиб\w*|неверн\w*|неправильн\w*|исключить|"
    r"не\s+подходит|не\s+согласуется)\b",
    r"错误|不对|不正确|误解|排除|不符|誤り|間違い|誤解|除外|合いません|誤答|خطأ|غير\s+صحيح|سوء\s+فهم|استبعاد|لا\s+يتفق|خاطئة",
)
ASKING: Final = lazy_pattern(
    r"^(?:is|was|are|could|would|might|does|did|should|maybe|perhaps|why\s+not|ist\s+es|vielleicht|est-ce|"
    r"peut-être|¿|è|forse|será|talvez|это|может|هل|ربما)\b[^.]*[?？؟]",
    re.IGNORECASE,
)
DENIAL: Final = Rule(
    r"\b(?:not|never|neither|nor|cannot|can['’]t\s+be|isn['’]t|wasn['’]t|aren['’]t)\b(?!\s+(?:only|completely|"
    r"entirely|sure))|\bn['’]t\b",
    r"\b(?:nicht|weder|kein|n['’]est|ni|no\s+(?:es|puede)|non|né|não|nem|не|ни)\b|不是|不可能|ではな|ではありま|でもな|ليس",
)

_MARKED_WRONG = lazy_pattern(r"[\s*_]*(?:[❌🚫]|[✗✘✖]\s*(?:[→—–-]|\Z))")
_CLAUSE = lazy_pattern(
    r";|,\s(?:but|so|then)\b|\s(?:but)\s|:\s|,\s(?=(?:the|my|our)\s(?:\w+\s)?answer\b|it\b)",
    re.IGNORECASE,
)
_SUPPOSING = lazy_pattern(
    r"\b(?:suppose|supposing|assume|assuming|angenommen|supposons|supongamos|supponiamo|suponha)\b",
    re.IGNORECASE,
)
_TURN = lazy_pattern(r";|,\s(?:but|so|then)\b|\s(?:but)\s", re.IGNORECASE)
_GIVES_REASON = lazy_pattern(
    r"[*_\"'”’`)$]*(?:\s(?:is|was)\s(?:the|my|our)\s(?:\w+\s)?answer|\s(?:as\s)?the\s(?:\w+\s)?answer)?"
    r"(?:,?\s(?:because|since|as|which\sfollows)\b|;|\s\(see\b|\s[–—-]\s)"
)
_QUOTED_AFTER = lazy_pattern(r"とのこと|という答え|と答え|と言う|かもしれ")


def is_supposed(sentence: str) -> bool:
    """Return whether a sentence says what would be in another case."""
    return _CONDITION.search(sentence) is not None and _WOULD.search(sentence) is not None


def last_clause(before: str) -> str:
    """Return what stands after the last word of a sentence that turns to something else: "not 5, so it is".

    >>> last_clause("It can't be 5, so it is ")
    ' it is '
    """
    return _CLAUSE.split(before)[-1]


def objection(before: str, after: str) -> str | None:
    """Return why a candidate does not count, from what stands before and after it in its sentence, or None.

    >>> objection("A student might say the answer is ", "."), objection("The answer is ", "?"), objection("It is ", ".")
    ('quoted', 'asked', None)
    """
    if after.rstrip(" *_`\"'”’)]}»」$").endswith(("?", "？", "؟")):
        return ASKED
    if _MARKED_WRONG.match(after):
        return MARKED_WRONG
    if _SUPPOSING.search(before) or (_CONDITION.search(before) and _WOULD.search(before + after)):
        return SUPPOSED
    if QUOTING.search(_TURN.split(before)[-1]) or _QUOTED_AFTER.search(after):
        return QUOTED
    before = last_clause(before)
    if REJECTED.search(before) or (not _GIVES_REASON.match(after) and REJECTED.search(after)):
        return DENIED
    return None
