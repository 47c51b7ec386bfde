"""Words of ten languages that answer yes or no, and the words around them that matter: data for `yes_no`.

Each pattern names a reason why a yes or a no in a sentence is no answer of the response's own, or why one before it no
longer counts. Depends on the standard library alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, Literal

from nel.core.lazy_regex import lazy_pattern
from nel.core.phrase_regex import phrase_pattern

Kind = Literal["word", "truth", "statement"]
"""A yes or a no of its own, an adjective that says so of a statement, or a statement that says so."""

_FLAGS: Final = re.VERBOSE
_PLAIN: Final = {
    "yes": "yes yep yeah yup ja oui sí si sì sim да نعم بلى",
    "no": "no nope nah nein non não нет لا ولا",
}
_TRUTH: Final = {
    "yes": "true wahr vrai vraie verdadera verdadero vera vero verdadeira verdadeiro истинно правда صحيحة",
    "no": "false falsch unwahr faux fausse falsa falso ложно ложь неправда خاطئة",
}
VALUES: Final[dict[str, tuple[str, Kind]]] = {
    **{word: (value, "word") for value, words in _PLAIN.items() for word in words.split()},
    **{word: (value, "truth") for value, words in _TRUTH.items() for word in words.split()},
}
"""What a word says, in lower case."""
PARTICLES: Final = frozenset({"no", "non", "não", "нет", "لا", "ولا", "si"})
"""Words that mean yes or no only where they stand alone: "there is no evidence", "no es así", "si llueve"."""

TURNING: Final = frozenset(
    "wait hold oops moment halt attendez attends espera aspetta espere подождите scratch strike correction "
    "korrektur misread misspoke "
    "overlooked mistake error thought reflection back disregard start wrong incorrect check different hmm above "
    "revise closer actually right correct "
    "vertan geirrt nachprüfen fehler vorn trompé trompée vérifiant erreur recommencer equivoqué equivoque "
    "equivocado comprobarlo cometí nuevo "
    "sbagliato controllando errore ricominciare enganei verificar erro errei começar recomeçar ошибся ошиблась "
    "проверка сначала "
    "fait realidad anzi aliás verdade вернее digo quer know another tell decide settle find verify commit guess "
    "leave opinion give "
    "weiß sais sé so sei знаю".split()
)
"""Words without which a sentence of the languages that space words neither takes back nor gives up."""
ASSESSING: Final = frozenset("correct incorrect right wrong accurate inaccurate".split())
"""Words that say of a statement whether it is so, beside true and false."""
_OBJECTING: Final = (
    "if unless had were otherwise under with without when wenn falls hätte wäre ohne sonst je si sinon sans "
    "selon sin según se senza altrimenti caso sem conforme "
    "если иначе без إذا لو لولا وإلا بحسب يعتمد reading case seconda unable cannot can able won will impossible "
    "way rather kann peux sais puedo posso sei могу "
    "أستطيع يمكن first draft said almost would might could common let instead erro error prima inizio início "
    "первый сначала الأخطاء للوهلة فكرت ظننت "
    "everyone everybody "
    "استبعاد يقال some many most other others people anyone those you he she they user website key keys post "
    "else guide one second according told "
    "viele élève vous on mucha muchos dices molti studente dici muitos muita aluno disse você многие пишете "
    "البعض كثيرون كثير طالب ذكرت ذكرتَ كتاب "
    "previous next earlier hint prompt years perhaps maybe either torn between may both ob weder peut soit "
    "entre ni bien forse tra fra né pode nem "
    "либо может ни между بين متردد إما قد سواء"
).split()
_OBJECTING_STEMS: Final = (
    "suppos assum provid depend завис initial tempt original consider thought wrote repl writ frequent wrong "
    "mistak misconcept obvious quick careless "
    "confus rule seem compar ersten dachte häufig fehler ausschließ falsch première erreur abord écart fréquent "
    "primer principi descart errore esclud primeir "
    "inicial ошибк исключ неправильн someone somebody student reader teacher colleague friend textbook person "
    "model article version claim schüler lösungsheft "
    "geschrieben corrig beaucoup estudiante solucionario soluzion potrebbe estudante gabarito учени учебник "
    "different another instruction misprint "
    "template worked generation possib whether neither toss hardly barely partly necessar always entire complet "
    "nothing nobody unlike doubt vielleicht könnt "
    "entweder zwischen schwank pourrait hésit quiz podría dud indecis talvez poderia dúvida возможн колебл"
).split()


def _one_of(words: Iterable[str]) -> str:
    """Return an expression for one of many words that looks at a few alternatives only: it branches by first letter."""
    by_letter: dict[str, list[str]] = {}
    for word in sorted(set(words), key=lambda word: (-len(word), word)):
        by_letter.setdefault(word[0], []).append(word[1:])
    return "|".join(f"{letter}(?:{'|'.join(rests)})" for letter, rests in sorted(by_letter.items()))


HIT: Final = lazy_pattern(rf"(?<![^\W\d_])(?:{_one_of([*VALUES, *TURNING, *ASSESSING])})(?![^\W\d_])")
"""A word that a sentence must have to say yes or no, or to take back what was said."""
OBJECTS: Final = lazy_pattern(
    rf"(?<![^\W\d_])(?:(?:{_one_of(_OBJECTING)})(?![^\W\d_])|(?:{_one_of(_OBJECTING_STEMS)}))|50/50"
)
"""A word that the patterns from `CONDITION` to `WEIGHED` need; most sentences that decide have none."""
EAST: Final = phrase_pattern(
    r"""
      (?P<yes>
          (?<![一-鿿]) (?: 是的 | 是 | 对 | 正确 ) (?= [^一-鿿ぁ-ヿ] | 吗 | \Z )
        | (?<= [是为說说] ) (?: 是 | 对 | 正确 ) (?= [^一-鿿ぁ-ヿ] | 吗 | \Z )
        | (?: 说法 | 陈述 | 命题 | 断言 | 结论 ) 是? (?: 正确 | 对 | 真 ) 的
        | はい (?= [^ぁ-ヿ一-鿿] | で[すあし] | と | か | の | で | な | も | は | だ | \Z )
        | (?: 記述 | 主張 | 命題 | 文 ) は、? (?: 正しい | 真 )
      )
    | (?P<no>
          \A \W* 不对 (?! [一-鿿] ) |
          (?<![一-鿿]) (?: 不是 | 否 | 不 | 错误 | 错 ) (?= [^一-鿿ぁ-ヿ] | 吗 | \Z )
        | (?<= [是为說说] ) (?: 否 | 错 | 错误 ) (?= [^一-鿿ぁ-ヿ] | 吗 | \Z )
        | (?: 说法 | 陈述 | 命题 | 断言 | 结论 ) 是? (?: 错误 | 不正确 | 不对 | 错 | 假 ) 的
        | いいえ (?= [^ぁ-ヿ一-鿿] | で[すあし] | と | か | の | で | な | も | は | だ | \Z )
        | (?: 記述 | 主張 | 命題 | 文 ) は、? (?: 誤り | 間違い | 偽 )
      )
    """,
    re.VERBOSE,
)
"""Answers in Chinese and Japanese, which do not put spaces between words."""
EAST_LETTER: Final = lazy_pattern(r"[\u0600-\u06ff\u3040-\u30ff\u4e00-\u9fff]")
"""A letter of Arabic, Japanese or Chinese."""
STATEMENT_NOUNS: Final = frozenset("说陈命断结記主文")
"""How those of them begin that speak of a statement."""

STATEMENT: Final = phrase_pattern(
    r"""
    \b (?: statement | claim | assertion | proposition | hypothesis ) \s+ (?: is | was ) \s+
    (?: also\s+ | indeed\s+ | clearly\s+ | therefore\s+ | thus\s+ )?
    (?: (?P<yes> correct | right | accurate ) | (?P<no> incorrect | wrong | inaccurate
      | not\s+(?:correct|right|accurate) ) )
    (?= [\s*_"'”’)]* (?:[.!,;]|\Z) )
    """,
    _FLAGS,
)
"""A verdict on a statement, in words other than true and false."""

IDIOM: Final = lazy_pattern(
    r"no[^\S\n]+(?:doubt|question|wonder|matter|problem|problems|worries|need|one|idea|longer|more|less|such"
    r"|way(?!\s*[.!]))\b",
)
FOLLOWS_PARTICLE: Final = lazy_pattern(
    r"""
      [^\S\n]* [*_"'“”’»」`$)}\]]* [^\S\n]* (?: [.,;:!?…。，、：；？！،؛؟–—/|<>~\\\[¦→✗✘❌✅✓] | -(?=\s) | \Z | \n
      | way\s*[.!] )
    | [*_"'”’»`$)}\]]*+ \s+ (?: \( | (?: because | since | as | if | otherwise | when | for | in | under
      | instead | unless | given | here
        | and | or | but | nor | either | at | to\s+(?:this|the|that)\b | from | which | over | with | rather
        | the\s+(?:final\s+|correct\s+|right\s+)?answer | is | was | would | might | may | could | seems?
        | looks? | can(?:not|['’]t)? | must
        | has | had | wäre | ist | ist\s+es | kann | könnte | oder | und | die | lautet | antworten | sagen
        | heißen | richtig | wirkt | est | ou | et | mais
        | o | y | u | es | e | è | é | ma | mas | или | и | а | но | де | comme | como | come | как | antworte
        | أو | أم | و | وليس | بل | إجابة | كما ) \b )
    """,
    _FLAGS,
)
"""What may stand after a word that otherwise begins a phrase: "no because …", but not "no evidence"."""
CLAUSE_FOLLOWS: Final = lazy_pattern(r"\s+(?:it|this|that|he|she|they|there|the|we|i|you|way)\b")
OFFERS: Final = lazy_pattern(
    r"""[\s*_"'“”’«»「」`)\]$}]* ,? [\s*_"'“”’«»「」`]* (?: / | \b (?: or | nor | oder | ou | u | o | oppure | или
      | versus | vs | أو | أم ) \b | 还是 | 或者? | か | または )
    [\s*_"'“”’«»「」`(\[{$\\]* (?:text\{)?""",
    _FLAGS,
)
"""Between two of the words: both are offered, and none is chosen: "yes or no", "Yes/No"."""
CONDITION_BEHIND: Final = lazy_pattern(
    r"[\s*_\"'”’`)]*,?\s*(?:only\s+)?\b(?:if|when|unless|provided|as\s+long\s+as|depending|in\s+case|wenn|falls"
    r"|si|se|если)\b(?!\s+(?:so|not|anything|i\s+had\s+to)\b)|[\s*_\"'”’`)]*,?\s*(?:for|in|under|on"
    r"|at)\s+(?:the\s+first|some|one|certain|theory)\b",
)
"""A condition right after an answer: "yes if x > 0"."""
CONDITION: Final = phrase_pattern(
    r"""
    \b (?: (?<!even\ ) if (?! \s+ (?: i\s+(?:had|have|must|were)\s+(?:to\s+)?(?:choose|guess|pick|say|answer|decide|bet)
        | anything
        | (?:i|we|you)(?:['’](?:m|re)|\s+am|\s+are)?\s+(?:understand|asking|ask|recall|wrong|remember)\b ) )
      | unless (?!\s+i(?:['’]m|\s+am)) | suppose | supposing | assuming
      | provided (?! \s*[,.)] | \s+ (?: in | by | above | here | information | data ) \b ) | had\s+(?:the|it|we|i|you)
      | (?: (?<=^were) | (?<=[,(;]\ were) ) \s+(?:the|it|we)
      | depending | depends | otherwise | when\s+[a-z]\s+is
      | (?:under|with)\s+(?:one|a|another|the\s+(?:first|second|other|usual|strict|loose)) | without\s+the
      | on\s+one\s+reading | in\s+that\s+case
      | wenn | falls | hätte | wäre\s+die | ohne\s+die | sonst | je\s+nach | si\s+(?:la|l['’]on|le|se|les|on)
      | sinon | sans\s+la | selon\s+(?:la\s+|cette\s+)?(?:définition|lecture|interprétation)
      | si\s+no | sin\s+la | según\s+(?:la\s+)?(?:definición|lectura|interpretación|cómo)
        | se\s+(?:la|il|a|o|vale|si\s+intende) | altrimenti | senza\s+l['’]
      | a\s+seconda | caso\s+contrário | sem\s+a | dependendo | conforme\s+a\s+(?:definição|leitura)
      | если | иначе | без\s+последн\w+ | зависит | зависимости ) \b
    | (?<!\w) (?: إذا | لو | لولا | وإلا | بحسب\s+(?:التعريف|القراءة|التفسير) | يعتمد ) (?!\w)
    """,
    _FLAGS,
)
"""Before an answer in its sentence: it holds under a condition only."""
OTHER_QUESTION: Final = phrase_pattern(
    r"""
    \b (?: previous | next | other | earlier | different | another | hint | instructions? | misprint | template
      | prompt ) \b
      [^.!?\n;]{0,60} \b (?: question | version | one | set | reading | assumptions | problem | printed | ends
      | contains ) \b
    | \b (?: worked\s+example | generation\s+ago | years\s+ago )
    """,
    _FLAGS,
)
"""Before an answer in its clause: it belongs to another question, or to another time."""
HEDGE: Final = phrase_pattern(
    r"""
    \b (?: perhaps | maybe | possibly | either | neither | torn | toss-?up
      | might | may
      | could | hardly | barely | partly | necessarily | always | entirely
      | completely | nothing | nobody | unlikely | (?<!no\ )(?<!a\ )(?<!any\ )doubt (?! \s+ about ) | 50/50
      | vielleicht | könnte | entweder | ob | zwischen | schwanke | weder | peut-être | pourrait | soit
      | hésite | entre | ni
      | quizás? | quizá | podría | dudo | o\s+bien | forse | potrebbe | indeciso | tra | fra | né | talvez
      | poderia | pode | em\s+dúvida | nem
      | возможно | либо | может | колеблюсь | ни | между | بين | متردد | إما | قد | سواء ) \b
    | (?<!\ of\ ) \b whether \b (?!\s+or\s+not\b) [^,]* \Z | \b between \b [^,:]* \Z
    | \b both [\s*_"'“`]* \Z
    """,
    _FLAGS,
)
"""Before an answer in its clause: it is weighed, not given."""
EAST_OPEN: Final = phrase_pattern(
    r"可能|也许|要么|会不会|无法|不能确定|之间|如果|否则|取决于|乍一看|一开始|以为|误解|错误答案|常见的错误|排除|很多人|有的学生|有人|你说|您说|参考答案"
    r"|かもしれ|決め|判断|迷って|どちら|なければ|解釈|仮定|問題が違|定義によって|もし|一見|最初は|誤答|間違いは|除外|多くの人|生徒|解答集|とのこと"
)
"""In a Chinese or Japanese sentence: its answers are weighed, reported or hold under a condition."""
INABILITY: Final = phrase_pattern(
    r"""
      \b (?:i|we) (?:['’]m|\s+am|\s+are)? \s+ (?:honestly\s+|really\s+|simply\s+)? (?: unable | cannot
      | can['’]?t | can\s+not | not\s+able | won['’]?t | will\s+not | couldn['’]?t | could\s+not ) (?! \s+ be \b )
    | \b (?: impossible\s+to | no\s+way\s+(?:for|to) | rather\s+not )
    | \b ich\s+kann\s+nicht | \b kann\s+ich\s+nicht | \b je\s+ne\s+(?:peux|sais)\b | \b no\s+puedo
      | \b non\s+posso\b | \b não\s+(?:posso|sei) | \b не\s+могу\b | لا\s+أستطيع | لا\s+يمكن
    """,
    _FLAGS,
)
"""Before an answer in its clause: the response says that it cannot give it."""
REPORTED: Final = phrase_pattern(
    r"""
    \b (?: some (?: one | body )? | many | most | others? | people | students? | readers? | anyone | those
      | every(?:one|body)
      | you | he | she | they | user | teacher | colleague | friend | website | textbooks?
      | a (?: \s+ [\w-]+ )? \s+ (?:student|reader|person|friend|model) | keys? | articles? | post | else
      | guide | version\s+of\s+me | one\s+(?:might|may|could|would) | (?:first|second)\s+one )
      (?: \s+ [\w'’]+ ){0,5}? \s+
      (?: say(?:s|ing)? | said | think(?:s|ing)? | thought | argu(?:e[sd]?|ing) | claim(?:s|ed)? | believe[sd]?
      | guess(?:es|ed)? | conclude[sd]? | answer(?:s|ed)?(?!\s+(?:is|was|to|would|must)\b)
      | write[sn]? | wrote | call | told
        | suggest(?:s|ed)? | mention(?:ed|s)? | lists? | has | heard | replied | reply | tempted | got
        | contains? ) \b
    | \b the \s+ (?! evidence | text | passage | article | document | law | rule | study | data | context
        | paragraph | contract | table )
      [\w-]+ \s+ (?: said | says? | claim(?:s|ed)? | argue[sd]? ) \b
    | \b (?: according\s+to\s+(?:one|some|a) | someone\s+told | told\s+me | if\s+you\s+got | is\s+often\s+claimed
      | viele | schüler | lösungsheft | geschrieben | élève | corrigé | beaucoup\s+de\s+gens | vous\s+dites
      | on\s+pourrait | mucha | muchos | estudiante | solucionario | dices
      | molti | studente | le\s+soluzioni | dici | si\s+potrebbe | muitos | muita | estudante | aluno
      | gabarito | disse | você | многие | ученик | учебнике | пишете ) \b
    | (?<!\w)(?: البعض | كثيرون | كثير | طالب | ذكرت | ذكرتَ | كتاب )
    """,
    _FLAGS,
)
"""Before an answer in its clause: others give it."""
WEIGHED: Final = phrase_pattern(
    r"""
    \b (?: tempt(?:ed|ing|ation) | at\s+first
      | first\s+(?:thought|instinct|guess|impression|attempt|answer|try) | initial(?:ly)? | draft
      | i\s+(?:first|originally|initially|considered|thought|said|wrote|almost|replied | had\s+written)
      | (?<!i\ )would\s+(?:say|argue|answer|reply) | (?:would|might|could)\s+have\s+(?:said|replied|answered)
      | could\s+(?:say|argue)
      | common | frequent | wrongly | wrong\s+answer | mistake | misconception | obvious | quick\s+guess
      | careless | confuse | rule\s+out | let\s+me\s+(?:check|test|consider|try)
      | way\s+to\s+say | compare | instead\s+of | rather\s+than
      | ersten\s+blick | dachte | häufig\w* | fehler | ausschließen | falsche\s+antwort | première\s+vue
      | erreur | d['’]abord | écarter | fréquente
      | primera\s+vista | error | principio | descartar | primero\s+pensé | prima\s+vista | errore | inizio
      | escludere | primeira\s+vista | erro | início | inicialmente | primeiro\s+pensei
      | первый\s+взгляд | сначала | ошибка | исключить | неправильный\s+ответ ) \b
    | الأخطاء | للوهلة | فكرت | ظننت | استبعاد | يقال
    """,
    _FLAGS,
)
"""Before an answer in its clause: it is considered or rejected."""
ABOUT: Final = lazy_pattern(
    r"""
    [\s*_"'“”’»」`$)}\]]*+ (?:
        \b (?: would | might | may | could | seems? | looks? | is | was | works? | fits? | can(?:not|['’]t)?
        | ist | wäre | kann | können | wirkt | est | es | è | é | sarebbe | seria | sería | serait
        | неверен | не\s+подходит ) \b
      | ,\s*is\s+(?:incorrect|wrong)
      | ,?\s*\b(?:as\s+is\s+often|como\s+se\s+suele|como\s+muitos|comme\s+on\s+le|come\s+spesso|wie\s+oft|как\s+часто)
        | ,? \s* (?: at\s+first\b | wrongly )
      | ;\s* (?: that\s+is\s+(?:incorrect|wrong|a\s+mis) | however | das\s+ist\s+ein | il\s+se\s+trompe
      | se\s+equivoca | sbaglierebbe | engana )
      | \s*—\s*(?:это\s+)?(?:точно\s+)?неверн\w*
      | ，? (?: 这是误 | 是?错误的 | 是?错的 ) | は(?:除外|誤|間違|ないこと)
        | では(?:あり|な)い?ま?せ? | と(?:答え|言う|思い) | のようです | だと思いま
      | という答え | だった | でした | になります | も正し
      | \s*(?: إجابة\s+خاطئة | خطأ )
    )
    """,
    _FLAGS,
)
"""After an answer: the sentence is about it instead of giving it."""
REFUTED: Final = lazy_pattern(
    r"""
    [\s*_"'“”’»」`$)}\]]*+ (?:
        ,?\s* \b (?: which | and\s+(?:they|that|this|rejected) | that\s+(?:would|was) | but
        | however ) \b [^.!?\n]{0,60}?
          \b (?: mistake | wrong(?:ly)? | error | misreading | misconception | incorrect | overlook\w*
          | ignor\w+ | fails? | rejected | rules | not\s+(?:hold|fit|work|right|correct|it\b|quite)
          | n['’]t\s+(?:hold|fit|work|right|correct) | would\s+be\s+wrong | conflicts )
      | ,? \s* (?: aber | doch ) \b [^.!?\n]{0,60}?
          \b (?: falsch | irrtum | fehler | (?:stimmt|passt)\s+nicht | nicht\s+(?:richtig|korrekt) )
      | ,? \s* mais \b [^.!?\n]{0,60}? \b (?: faux | erreur | pas\s+(?:correct|exact|le\s+cas)
          | ne\s+(?:colle|convient) )
      | ,? \s* pero \b [^.!?\n]{0,60}? \b (?: error | incorrecto | no\s+(?:es\s+así|es\s+correcto|encaja) )
      | ,? \s* ma \b [^.!?\n]{0,60}? \b (?: errore | sbagliato | non\s+(?:è\s+co\w+|va|quadra) )
      | ,? \s* mas \b [^.!?\n]{0,60}? \b (?: erro | errado | incorreto | não\s+(?:bate|se\s+encaixa|combina|é\s+co\w+) )
      | ,? \s* (?: но | хотя ) \s [^.!?\n]{0,60}?
          \b (?: ошиб\w+ | неверн\w+ | неправильн\w+ | не\s+(?:согласуется|подходит|так) ) \b
      | ，?但 [^。\n]{0,20} (?: 错 | 不对 | 误 | 不符 )
      | ،? \s* (?: (?: و?لكنه?ا? ) [^.،\n]{0,40} (?: خطأ | ليست? | غير\s+صحيح | لا\s+يتفق )
          | وهذا\s+(?:سوء|خطأ) | كما ) )
    """,
    _FLAGS,
)
"""After an answer that does not open its sentence: it is rejected there."""
AFFIRMED: Final = lazy_pattern(
    r"[*_\"'“”’»」`$)}\]]*+(?:\s+(?:is|was|ist|est|es|è|é))?\s+(?:the|my|our|as|die|la|a)\s+(?:the\s+|my\s+"
    r"|our\s+)?(?:\w+\s+){0,2}(?:answer|antwort|réponse|respuesta|risposta|resposta|response|reply|verdict)\b",
)
"""After an answer: "… is the correct answer"."""
TAKEN_BACK_BEHIND: Final = lazy_pattern(
    r"""
    [\s*_"'”’`)}\]$.:]*+ (?:
        [❌✗✘✖🚫]
      | [—–-]* \s* \(? (?: wrong | incorrect | scratch\s+that | strike\s+that | not\s+(?:right|correct) )
      | (?: \.\.\.|…|—|–|,)\s*(?: no,\s | hold\s+on | wait\b )
    )
    """,
    _FLAGS,
)
"""After an answer in its sentence: it is taken back at once."""
TAKES_BACK: Final = phrase_pattern(
    r"""
    (?: ^ | [—–-]\s | [.…,*]\s* | \b(?:no|but|oh|hmm+|hm),?\s+ ) (?: wait | hold\s+on | oops | moment | halt
      | attendez | attends | espera | aspetta | espere | подождите ) \b (?= \s* (?: [,.!…—–:-] | no\b | \Z ) )
    | \b (?: (?:scratch|strike)\s+that | correct(?:ion\s*:|\s+myself) | korrektur | i\s+misread
      | i\s+mis-?spoke | i\s+overlooked | i\s+(?:made|see)\s+(?:a|an|my)\s+(?:mistake|error)
      | (?:that|this|it|which)\s+was\s+a\s+mistake
      | on\s+(?:second\s+thought|reflection) | take\s+(?:that|it)\s+back | disregard\s+(?:the|my|that|this)
      | start\s+over | this\s+is\s+wrong | (?:that|this)\s+was\s+(?:incorrect|wrong)
      | when\s+i\s+check | different\s+result | hmm+,?\s+(?:no|actually) | (?:result|line|answer)\s+above
      | have\s+to\s+revise | so\s+that\s+is\s+wrong | closer\s+inspection,\s+this | actually,?\s+that['’]s\s+wrong
      | vertan | geirrt | beim\s+nachprüfen | war\s+ein\s+fehler | noch\s+einmal\s+von\s+vorn
      | me\s+suis\s+tromp\w+ | en\s+vérifiant | j['’]ai\s+fait\s+une\s+erreur | c['’]était\s+une\s+erreur
      | tout\s+recommencer
      | me\s+equivoqu[eé] | me\s+he\s+equivocado | al\s+comprobarlo | comet[íi]\s+un\s+error | fue\s+un\s+error
      | empezar\s+de\s+nuevo | mi\s+sono\s+sbagliato | controllando,\s+vedo | commesso\s+un\s+errore
      | era\s+un\s+errore | ricominciare
      | me\s+enganei | ao\s+verificar | cometi\s+um\s+erro | foi\s+um\s+erro | errei | (?:re)?começar | ошибся
      | ошиблась | проверка\s+показывает | начать\s+сначала
      | (?:non|no|não|нет|nein),\s+(?:en\s+fait|en\s+realidad|anzi|aliás
        |na\s+verdade|вернее|korrektur|moment|digo|quer\s+dizer) ) \b
    | \bactually,? (?= \s+ [*_"“'`]* (?:no|yes|true|false) (?![^\W_]) )
    | \A \W* (?:that|this) (?: ['’]s | \s+is ) \s+ (?: not\s+(?:right|correct) | wrong | incorrect ) \W* \Z
    | 等等 | 弄错 | 写错 | 检查后 | 有误 | 不，应该是 | 重新 | 待って | 違いました
        | いや、 | 間違いでした | 確認すると | やり直 | いえ、正しくは | これは間違い
    | انتظر | لحظة | أخطأت | المراجعة | هذا\s+خطأ\s*[.،] | من\s+جديد | لا،\s+بل
    """,
    _FLAGS,
)
"""A sentence that takes back what was said before it."""
GIVES_UP: Final = phrase_pattern(
    r"""
    \b (?: i\s+(?:really\s+|honestly\s+)?(?:don['’]t|do\s+not)\s+(?:know|have\s+(?:another|an)\s+answer)
      | (?:can['’]?t|cannot|not\s+able\s+to|could\s+not)\s+(?:tell|decide|say|settle|find\s+out|commit|verify)
      | won['’]?t\s+(?:commit|give) | not\s+going\s+to\s+guess | leave\s+it\s+open | no\s+opinion
      | does\s+not\s+say\s+which
      | ich\s+weiß\s+es\s+nicht | je\s+ne\s+sais\s+pas | no\s+lo\s+sé | non\s+lo\s+so | não\s+sei | не\s+знаю ) \b
    | 我不知道 | わかりません | لا\s+أعرف
    """,
    _FLAGS,
)
"""A sentence that gives no answer after all."""
POLITE: Final = lazy_pattern(
    r"""
    [\s*_]*[,、，]?\s* (?:
        i \s+ (?: know | see | understand | did | realize ) \b
        | i (?: \s+(?:can|could|will|would) | ['’](?:d|ll) ) \s+ (?: certainly\s+ | be\s+ | gladly\s+ )?
          (?: help | explain | answer | assist | tell | look | do\s+that | try | happy | glad | give
              | provide | love | go )
        | i (?: ['’]m | \s+am ) \s+ (?: happy | glad | here | able | aware | sorry | an? ) \b
        | i (?: ['’]ve | \s+have ) \s+ (?: read | looked | seen | checked | got ) \b
        | i \s+ (?:can['’]?t|cannot|won['’]?t|am\s+not\s+able\s+to|am\s+unable\s+to) \s+
          (?:answer|help|say|tell|assist|confirm|do\s+that|provide)
        | please\b | let['’]?s?\b | let\s+me | (?:of\s+course|certainly|absolutely),?\s+(?:let|i\b)
      | sure | happy\s+to | thank
      | (?: (?:that|this|it)(?:['’]s|\s+is) \s+ )? (?:a\s+|an\s+)? (?:very\s+|really\s+)?
        (?:good|great|tricky|interesting|hard|difficult|fair|excellent
        |tough|common|nice) \s+ (?:question|point|one|topic)
        | this\s+is\s+consistent
      | わかりました | 分かりました | 承知 | gerne | natürlich,?\s+(?:ich|lass)
      | bien\s+sûr[,.!]?\s+(?:je|voici|regardons|voyons)
      | claro[,.!]?\s+(?:que\s+p\w+|te|vou|vamos|aquí|aqui|veamos|vejamos)
      | certo,?\s+(?:ti|ecco) | конечно,?\s+(?:я|да)
    )
    """,
    _FLAGS,
)
"""After an opening yes or no that speaks to the asker and not of the question: "Yes, I can help with that"."""
CONCLUDES: Final = phrase_pattern(
    r"""
    \b (?: answers? | response | verdict | conclusion | result | solution | ans | so | therefore | thus | hence
      | in\s+short | in\s+conclusion | in\s+summary | short | overall | tl;?dr
      | i(?:['’]d|\s+would|['’]ll|\s+will|\s+have\s+to|\s+would\s+have\s+to) \s+ (?:have\s+to\s+)?
        (?: say | answer | go ) | go(?:ing)?\s+with | settle\s+on | arrive\s+at | make\s+that | i\s+meant? | we\s+get
      | it\s+(?: should | must ) \s+ be | must\s+be | is\s+therefore | we\s+can\s+answer | choose
      | antwort | richtig\s+ist | es\s+muss | also | kurz | réponse | donc | en\s+bref | respuesta
      | por\s+lo\s+tanto | risposta | quindi | in\s+breve | resposta | portanto | em\s+resumo | logo
      | ответ | значит | итак | короче ) \b
    | 答案 | 因此 | 所以 | 简单地说 | 应该是 | 答え | 正解 | したがって | 一言で | 回答
    | الإجابة | الجواب | إذن | باختصار | إجابتي
    """,
    _FLAGS,
)
"""Before an answer in its sentence: it is given as the answer."""
IS: Final = lazy_pattern(r"\b(?:it['’]s|it\s+is|c['’]est|es|è|é)\s+[*_\"'“”‘’«»`(]*\Z")
"""Right before a yes or a no: "it's a yes", "es sí"."""
THAT: Final = lazy_pattern(r"[*_\"'”’`]*\s+that\b")
"""After an adjective: what follows may be conceded only, "it is true that …, but"."""
NEGATED: Final = phrase_pattern(
    r"""
    (?: (?: \b (?: not(?!\s+only) | isnt | never | nicht | pas | non\s+è | no\s+es | não\s+é | не
      | anything\s+but | cannot\s+be | can\s+not\s+be | wrong\s+to
        | non | e\s+não ) | n['’]t (?:\s+be)? | [(,] \s* (?:y\s+)? no ) \b
      (?: \s+ (?: simply | really | actually | quite | be | a | the | say | answer | est | es | ist | è ) ){0,2}
    | 不是 | 而不是 | 并非 | ليست? | وليس
    ) [\s*_"'“”‘’«»「`$(\[{]*+ (?:\\text\{)? \Z
    """,
    _FLAGS,
)
"""Right before an answer: it is denied."""
NEGATES_TRUTH: Final = phrase_pattern(
    r"(?:\b(?:not(?!\s+only)|never|neither|cannot|isnt|nor|pas|nicht|no\s+es|non\s+è|não\s+é|не)\b|n['’]t\b)"
    r"(?:\s+(?:think|believe|the\s+case|feel|mean|agree|suppose)\b[^,;:.!?]*|(?:(?!\b(?:is|are|was|were)\b)[^,;:.!?])*)\Z"
)
"""Before an adjective in its clause: what it says is denied, in the same part or by "I do not think that …"."""
PREDICATE: Final = lazy_pattern(
    r"""
    (?: \b (?: is | are | was | were | be | been | hold | holds | that['’]s | it['’]s | isn['’]t | ist | est
      | es | è | é | seems? | appears? | remains? | considered | proven | deemed ) | n['’]t )
    (?: \s+ (?: not | only | also | indeed | clearly | simply | in\s+fact | therefore | thus | partly | hardly
      | barely | always | necessarily | entirely | completely | \w+ly | never | pas | nicht | absolument
      | wirklich ) ){0,3}
    [\s*_"'“”‘’«`(]*+ \Z
    | (?: утверждение | العبارة | это ) \s+ \Z
    | \A \W* not \s+ [*_"'“]* \Z
    | \b only \s+ (?:is|was) \s+ (?:it|this|that) \s+ \Z
    """,
    _FLAGS,
)
"""Right before an adjective that says so of a statement."""
ENDS_TRUTH: Final = lazy_pattern(
    r"[^\S\n]*[*_\"'“”’»`$)}\]]*+[^\S\n]*(?:[.!?,;:…—–|<~*\\/\[→✅✓✗❌]|\Z|\n|-\s)"
    r"|[*_\"'“”’»`$)}\]]*+\s+(?:(?:because|since|as|and|or|but|if|for|of|in|that|for|,|the|is|would|when|und"
    r"|weil|denn|da|at|porque|pois|parce|car|perché|так|потому|aber|mais|pero|ma|mas|et|y|e|и|но)\b|\()",
)

CHOSEN: Final = phrase_pattern(
    r"\b(?:say|answer|with|settle\s+on|arrive\s+at|make\s+that|meant|get|choose|should\s+be|must\s+be|not\s+\W*\w+\W*\s+but"
    r"|would\s+be|it['’]s|(?:evaluat|simplif|reduc|com|work|resolv|amount)\w{0,3}\s+(?:out\s+)?(?:to|as)|equals|returns|yields"
    r"|(?:rate|classify|label|consider|deem|judge|mark)\s+(?:it|this|that|the\s+\w+)(?:\s+as|\s+to\s+be)?)\s+[\s*_\"'“”‘’«»`($\[{]*\Z",
)
"""Right before an adjective that is chosen as the answer."""
IN_PART: Final = lazy_pattern(
    r"[*_\"'”’`]*\s+(?:of\b|in\s+(?:some|theory|certain|part|many|most)\b|for\s+(?:some|certain)\b)"
)
"""After an adjective: it holds of a part only."""
CONCEDES: Final = lazy_pattern(
    r"\W*(?:while|although|(?:even\s+)?though|despite|in\s+spite\s+of|contrary\s+to|unlike|whereas|obwohl|trotz"
    r"|bien\s+que|malgré|aunque"
    r"|a\s+pesar\s+de|sebbene|nonostante|embora|apesar\s+de|хотя|несмотря)\b"
)
"""Opens a part of a sentence that the response does not hold, up to the comma."""
RATHER: Final = lazy_pattern(r",\s*e\s+\Z")
"""Before the Portuguese "sim" where it means "rather": "não é sim, e sim não"."""
