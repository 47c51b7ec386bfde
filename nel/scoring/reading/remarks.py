"""What a sentence says about the number in it: that it is wrong, supposed, somebody's, one of several, or denied.

The words are those of ten languages. Each rule looks at one sentence and does not understand a text beyond that; the
standard library is all it needs.
"""

from __future__ import annotations

import re
from typing import Final

from nel.core.lazy_regex import lazy_pattern
from nel.core.phrase_regex import phrase_pattern

WRONG: Final = "called wrong"
SUPPOSED: Final = "supposed"
QUOTED: Final = "quoted"
CONFIDENCE: Final = "a confidence"
UNDECIDED: Final = "undecided"
DENIED: Final = "denied"
CUT_OFF: Final = "cut off"
ASKED: Final = "asked"

SKIPPED: Final = frozenset({WRONG, SUPPOSED, QUOTED, CONFIDENCE})
"""Remarks beside the answer: what stands before them may be the answer. The others leave a response without one."""


def _any(*parts: str) -> re.Pattern[str]:
    return phrase_pattern("|".join(parts), re.IGNORECASE)


_WRONG = _any(
    r"\b(?:wrong(?:ly)?|incorrect(?:ly)?|mistaken(?:ly)?|(?:a|by|common)\s+(?:\w+\s+)?mistake|overlook\w*|misread\w*|"
    r"(?:isn['’]t|not)\s+(?:quite\s+)?(?:right|correct)|common\s+(?:error|trap)|tempting|an?\s+error)\b",
    r"\b(?:falsch\w*|fehler\w*|irrtum\w*|faux|fausse|erron[ée]e?s?|incorrecte?s?|erreur|incorrect[oa]s?|"
    r"erróne[oa]s?|equivocad[oa]s?|"
    r"sbagliat[oaie]|errat[oaie]|errad[oa]s?|incorret[oa]s?|err[oô]neas?)\b",
    r"[❌✗✘✖🚫]|неправильн|неверн|ошиб|错误|錯誤|不正确|错的|是错|不对|間違|誤り|誤答|正しくな|خاطئ|خطأ",
)
_IF = _any(
    r"\b(?:if|had|were|without|unless|otherwise|under\s+(?:a|the|one)|with\s+(?:a|the|one)|in\s+(?:a|another)\s+\w+|"
    r"different|"
    r"had\s+the|for\s+a\s+different|instead)\b",
    r"\b(?:wenn|falls|ohne|hätte|si|s['’]il|sans|sin|se|senza|sem|caso|если|без|при)\b|如果|假如|若|没有|もし|場合|なければ|لو|إذا|"
    r"بدون",
)
_WOULD = _any(
    r"\b(?:would|['’]d\s+(?:be|have)|might|could)\b|\b(?:wäre|würde|lautete|ergäbe|serait|aurait|vaudrait|sería|"
    r"habría|hubiera|daría|"
    r"sarebbe|avrebbe|seria|teria|бы)\b|就会|则会|就是|将是|则是|会是|だろう|でしょう|なります|لكان|ستكون|لكانت|سيكون"
)
_CONDITION = _any(
    r"\bif\b[^.!?]{0,80}\b(?:is|are|were|we|not|the|you|taken|included)\b[^.!?]*\b(?:answer|is|it)\b|\bif\s+(?:not|"
    r"it\s+is\s+not|so)\b|\bif\s+we\s+(?:take|read|assume|include|count)",
    r"\bwhen\b.*\bwhen\b|\b(?:one|another|first|second|other)\s+(?:\w+\s+){0,3}(?:reading|interpretation|definition|"
    r"convention|one\s+it\s+is)\b|\bis\s+not\s+given\b",
    r"\bdepend(?:s|ing)\s+on\b|\b(?:first|second|other)\s+(?:reading|one|interpretation|definition)\b|\botherwise\b|"
    r"with\s+(?:one|the\s+other)\b",
    r"\b(?:wenn|falls)\b.*\b(?:sonst|andernfalls)\b|\bhängt\b.*\bab\b|\bsi\b.*\b(?:sinon|si\s+no)\b|"
    r"\bse\b.*\b(?:altrimenti|caso\s+contrário|senão)\b",
    r"\b(?:dépend|depende|dipende|зависит)\b|\bесли\b.*\b(?:иначе|то)\b|取决于|如果.*否则|要看|もし.*そうでなければ|なら.*なら|場合.*場合|次第|"
    r"يعتمد|إذا.*وإلا|إن\s+.*وإلا",
)
_OTHERWISE = _any(
    r"\botherwise\b|\b(?:with|under|in|on)\s+(?:the\s+)?(?:other|second|another)\b|\bif\s+not\b|\b(?:sonst|"
    r"andernfalls|sinon|si\s+no|altrimenti|caso\s+contrário|senão|иначе)\b",
    r"否则|そうでなければ|وإلا",
)
_EARLIER = _any(r"\b(?:earlier|previous|different|other|original|another)\s+(?:version|question|variant|problem)\b")
_OWN_CHOICE = _any(
    r"\bif\s+i\s+(?:had|have|must|were\s+to)\b|\bi(?:\s+would|['’]d)\s+(?:answer|say|go|choose|pick|put)\b"
)
_SOMEONE = _any(
    r"\b(?:according\s+to|(?:answer\s+)?key\s+(?:says|gives)|you\s+(?:mentioned|said|wrote)|the\s+prompt|"
    r"text(?:book)?\s+(?:says|has|claims)|forum|guess(?:ed|es)|claim(?:s|ed)|"
    r"some(?:one|body)?\s+(?:\w+\s+)?(?:people|students?|say|says|said|think|thinks|might|may|answer)|"
    r"some\s+(?:\w+\s+)?(?:sources?|websites?|texts?|models?)|website|colleagues?|students?\s+(?:\w+\s+){0,2}(?:say|"
    r"answer|think|write)|"
    r"anyone\s+who|people\s+(?:say|think|answer)|a\s+(?:hasty|quick|careless)\s+\w+|in\s+a\s+hurry|might\s+(?:say|"
    r"answer|think|guess|expect)|(?<!\bi\s)would\s+(?:say|answer|think)|heard\s+that|example\s+in|instructions|"
    r"hint\b|misprint|the\s+user\b|"
    r"says\s+(?:that\s+)?the\s+answer|some\s+would|(?:considered|rejected)\b|"
    r"at\s+first\s+(?:glance|sight)|i\s+first\s+thought|my\s+first)\b",
    r"\b(?:a\s+seconda|riportano|указано|dices|un\s+estudiante|laut|behauptet|jemand|manche|einige|selon|certains|"
    r"quelqu['’]un|según|algunos|alguien|secondo|alcuni|qualcuno|segundo|alguns|alguém|кто-то|некоторые|"
    r"по\s+мнению)\b",
    r"\b(?:вы\s+пишете|você\s+disse|dici\s+che|tu\s+dis|vous\s+dites|sie\s+sagen)\b",
    r"يذكر|يقال|だとのこと|有人|有些人|据说|根据.*说|ある人|という人|と言う|によると|البعض|يقول|أحدهم|بحسب",
)
_CONFIDENCE = _any(
    r"\b\d+\s*%\s+(?:sure|certain)|\b(?:confidence|confidenza|certitude|certezza|certezza|certainty|"
    r"\d\s*%\s+(?:sure|certain)|"
    r"probability\s+that\s+(?:this|i)|sicherheit|konfidenz|confiance|confianza|certeza|fiducia|confiança|"
    r"уверенност\w+|уверен\s+на)\b",
    r"اليقين|確度|置信度|把握|确信度|確信度|自信|الثقة",
)
_UNDECIDED = _any(
    r"\b(?:torn\s+between|50\s*/\s*50|(?:just|equally)\s+(?:as\s+)?likely|not\s+(?:entirely\s+)?(?:sure|"
    r"certain)\s+which|(?:can(?:not|['’]t)|could\s?n['’]t|unable\s+to|not\s+able\s+to|"
    r"won['’]t)\s+(?:be\s+able\s+to\s+)?"
    r"(?:decide|choose|verify|figure|commit|determine|be\s+determined|say|tell|answer|help|assist|guess|solve|"
    r"be\s+solved|provide|work)|not\s+going\s+to\s+guess|no\s+way\s+to\s+(?:tell|know|decide)|"
    r"either\s+\S+(?:\s+\S+){0,4}\s+or|could\s+be\s+\S+(?:\s+\S+){0,3}\s+or|possibly|"
    r"might\s+(?:just\s+as\s+well\s+)?be|hard\s+to\s+say|undecided|narrowed\s+(?:it\s+)?down|only\s+bound|"
    r"perhaps\b.*\bperhaps|i['’]m\s+not\s+sure|impossible\s+to|opinions\s+differ|settle\s+(?:it|this)|"
    r"tell\s+you\s+whether|could\s+you\s+clarify|not\s+enough|insufficient|i\s+do\s?n[o'’]t\s+know|"
    r"which\s+is\s+meant|no\s+(?:better\s+)?answer|only\s+narrow|somewhere\s+between)\b",
    r"\b(?:schwanke|entweder|nicht\s+(?:entscheiden|sicher|bestimmen|beantworten)|"
    r"kann\s+(?:ich\s+)?(?:\w+\s+){0,3}nicht|hésite|ou\b.*\bou\b|não\s+dá|no\s+se\s+puede|soit\b.*\bsoit|"
    r"ne\s+(?:peux|peut|sais|saurais)|pas\s+(?:sûr|certain)|"
    r"no\s+(?:puedo|sé|es\s+posible|se\s+puede)|dudo|puede\s+ser|podría\s+ser|o\s+bien|non\s+(?:posso|so|"
    r"è\s+possibile|si\s+può)|può\s+essere|potrebbe|indecis[oa]|não\s+(?:posso|consigo|sei|é\s+possível)|"
    r"pode\s+ser|poderia|dúvida|peut\s+être|pourrait|je\s+ne\s+sais|kann\s+sein|könnte|не\s+(?:могу|знаю|уверен)|"
    r"невозможно|либо|может\s+быть|возможно|сомневаюсь|нельзя)\b",
    r"无法|無法|不能|不确定|不知道|可能|或许|也许|犹豫|決められ|わから|分から|できません|できない|かもしれ|迷|どちらか|لا\s+أ(?:ستطيع|عرف|عتقد)|لا\s+يمكن|"
    r"غير\s+متأكد|ربما|إما|متردد|قد\s+ت?يكون",
)
_HEDGE = lazy_pattern(
    r"\bi(?:['’]m|\s+am)\s+(?:not\s+(?:\w+\s+|100\s?%\s+)?|un)(?:sure|certain),?\s+but\b(?=[^.!?\n]*[\d])(?!\s+(?:not|neither)\b)"
    r"|\bi\s+(?:do\s+not|don['’]t)\s+know(?:\s+for\s+(?:sure|certain))?,?\s+but\b(?=[^.!?\n]*[\d])(?!\s+(?:not|neither)\b)",
    re.IGNORECASE,
)
_DENIED = _any(
    r"\b(?:not|never|neither|nor)\b(?!\s+(?:only|counting|including|yet))|\b(?:is|are|was|does|do|ca|could|wo|"
    r"would|should|must)n['’]t\b|\bcannot\s+be\b",
    r"\b(?:nicht|weder|keine?|(?<!jibu\s)ni|no\s+es|n['’]est|ne\s+\w+\s+pas|non\s+è|né|não\s+é|nem|не|ни)\b|不是|并非|既不|也不|ではな|"
    r"ではあり|でもな|じゃな|ليس",
)
_REFUSES = _any(
    r"\b(?:can(?:not|['’]t)|unable\s+to|not\s+able\s+to|won['’]t|couldn['’]t)\s+(?:be\s+able\s+to\s+|"
    r"\w+\s+)?(?:answer|help|assist|provide|confirm|determine|be\s+determined|decide|say|tell|do|give|work|solve|"
    r"be\s+solved|verify|guess|commit|figure|choose)\b|\bnot\s+my\s+answer\b|\bno\s+way\s+(?:for\s+me\s+)?to\s+\w+|"
    r"\bi\s+can(?:not|['’]t)\s*[.!]|\bi['’]d\s+rather\s+not\b|\bdo\s+not\s+have\s+(?:access|enough)|"
    r"\bbeyond\s+that\b|\bplease\s+provide\b|\bno\s+better\s+suggestion|\bnot\s+sure\s+at\s+all|"
    r"\bgive\s+a\s+final\s+answer|\bnot\s+sure,?\s+and\b|\bdo\s?n[o'’]t\s+want\s+to\s+guess|\bwhich\s+is\s+meant|"
    r"\bopinions\s+differ|\bsettle\s+(?:it|this)\b",
    r"\bnot\s+going\s+to\s+guess|\b(?:i\s+)?do\s?n[o'’]t\s+know|doesn['’]t\s+say\s+which|not\s+enough\s+information|"
    r"is\s+missing\b|no\s+(?:better\s+)?answer\b|could\s+not\s+(?:find|verify|determine)",
    r"\bkann\s+(?:\w+\s+){0,4}nicht\b|\bne\s+peux\s+pas\b|\bno\s+puedo\b|\bnon\s+posso\b|\bnão\s+(?:posso|"
    r"consigo)\b|\bне\s+(?:могу|знаю|берусь)\b|\bnon\s+(?:lo\s+so|mi\s+pronuncio)\b|\bno\s+(?:lo\s+)?sé\b|"
    r"\bnão\s+sei\b|\bich\s+weiß\s+(?:es\s+)?nicht\b|\bje\s+ne\s+(?:sais|suis)\s+pas\b|pas\s+en\s+mesure|لا\s+أعرف|"
    r"لا\s+يمكن|لم\s+أستطع|わかりません|无法|不能回答|できません|答えられ|لا\s+أستطيع|لا\s+يمكنني|تعذر",
)
_SAID_WRONG = _any(
    r"\b(?:that|this|it|which|answer|result|above)\s*(?:['’]s|is|was)\s+(?:\w+\s+){0,2}?(?:incorrect|wrong|"
    r"not\s+(?:quite\s+)?(?:right|correct)|a\s+(?:mistake|misconception|misreading))\b|\bcan(?:not|"
    r"['’]t)\s+be\s+(?:right|correct)\b",
    r"\b(?:scratch|strike|forget|ignore|disregard)\s+(?:that|the|this|my|it)\b|\blet\s+me\s+(?:redo|correct|"
    r"reconsider|start\s+over|try\s+again|recalculate|fix)\b|\btake\s+(?:that|it)\s+back\b",
    r"\bi\s+(?:made\s+an?\s+(?:\w+\s+)?(?:mistake|error)|need\s+to\s+correct|misread|was\s+wrong)\b|"
    r"\bcorrect\s+myself\b|\bcorrection\b|\bit\s+fails\b|\b(?:result|answer|"
    r"line)\s+(?:above\s+)?does\s+not\s+satisfy\b|\bconditions?\s+fails?\b|\bhave\s+to\s+revise\b|\b(?:that|"
    r"this)\s+was\s+a\s+mistake\b|\bi\s+meant\b|\bcontradicts\b|je\s+me\s+suis\s+trompé|me\s+enganei|"
    r"\bplease\s+disregard\b|\bon\s+second\s+thought\b|\boops\b",
    r"\b(?:das\s+(?:ist|war|stimmt)\s+(?:falsch|nicht)|korrektur|moment|c['’]est\s+(?:faux|incorrect)|correction|"
    r"corrección|correzione|correção|j['’]ai\s+fait\s+une\s+erreur|pardon|me\s+equivoqué|mi\s+sono\s+sbagliat\w|"
    r"ich\s+habe\s+mich\s+(?:geirrt|vertan)|errei|es\s+incorrecto|está\s+mal|è\s+sbagliato|está\s+errado|"
    r"я\s+ошиб\w+|это\s+(?:неверно|неправильно)|das\s+falsch|исправл\w+|поправка)\b|有误|更正|这不对|不对|不正确|错了|訂正|間違え|"
    r"間違いでした|تصحيح|هذا\s+خطأ",
)
_CORRECTED = _any(
    r"\b(?:wait|actually|hmm|hold\s+on|sorry)\b|\b(?:warte|eigentlich|doch|nein|attends|attendez|en\s+fait|non|"
    r"espera|espere|en\s+realidad|perdón|no|aspetta|in\s+realtà|anzi|na\s+verdade|подождите|подожди|нет|"
    r"на\s+самом\s+деле)\b\s*[,:.—–-]",
    r"等等|等一下|其实|待って|いや|実は|انتظر|في\s+الواقع|لا،",
)
_PLACEHOLDER = lazy_pattern(
    r"""
    [\s*_`"'“”.:：{}()\[\]<>$\\/|–—-]*
    (?: \\?text\{? \s* )?
    (?: _+ | \?+ | x+ | TBD | TODO | N/?A | none | null | nan | unknown | undefined | undetermined | unclear
      | pending | blank
      | (?:to\s+be\s+|cannot\s+be\s+|not\s+)(?:determined|filled\s+in|given|known)
      | (?:insert|your|the|final|fill\s+in)\s[^\n]{0,30} | infinit\w*(?:\s+many)?
        | (?:there\s+is\s+)?no\s+(?:solution|answer|such\s+number)s?
    )?
    [\s*_`"'“”.,!?:：{}()\[\]<>$\\/|–—-]*
    """,
    re.IGNORECASE | re.VERBOSE,
)


def remark(sentence: str) -> str | None:
    """Return what a sentence says against the number in it, or None where it states it.

    >>> remark("Anyone who says 5 is wrong."), remark("So it is 5."), remark("I'm torn between 5 and 6.")
    ('called wrong', None, 'undecided')
    """
    if _CONFIDENCE.search(sentence):
        return CONFIDENCE
    sentence = _without_hedge(sentence)
    if _UNDECIDED.search(sentence):
        return UNDECIDED
    if _WRONG.search(sentence):
        return WRONG
    if _EARLIER.search(sentence):
        return SUPPOSED
    if refuses(sentence):
        return UNDECIDED
    if _WOULD.search(sentence) and _IF.search(sentence) and not _OWN_CHOICE.search(sentence):
        return UNDECIDED if _OTHERWISE.search(sentence) else SUPPOSED
    if _CONDITION.search(sentence) and not _OWN_CHOICE.search(sentence):
        return UNDECIDED
    if _SOMEONE.search(sentence):
        return QUOTED
    return None


def _without_hedge(text: str) -> str:
    """Return a text without a hedge that goes on to an answer: "I'm not sure, but it is 5"."""
    return _HEDGE.sub("", text) if "but" in text else text


_DENIED_BEHIND = _any(r"ではな|ではあり|でもな|じゃな|\bне\s+(?:подходит|годится)|不对|不是(?:正确|答案)")
_STRONGLY = _any(
    r"^\W*(?:so|therefore|thus|hence|consequently|in\s+total|overall|altogether|on\s+average|in\s+short|"
    r"in\s+the\s+end|finally|that\s+(?:is|makes)|"
    r"insgesamt|also|somit|folglich|donc|ainsi|au\s+total|por\s+lo\s+tanto|en\s+total|así\s+que|quindi|in\s+totale|"
    r"dunque|portanto|no\s+total|logo|итого|значит|следовательно)\b|"
    r"\b(?:altogether|in\s+total|in\s+all)\b|^\W*(?:所以|因此|一共|总共|したがって|よって|合計|إذن|لذلك)|^\W*(?:total|value|result|"
    r"x)\s*(?::|=|\bis\b|\bequals\b)",
)


def is_denied_behind(text: str) -> bool:
    """Return whether the words after a number deny it: "答えは5ではありません"."""
    return _DENIED_BEHIND.search(text) is not None


def concludes_strongly(sentence: str) -> bool:
    """Return whether a sentence opens a response with its conclusion: "In total, …", "So it is …"."""
    return _STRONGLY.search(sentence) is not None and not intends(sentence)


def is_denied_in(sentence: str) -> bool:
    """Return whether a sentence denies the number in it, in one of ten languages."""
    return _DENIED.search(sentence) is not None


_CONCLUDES = _any(
    r"^\W*(?:so|therefore|thus|hence|consequently|accordingly|as\s+a\s+result)\b(?!,?\s+(?:we|i|let|now\s+we|to)\b)|"
    r"\b(?:totals?|altogether|in\s+all|overall|in\s+short|in\s+the\s+end|on\s+average|finally)\b",
    r"\b(?:that|this|which)\s+(?:makes|gives|leaves|means|comes\s+to|is)\b|\bwe\s+(?:get|find|obtain|end\s+up|"
    r"arrive|conclude)\b|\bi(?:['’]ll|['’]d|\s+would|\s+will)?\s+(?:answer|go\s+with|say|choose|pick|conclude)\b",
    r"\b(?:the|this|our)\s+(?:\w+\s+){0,2}(?:total|result|sum|value|number|quantity|amount|answer|percentage|"
    r"balance|share|distance|average|price|cost|profit|"
    r"temperature\s+at)\b[^.]{0,60}\b(?:is|comes|equals|was|=|:)|^\W*(?:\w+\s+){0,3}(?:total|value|sum|result)\s*:|"
    r"\b(?:will\s+(?:be|have)|equals|settle\s+on|arrive\s+at|works\s+out|comes\s+(?:out\s+)?(?:to|at)|that['’]s|"
    r"it['’]s|make\s+that|it\s+is|it\s+must\s+be)\b|\bnow\b|\bleft\b|\bremains?\b|\brequired\b",
    r"\b(?:also|somit|insgesamt|daher|folglich|demnach|damit|ergebnis|donc|ainsi|au\s+total|en\s+tout|conséquent|"
    r"por\s+lo\s+tanto|así\s+que|en\s+total|entonces|por\s+tanto|quindi|in\s+totale|dunque|perciò|"
    r"portanto|logo|no\s+total|assim|итого|значит|следовательно|поэтому|получаем|получается|obtenemos|obtemos|"
    r"isso\s+dá|si\s+ottiene|on\s+obtient|wir\s+erhalten|ergibt|das\s+(?:ist|sind|macht)|en\s+résumé|in\s+breve|"
    r"en\s+resumen|em\s+resumo|kurz\s+gesagt|короче|résultat|resultado|risultato|результат|c['’]est|è|è\s+quindi|"
    r"это|таким\s+образом)\b|所以|因此|结果|得到|総じて|計算すると|結果|答え|正解|共计|نحصل|الناتج|إجابتي|النتيجة|باختصار|هو|故|一共|总共|共有|"
    r"したがって|よって|合計|つまり|だから|全部で|إذن|لذلك|المجموع|بالتالي",
)
_INTENDS = _any(
    r"^\W*(?:let\s+me(?!\s+know)|let['’]s|next\b|now,?\s+(?:we|let|i)\b|first\b|then\s+we\b|"
    r"(?:so\s+)?we\s+(?:multiply|add|"
    r"subtract|divide|need|must|have\s+to|still|now|look|want|can)\b|hence,?\s+combining)",
)
_CLOSER = _any(
    r"\b(?:would\s+you\s+like\s+(?:me\s+to\s+)?(?:explain|more|further|to\s+see|a\s+more|additional|any)|"
    r"do\s+you\s+want\s+(?:me\s+to\s+explain|more)|does\s+(?:that|this)\s+(?:make\s+sense|help)|"
    r"is\s+there\s+anything|"
    r"can\s+i\s+help|anything\s+else|any\s+(?:other\s+)?questions|need\s+(?:more|further)|"
    r"shall\s+i|should\s+i\s+(?:explain|show))\b|\b(?:noch\s+fragen|möchten\s+sie|des\s+questions|"
    r"alguna\s+(?:otra\s+)?pregunta|altre\s+domande|mais\s+alguma)\b|还有.*问题|他に"
)


_CHECKS = _any(
    r"^\W*(?:(?:let\s+me|let['’]s|to)\s+)?(?:double[-\s]?)?(?:check(?:ing)?|verif(?:y|ication|ying)|proof)\b(?=\s*[:,])",
    r"^\W*(?:probe|überprüfung|vérification|comprobación|verifica|verificação|проверка)\s*:|^\W*(?:验证|检验|検算|التحقق)\s*[:：]",
)


def checks(sentence: str) -> bool:
    """Return whether a sentence only checks what was stated before it: "Check: 2(18) + 3 = 39"."""
    return _CHECKS.search(sentence) is not None


def intends(sentence: str) -> bool:
    """Return whether a sentence says what is to be done next, so that a text that ends there is cut off."""
    return _INTENDS.search(sentence) is not None


def concludes(sentence: str) -> bool:
    """Return whether a sentence draws a conclusion: "So there are 5 left", "In total …"."""
    return _CONCLUDES.search(sentence) is not None


def is_closer(sentence: str) -> bool:
    """Return whether a question is a polite end, and asks nothing of the problem: "Does that make sense?"."""
    return _CLOSER.search(sentence) is not None


def is_own_choice(sentence: str) -> bool:
    """Return whether a sentence chooses: "If I had to choose, I would say 5"."""
    return _OWN_CHOICE.search(sentence) is not None


def is_confidence(sentence: str) -> bool:
    """Return whether a sentence says how sure the response is."""
    return _CONFIDENCE.search(sentence) is not None


def refuses(text: str) -> bool:
    """Return whether a text refuses to answer, or says that it cannot."""
    return _REFUSES.search(_without_hedge(text)) is not None


def said_wrong_at(text: str, start: int, end: int) -> int | None:
    """Return where the words end that take back what stands before them, or None."""
    found = _SAID_WRONG.search(text, start, end)
    return None if found is None else found.end()


def corrected_at(text: str, start: int, end: int) -> int | None:
    """Return where the words end with which a text may go on to correct itself: "Wait, …", or None."""
    found = _CORRECTED.search(text, start, end)
    return None if found is None else found.end()


def is_placeholder(text: str) -> bool:
    """Return whether a declaration leaves its answer open: ``Answer: ____``, ``\\\\boxed{}``, "Answer: TBD"."""
    return _PLACEHOLDER.fullmatch(text) is not None
