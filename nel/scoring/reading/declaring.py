"""The words with which a sentence declares its answer, in ten languages: "the answer is", "I would go with", "C'est".

Depends on the standard library alone.
"""

from __future__ import annotations

import re
from typing import Final

from nel.core.lazy_regex import lazy_pattern
from nel.scoring.reading.rules import Rule

LEAD: Final = lazy_pattern(
    r"""
    (?: (?: [\s]++ | \#+\s+ | [>*•|-]+\s+(?=[\w*"“(\`$-]) | [✅✓✔☑👉🎯➡️→⇒∴]+ | \d{1,2}[.)]\s+ )*+
      (?: [*_]{0,3}+ (?: so | thus | hence | therefore | then | and\ so | and | overall | okay | ok | well
        | consequently | indeed | sure
            | in\ short | in\ conclusion | in\ summary | to\ conclude | to\ summarize | as\ a\ result | finally | now
              | first(?=,)
            | (?: no | but | hmm ) (?=[,:]) | unlike\ [^,.]{1,60}(?=,) | while\ [^,.]{1,80}(?=,)
              | according\ to\ the\ (?:passage|text) | from\ the\ context | actually
            | step\ \d+
            | also | somit | daher | donc | ainsi | entonces | por\ lo\ tanto | así\ que | quindi | pertanto
              | portanto | assim
            | итак | значит | 所以 | 因此 | よって | したがって | つまり | إذن | لذلك ) (?! \w )
        [,:，、،.]? [*_]{0,3}\s* )?
      ){1,4}
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Marks and connectives at the start of a line or sentence."""
_COPULA: Final = (
    r"(?:is\ called|was\ called|is|was|are|must\ be|should\ be|would\ be|will\ be|has\ to\ be|turns\ out\ to\ be|"
    r"becomes|remains|were)"
)
_ADVERBS: Final = (
    r"(?:,?\s*\b(?:actually|indeed|therefore|thus|clearly|definitely|probably|then|simply|in\ fact|most\ likely|really|"
    r"certainly|donc|also|en\ realidad|in\ realtà|na\ verdade|في\ الواقع)\b,?|\s*(?:其实|実際には))?"
)
STRONG: Final = Rule(
    rf"""
    (?:
      (?<![a-z]) (?: answers? | ans | solution | response | conclusion | guess | result | outcome | reply ) (?![a-z])
      [\]"*_`'>)]*+
      (?: \s*\([^()\n]{{0,60}}\) )?
      (?:
          [\s*_"'`]* (?: [:：=→⇒] (?!//) | (?<=\s)[-–—](?=\s) )
        | [^.!?:：=→\n]{{0,80}}? (?: [\s*_,)]
          | (?<=["'”’]) ) (?<! \b we\  ) (?<! \b you\  ) {_COPULA} (?! \w ) (?: \s*(?:that\b|[:：]) )?
        | \. (?= \s )  (?<= \bans\. )
      )
      {_ADVERBS}
    | \b i (?: ['’](?:d|ll|m) | \ would | \ will | \ am )? \s
        (?: (?!not|never|cannot|can|could|don)\w+\s )? (?: answer | say
      | go(?:ing)?\ with | choose | pick | select | settle\ on
        | meant | conclude ) (?! \w ) (?: \s that \b )? :?
    | \b but\ the\ (?:passage|text)\ means
    | \b give \s our \s answer \s* :
    | (?: short | corrected? | revised | my | final ) \s+ (?: answer | guess ) \s* :
    | \b (?: make\ that | i\ choose | after\ checking: | tl;dr: | attempt: | kurz\ gesagt: | en\ résumé\ :
      | en\ resumen: | in\ breve: | em\ resumo:
        | короче\ говоря: | باختصار:
        | вернее: | 正しくは | en\ fait\ : | en\ realidad: | anzi: | na\ verdade: | (?<!不)应该是
          | (?<=،\ )بل\ | it\ should\ be\b )
    | (?: antwort | endantwort | lösung | ergebnis | réponse | résultat | solution | respuesta | solución
        | resultado | risposta
      | soluzione | risultato
        | resposta | solução ) (?! \w ) [*_"'>\]]*+
        (?: (?:\s\w+){{0,2}} [\s*_]* [:：=]
          | [^.!?:：=\n]{{0,60}}? \b (?<!non\ ) (?<!no\ ) (?<!não\ ) (?<!n['’]) (?: ist | lautet | sei | est | serait
          | es | sería | è | sarebbe | é | seria )\b \s*:? )
      {_ADVERBS}
    | \b(?: ist | lautet ) \s (?: die | meine ) \s (?: \w+ \s )? antwort \b
    | \b richtig \s ist \b
    | \b ich \s würde (?= \s [^.]+ \s antworten )
    | \b (?: je\ répondrais | yo\ respondería | eu\ responderia | risponderei )
    | (?: ответ(?:ом)? | решение | результат ) (?! \w ) [*_]*+ (?: [\s*_]* [:：=]
      | [^.!?:：=—–\n]{{0,40}}? (?: \s[—–-]\s | \b(?:это|будет)\b ) )
    | \b я \s бы \s ответил: | \b на \s самом \s деле \s ответ:
    | (?: 答案 | 正解 | 解答 | 回答 | 答え | 最终结果 | (?:^|所以|因此)结果 | 結果(?=は) | (?:^|所以|因此)解 )
      [*_】\]]*+ (?: \s*[:：] | [^。:：，,、]{{0,6}}? (?: (?<!不)是 | 为
      | は ) \s*[:：]? ) {_ADVERBS}
    | 【答案】
    | (?: الإجابة | الجواب | إجابتي | الحل | النتيجة | فالإجابة ) [*_]*+ (?: \s\w+ )? (?: \s في\ الواقع )? (?: \s*[:：]
      | \s (?:هي|هو) (?!\w) :? )
    )
    [\s:：]*+
    """,
    flags=re.VERBOSE,
)
"""Words that declare an answer; it stands after them."""
MEDIUM: Final = lazy_pattern(
    rf"""
    (?:
      A: (?=\ ) | (?: it | that | this ) (?: ['’]s | \ (?:{_COPULA}) ) (?! \w ) (?: \s (?: (?: [a-z]+(?:ed|en|wn|ld)
        | born | set | built | found | won ) \s )? (?: on | in | by | at | from ) (?= \s ) )?
    | (?: you['’]re\ thinking\ of | the\ passage\ (?:names|gives|means) | what\ is\ used\ is | the\ (?: one
      | \w+ )\ in\ question\ (?:is|was) )
    | i['’]m\ (?:fairly\ )?certain\ it\ was | the\ passage\ says\ it\ (?:is|was) | (?:but\ )?the\ passage\ means
    | es\ handelt\ sich\ um | gesucht\ ist | es\ (?:ist|muss) | das\ ist | c['’]est(?:\ donc)? | il\ s['’]agit\ de
      | se\ trata\ de | (?: es | è | é | это ) (?! \w ) | si\ tratta\ di | trata-se\ de
    | речь\ идёт\ о\ следующем: | 是 | 应该是 | それは | إنها | المقصود\ هو
    )
    (?: \s+ (?:indeed|therefore|clearly) \b )? (?: \s*: )? \s*+
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Words at the start of a sentence that say what something is."""
NOT_BUT: Final = Rule(
    r"""
      \b (?: not | isn['’]t | nicht | pas | no\ es | non\ è | não\ é | не ) \s (?! only | to\ be ) [^;]+? ,? \s
      (?: but | sondern | mais | sino | bensì | mas | e\ sim | а ) \s (?P<west> .+ )
    | 不是 .+? 而是 (?P<zh> .+ ) | .+? ではなく (?P<ja> .+ ) | ليست .+? \s بل \s (?P<ar> .+ )
    """,
    flags=re.VERBOSE,
)
"""A denial that names the answer after it: "not London but Paris"."""
FIRST: Final = lazy_pattern(
    r"""
      (?P<is> .+? ) \s (?: is | was | must\ be ) \s (?: the | my | our ) \s (?: \w+ \s ){0,2} (?: answer
        | best\ fit ) \b
    | .*? \b (?: get | gives(?:\ us)? | arrive\ at | have | makes | leaves ) \s (?P<as> .+? ) \s (?: as \s )? (?: the
      | our | my ) \s (?: final\ |correct\ )? answer \b
    | .*? \b ist \s (?P<ist> .+? ) \s die \s (?: richtige | korrekte ) \s antwort \b
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Sentences in which the answer stands first: "Paris is the answer"."""
HEADING: Final = lazy_pattern(
    r"""
    [\s\#*_>|`\[<•🎯✅-]*+ (?: (?: \d{1,2}[.)] | step\ \d+: )\ )?
    (?: (?: the | my | your | so,? | therefore,? | thus,? | hence,? | final | correct | corrected | direct | short
      | endgültige | réponse\ finale | finale? | finals? | richtige
      | 最终 | 最終 | 正确 | مـ | окончательный | итоговый | final_ | step\ \d+: | \\textbf\{ | \w++ (?=\s) )\s*+ ){0,4}
    (?: (?:<\|)?begin_of_solution | answers? | solution | result | output | response | final | conclusion | antwort
      | lösung | ergebnis | réponse | respuesta | risposta | resposta | ответ | 答案 | 答え | 回答 | 解答 | 正解
      | الإجابة | الجواب | sentiment | label | category | class | verdict | classification
        | (?:answer|conclusion)\ (?:is|we\ are\ looking\ for\ is) )
    (?: \s+ (?: is | finale? | correcta? | correta | النهائية | is\ therefore | to\ the\ question\ is ) )?
    [\s*_\]>|:：}`]*+
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""A line that announces the answer on the next one."""
