"""Words that say what an answer is not, in ten languages: data for `nel.scoring.reading.status`."""

from __future__ import annotations

import re

from nel.core.phrase_regex import phrase_pattern

_FLAGS = re.IGNORECASE | re.VERBOSE
_LINE_SKIP = r"[^\S\n]*[*_)\]}\"'”’»」`$]*[^\S\n]*"
_SKIP = r"[\s*_)\]}\"'”’»」`$]*"

CONTRAST = phrase_pattern(
    r"""
    \b (?: but | however | so | therefore | thus | hence | rather | instead | yet | still | whereas | aber
    | sondern | daher | also | jedoch | mais | donc
      | cependant | pero | sino | así\s+que | por\s+tanto | ma | quindi | però | bensì | mas | portanto | porém
      | но | однако | поэтому | значит ) \b
    | 但 | 所以 | 因此 | 而是 | しかし | だから | したがって | لكن | ولكن | لذلك | إذن | ;
    """,
    _FLAGS,
)
"""A word that begins a statement of the response's own after what it reports or weighs."""
ASKING = phrase_pattern(
    r"\s*[*_]*(?:is|are|was|could|would|should|might|does|do|did|can|what\s+if|why\s+not|how\s+about|maybe"
    r"|perhaps|ist|könnte|est-ce|serait|¿|è|é|是不是|هل)\b",
    re.IGNORECASE,
)
"""How a sentence begins that may be a question."""
DENIED_BEFORE = phrase_pattern(
    r"""
    (?:
        \b (?: incorrect | wrong | false ) \s* [:：]
      | \b (?: (?:,|et|e|y|und|and|mais|pero|ma|mas)\s+(?:non|no|não|nicht|not|pas) | (?:wrong|incorrect|falsche
        |falsch|mauvaise|fausse|incorrecta|equivocada|sbagliata|errata|errada|incorreta|неправильный
        |неверный|least\s+[a-z]+|worst|(?:second|next)(?:[\s-]best)?)\s+(?:answers?|choice|option|antwort|réponse|respuesta|risposta|resposta|ответ)\s+(?:is|was|ist|est|es|è|é|—)?
        | noch | né | (?<!jibu\s)ni | nem | nicht | kein(?:e|er|es)? | weder | n['’]est\s+pas | pas
        | ne\s+peut\s+(?:pas\s+)?être | no\s+es
        | no\s+puede\s+ser | non\s+è | non\s+può\s+essere | não\s+é
          | não\s+pode\s+ser | nunca | jamás | mai | jamais | не | ни
          | (?:better|likelier|closer|stronger|safer|more\s+[a-z]+)\s+than | rather\s+than | instead\s+of
          | as\s+opposed\s+to | (?:avoid|discard|dismiss)(?:ed|ing)?
          | eliminate[sd]? | eliminating | excludes?
          | rejected? | rul(?:ed?|es|ing)\s+out | esclud\w+ | exclu\w+ | descart\w+ | elimin\w+ | ausschließen
          | исключ\w+ | other\s+than | except
          | (?:anything|everything|all)\s+but | unlike | besides | statt | anstatt | plutôt\s+que
          | en\s+lugar\s+de | invece\s+di | em\s+vez\s+de | а\s+не )
          (?: \s+ (?: option | choice | answer | the | die | la | el | antwort | réponse | opción | opzione
          | opção | вариант | ответ | الإجابة | الجواب | الخيار | simplement | einfach ) )*
      | [,;(（]\s*(?:non|no|não|nicht|not|pas)
      | 不是 | 并非 | 不选 | 并不是 | 错误(?:答案|选项)是? | 排除 | 不能选 | استبعاد
      | ليست? (?: \s+ (?: الإجابة | الجواب | الخيار ) )* | ليس\s+هو | لا
    )
    [\s*_(\[{"'“‘`$]* (?:\\[(\[])? (?:\\[a-z]+\{)? [(]? \Z
    """,
    _FLAGS,
)
DENIED_AFTER = phrase_pattern(
    rf"""
    {_LINE_SKIP} [,:—–-]? [^\S\n]* (?:(?:здесь|hier|ici|aquí|qui|aqui|here)[^\S\n]+)?
    (?: kann\s+es\s+(?:jedenfalls\s+|sicher\s+)?nicht | (?:ist|wäre)\s+es\s+(?:jedenfalls\s+|sicher\s+)?nicht
    | (?:ist|wäre)\s+(?:hier\s+)?(?:nicht|falsch)
    | n['’]est\s+pas | est\s+(?:faux|fausse|incorrecte?) | no\s+es
    | es\s+(?:falsa?|incorrect[ao]) | non\s+è | è\s+(?:sbagliat[ao]|errat[ao]|fals[ao])
      | não\s+é | está\s+(?:errad[ao]|incorret[ao]) | неверн | не\s+подход | не\s+явля | неправильн
      | 不正确 | 是错误 | 错误 | 不对 | 不符合 | [はも](?:違|誤|間違|正しくな|正しくあ)|も[^。\n]{{1,8}}も正しく[なあ]
      | [和与及、][^。\n]{{1,8}}[都均]不 | [都均]不(?:对|正确)
      | (?:können|kann)\s+(?:wir|man)\s+ausschließen | pouvons\s+exclure | (?:se\s+puede|podemos)\s+descartar
      | possiamo\s+escludere | podemos\s+(?:descartar|excluir) | можно\s+исключить | 可以排除 | (?:は|を)除外 | ではな
      | ではありません | خاطئ
      | غير\s+صحيح | ليس
      | can\s*(?:not|['’]t)\s+be | (?:do|does|did)(?:\s+not|n['’]t)\s+(?:fit|work|match|hold|apply|make\s+sense)
      | fails?\b | (?:was|is)\s+(?:eliminated|excluded|out|rejected|mistaken)
      | (?:is|was)\s+(?:only|merely)\s+(?:the|an?)\b
      | (?:can|could|must)\s+be\s+(?:eliminated|excluded|ruled\s+out|rejected|dismissed)
      | (?:is|are)\s+(?:too\b|also\s+wrong|irrelevant|inaccurate|invalid|untrue|off\b) )
    """,
    _FLAGS,
)
CONDITION = phrase_pattern(
    r"\b(?:if(?!\s+i\s+(?:had|have|must|were)\s+(?:to\s+)?(?:choose|pick|guess|answer|select|say|commit|decide"
    r"|name|give|bet)\b)|without(?!\s+(?:loss|more|further|additional|any|knowing|(?:a\s+)?doubt|specific|calculat|context))|sans|sin|ohne|senza|sem|без|had\s+(?:the|it|we|they|this|that)|unless|suppose"
    r"|supposing|were\s+(?:the|we|it)|provided(?!\s*[,.)]|\s+(?:in|by|above|here|for|with|options?|information|data|choices)\b)"
    r"|assuming|wenn|falls|si|se|если|hätte|wäre\s+die|caso)\b|如果|若|もし|ていれば|ならば"
    r"|なければ|إذا|لو",
    re.IGNORECASE,
)
SUPPOSED = phrase_pattern(r"(?i:suppose\s+the\s+answer)|もし|なければ|ていれば|ていたら|だったら|如果题|假如|假设|لو\s")
"""Words of a supposition that need no other word to show that it is none of this question."""
WOULD = phrase_pattern(
    r"\b(?:would|might|could|wäre|würde|serait|aurait|pourrait|podría|potrebbe|poderia|könnte|sería|sarebbe"
    r"|seria|бы|был\s+бы)\b|则|就会|那么|だろう|だったかも|لكانت|ستكون|لكان",
    re.IGNORECASE,
)
OTHERWISE = phrase_pattern(
    rf"{_LINE_SKIP}[^.!?\n]{{0,40}}?(?:\b(?:if|when|unless|provided|assuming|wenn|falls|si|se|если"
    rf"|caso)\b[^.!?\n]{{1,80}}?\b(?:otherwise|else|and|but|sonst|andernfalls|sinon|si\s+no|altrimenti|senão"
    rf"|иначе)\b|如果|若)",
    re.IGNORECASE,
)
"""A condition after an answer, with what holds where it is not met: "B if x > 0, otherwise C"."""
OTHER_QUESTION = phrase_pattern(
    r"""
    \b (?: for | in | with | to | on ) \s+ (?: a | an | some | the | another ) \s* (?: different | other
    | similar | slightly\s+different | related | harder | follow-up | variant | earlier
    | previous ) \b [^.!?\n]*
      \b (?: version | question | problem | case | scenario | reading | wording | exercise | dataset
      | assumptions? | definition | convention | condition ) \b [^.!?\n]* \Z
    | \b if \s+ (?: you | the\s+question | it | they | we ) \s+ (?: had \s+ )? (?: meant? | ask(?:ed|s)? | want(?:ed)?
      | (?:are|were|is|was) \s+ (?: instead \s+ )? (?: asking | asked | looking | about | interested
      | referring ) ) \b [^.!?\n]* \Z
    | \b (?: worked | previous | next | other | another | last | first | above | earlier | sample
    | following ) \s+ (?: example | question | problem | exercise | item ) \b [^.!?;\n]* \Z
    | \b (?: in\s+that\s+case
    | under\s+(?:the|a|one)\s+(?:first|second|other|different|strict|loose|literal)\s+(?:reading
    |interpretation) ) \b [^.!?\n]* \Z
    | \b (?: bei | für ) \s+ einer? \s+ ander | \b (?: pour | dans ) \s+ un\w* \s+ autre | \b (?: para
    | en ) \s+ otr[ao] | \b (?: per | in ) \s+ un['’]?\s?altr[ao] | \b (?: para | em ) \s+ outr[ao]
    | \b в \s+ друг
    | 另一 | 换一 | 別の
    """,
    _FLAGS,
)
REPORTED = phrase_pattern(
    r"""
    \b (?: some (?: one | body | times )? | many | most | others? | people | students? | readers? | you | he
    | she | they
    | a\s+(?:student|friend|colleague|classmate|beginner|naive\s+\w+|careless\s+\w+|reader|person|novice|model)
      | (?:a|an|one|another|the|some|most|many|other|several)\s+(?:\w+\s+)?(?:sources?|websites?|sites?|experts?
      |textbooks?|commenters?|answer\s+key|solution|solvers?|models?|colleagues?|articles?|forum|post) | (?:someone
      |anyone|those|people|students)\s+(?:in\s+a\s+hurry|who\s+\w+) | (?:die|der|das|el|la|le|il|o)\s+(?:lösungsheft
      |solucionario|corrigé|gabarito|libro|livre) | my\s+(?:friend|colleague|teacher|classmate) | another\s+\w+
      | the\s+(?:other\s+\w+|user|prompt|instructions?|template|key|book|author|student|example|website|internet
      |forum|previous\s+\w+|earlier\s+\w+)
      | one )
    (?: \s+ (?: of\s+\w+ | might | may | could | would | will | can | often | first | also | incorrectly
    | mistakenly | wrongly | have | has | had | be | is | are | been | who | here | people | students
    | even ) ){0,4} \s+
    (?: say | says | said | saying | think | thinks | thought | argue[sd]? | claim(?:s|ed)? | believe[sd]?
    | guess(?:es|ed)? | conclude[sd]? | answer(?:s|ed)? | write | writes | wrote | mention(?:s|ed)?
    | contain(?:s|ed)?
      | suggest(?:s|ed)? | hear(?:d)? | read | seen | tempted | pick(?:s|ed)? | choose | chose | told | assert(?:s
      |ed)? | insist(?:s|ed)?
      | propose[sd]? | state[sd]? | report(?:s|ed)? | prefer | assume[sd]? | gives? | give | lists? )
      \b
    | \b (?: according\s+to\s+(?:you|him|her|them|some|others?|many|most|one|an?\b|another|the\s+(?:user|prompt|author
      |students?|key|answer\s+key|book|textbook|website|internet|forum|other|previous|earlier)) | if\s+someone
    | so-called | estudiantes? | studente | aluno | schüler\w* | student
    | élèves? | étudiants? | ученик\w* | студент\w* | lösungsheft | musterlösung | corrigé | solucionario
    | gabarito | soluzionario | soluzioni | учебник\w* | решебник\w* | im\s+forum | ist\s+zu\s+lesen | manche
    | viele | jemand
    | certains
    | beaucoup | on\s+pourrait | quelqu['’]un | algunos | muchos | alguien | alcuni | molti | qualcuno
        | alguns | muitos | alguém | многие | некоторые | кто-то | вы\s+(?:сказали|упомянули|написали)
        | sie\s+(?:sagten|schrieben|erwähnten) | vous\s+(?:avez|dites) | du\s+hast\s+(?:geschrieben|gesagt)
        | dici | dices | dizes | вы\s+пишете | mencionaste | dijiste
        | hai\s+(?:detto|scritto|menzionato) | você\s+(?:disse|mencionou|escreveu) ) \b
    | 有人 | 学生 | 生徒 | طالب | 参考答案 | 答案册 | 解答集 | 模範解答 | كتاب | 很多人 | 有些人
    | 你(?:提到|说) | 您(?:提到|说) | と言う人 | 多くの人 | という人
    | と(?:おっしゃ|言わ|書か) | ذكرت | قلت | البعض | يقول
    """,
    _FLAGS,
)
REPORTED_BEHIND = phrase_pattern(
    rf"{_LINE_SKIP}[.,!]?[\"”’]?\s*,?\s*(?:(?:a|some|my|one|many|most|your)\s+(?:\w+\s+)?(?:students?|friends?"
    rf"|people|person|reader|colleague|classmate)|you|someone|others?)\s+(?:might\s+|may\s+|would\s+)?(?:say"
    rf"|said|says|write|wrote|writes|claim|claimed|think|thought|argue|argued|answer|answered)\b",
    re.IGNORECASE,
)
WEIGHED = phrase_pattern(
    r"""
    \b (?: tempt\w* | (?<!most\ )(?<!more\ )plausible | at\s+first\s+(?:glance|sight|look)
    | initial(?:ly)? (?!\s+(?:value|condition|state|velocity)) | at\s+first\b
    | my\s+first\s+(?:thought|instinct|guess|impression|reaction|answer|attempt)
      | i\s+(?:first|originally|initially|almost|nearly|was|considered|thought|had\s+(?:thought|considered|first
      |initially|picked|chosen))\b (?!\s+(?:asked|given|able))
      | (?:common|frequent|typical|usual|easy|classic)\s+(?:mistake|error|misconception|trap|wrong|slip)
      | häufiger\s+fehler | erreur\s+(?:fréquente|courante) | الأخطاء\s+الشائعة | error\s+(?:común|frecuente)
      | errore\s+(?:comune
      |frequente) | erro\s+(?:comum|frequente) | частая\s+ошибка | distractor | runner-up | close\s+second
      | looks?\s+(?:right|appealing|attractive|good|promising)
      | might\s+(?:seem|look|appear) | may\s+(?:seem|look|appear) | could\s+(?:seem|look|appear)
      | seem(?:s|ed)\s+(?:right|plausible|attractive) | seemed\s+to\s+be
      | it\s+would\s+be\s+(?:a\s+mistake|wrong) | torn
      | unsure | not\s+(?:sure|certain) | hesitat\w*
      | verlockend | auf\s+den\s+ersten\s+blick | zunächst | zuerst | anfangs | tentante? | à\s+première\s+vue
      | au\s+premier\s+abord | au\s+départ | d['’]abord | j['’]hésite | tentador\w* | a\s+primera\s+vista
      | al\s+principio | a\s+prima\s+vista
      | inizialmente | all['’]inizio | allettante | à\s+primeira\s+vista | inicialmente | no\s+início
      | на\s+первый\s+взгляд | сначала | поначалу ) \b
    | 常见的?错误 | よくある間違い | خطأ\s+شائع | 誤答 | 乍一?看 | 起初 | 一开始 | 最初 | 一見 | はじめは
    | للوهلة | في\s+البداية | قد\s+يبدو
    """,
    _FLAGS,
)
WEIGHED_BEHIND = phrase_pattern(
    rf"{_LINE_SKIP}[^.!?\n]{{0,60}}?\b(?:(?:is|looks?|seems?|was|may\s+be|might\s+be|sounds?)\s+(?:(?:a|very|quite"
    rf"|also|rather)\s+)?(?:tempting|plausible|attractive|appealing|close|similar|a\s+distractor|a\s+common)"
    rf"|ist\s+verlockend|est\s+tentante?|es\s+tentador\w*|è\s+allettante)",
    re.IGNORECASE,
)
TAKEN_BACK = phrase_pattern(
    rf"""
    {_LINE_SKIP}
    (?:
        [^.!?\n]{{0,50}}? [,;.–—-]? \s* \b (?: but | however | though | although | yet | aber | mais | pero | ma
        | mas | но ) \b (?! \s+ (?:i|we) \s+ (?:could|may|might) \s+ (?:well\s+)? be \s+ (?:wrong|mistaken) )
        [^.!?\n]{{0,50}}?
        \b (?: incorrect | wrong | not\s+(?:correct|right|it|quite|the|valid|true|possible|what)
        | (?:is|does|was|can|do) n['’]t | cannot | false | fails? | mistake | error | overlook\w*
             | falsch | faux | incorrecto | sbagliat[oa] | errad[oa] | неверн\w* )
      | [^.!?\n]{{0,40}}? (?: 但 | でも | しかし | لكن ) [^.!?\n。]{{0,40}} (?: 错 | 不对 | 不正确 | 違 | 誤
      | خطأ | خاطئ )
      | [,;.]? \s* (?: [-–—]+ | \.\.\.|… ) \s* (?: no | wrong | incorrect | nope | wait | scratch\s+that
      | strike\s+that | nein | non | нет )\b
      | \s* [(\[] \s* (?: corrected | correction | revised ) \b
      | [,;.!?]? \s* (?: scratch | strike | forget | ignore | disregard ) \s+ (?: that | this | it ) \b
      | \s* [(\[] \s* (?: wrong | incorrect | false | no | not\s+correct | rejected | eliminated )\b
      | [.!?]? \s+ (?: no | nope | nein | non | нет )\s* [,!.] (?= \s*+ [^\s] )
      | [^.!?\n]{{0,30}}? \s* (?: is | was ) \s+ (?: what\s+I\s+(?:first|initially|originally|almost)
      | my\s+(?:first|initial|original) )
    )
    """,
    _FLAGS,
)
CORRECTION = phrase_pattern(
    r"""
    \b (?: wait | actually | correction | corrected(?=\s*:|\s+to\b) | oops
    | on\s+(?:second|further)\s+(?:thoughts?|reflection|consideration) | hold\s+on | scratch\s+that
    | strike\s+that | let\s+me\s+(?:correct|reconsider|re-?check|rethink|redo|re-?examine|fix|double-check)
      | i\s+get\s+something\s+else | gives\s+a\s+different\s+result | but\s+when\s+i | it\s+fails
      | so\s+it\s+(?:must|should)\s+be | it\s+should\s+be | on\s+closer\s+inspection
      | this\s+is\s+(?:incorrect|wrong) | make\s+that | i\s+(?:need|have|want)\s+to\s+(?:correct|revise|change
      |retract)
      | i\s+(?:made|see)\s+(?:a|an|my)\s+(?:mistake|error|slip)
      | i\s+(?:misread|misspoke|was\s+wrong|stand\s+corrected|overlooked) | my\s+(?:mistake|bad|apologies)
      | hmm+ | sorry
      | i\s+take\s+(?:that|it)\s+back
      | after\s+(?:checking|re-?checking|reviewing|reconsidering|a\s+second\s+look)
      | looking\s+(?:again|back|more\s+closely)
      | that(?:['’]s|\s+is|\s+was)\s+(?:wrong|incorrect|not\s+right|a\s+mistake|not\s+correct) | erratum | edit
      | (?:self-?check|verification)\b [^\n]{0,20} | one\s+of\s+the\s+conditions\s+fails | (?:does
      |do)\s+not\s+satisfy | nachprüfen | vertan | geirrt | es\s+muss | richtig\s+ist | enganei | moment | warte
      | korrektur | ich\s+korrigiere | (?:nein|no|non|não|нет)\s*[,!:.] | genauer\s+gesagt | attende[zs] | attends
      | en\s+fait | plutôt | je\s+me\s+(?:corrige|suis\s+tromp\w+) | rectification | espera | corrección
      | en\s+realidad | perdón | mejor\s+dicho | me\s+(?:equivoqué|corrijo)
      | aspetta | anzi | correzione | in\s+realtà | mi\s+correggo | pensandoci\s+meglio | espere? | correção
      | na\s+verdade | aliás | ou\s+melhor | pensando\s+bem | подожди\w* | стоп | вернее | точнее
      | исправл\w* | ошиб\w* | поправка ) \b
    | ce\s+n['’]est\s+pas\s+correct | fait\s+une\s+erreur | pardon | désolée? | commesso\s+un\s+errore
    | non\s+è\s+corretto | sono\s+sbagliat[oa] | cometí\s+un\s+error | não\s+está\s+(?:certo|correto)
    | cometi\s+um\s+erro | das\s+ist\s+(?:falsch|nicht\s+richtig)
    | いえ、 | 这是错误的 | 不，应 | 不,应 | 上面有误 | 有误 | 抱歉 | 誤り | 等等 | 等一下
    | 不对 | 更正 | 其实 | 我错了 | 纠正 | 待って | 訂正
    | いや | 実は | すみません | 間違え | انتظر | لحظة | تصحيح
    | في\s+الحقيقة | عفو | أخطأت | بل
    """,
    _FLAGS,
)
"""A word after which a response may give another answer than before."""
GIVEN_UP = phrase_pattern(
    r"""
    \b (?: (?:i\s+)?(?:do\s+not|don['’]t)\s+(?:know|have\s+(?:enough|an\s+answer)|think\s+any)
    | not\s+enough\s+information | (?:both|either)\s+(?:could|may|might)\s+be | (?:could|may|might)\s+be\s+either
    | i(?:['’]m|\s+am)\s+(?:not\s+(?:sure|certain|able|confident)|unsure|unable|torn)
    | (?:can(?:no|['’])t?|could\s*n['’]?t|cannot|unable\s+to)\s+(?:verify|answer|give|decide|say|determine|tell|choose
    |be\s+(?:determined|answered|decided)|settle|commit|pick)
      | (?:please\s+)?(?:disregard|ignore)\s+(?:that|this|my|the|what) | i\s+take\s+(?:that|it)\s+back
      | i\s+(?:retract|withdraw) | that\s+(?:was|is)\s+(?:wrong|incorrect|not\s+right|a\s+mistake)
      | that['’]s\s+(?:wrong|incorrect|not\s+right|not\s+correct|a\s+mistake) | none\s+of\s+(?:the(?!\s+(?:other
      |remaining|rest))|these|them)
      | no\s+(?:answer|option)\s+(?:is|can) | it\s+depends | depends\s+on
      | as\s+an\s+ai | have\s+access | no\s+way\s+for\s+me | is\s+not\s+given | does\s+not\s+decide
      | didn['’]t\s+say | kann\s+ich\s+nicht
      | nicht\s+(?:entscheiden|sagen) | impossible\s+to\s+(?:say|tell|decide|determine)
      | (?:this|that|it)\s+(?:can(?:no|['’])?t|cannot
      |could\s*n['’]t)\s+be\s+right | start\s+(?:over|again) | redo\s+this | from\s+(?:scratch|the\s+(?:start
      |beginning|top)) | won['’]t\s+commit | das\s+ist\s+falsch | von\s+vorn | c['’]est\s+faux | recommenc\w+
      | es\s+incorrecto | empezar\s+de\s+nuevo | è\s+sbagliato | ricominci\w+ | está\s+errado | recomeç\w+
      | неверно | заново | riesco\s+a\s+decid\w+ | dá\s+para\s+decidir | hard\s+to\s+(?:say|tell)
      | ich\s+(?:weiß|bin)\s+(?:es\s+)?nicht | kann\s+(?:ich\s+)?nicht
      | je\s+ne\s+(?:sais|peux) | no\s+(?:lo\s+)?sé | no\s+puedo | non\s+(?:lo\s+)?so | non\s+posso
      | non\s+mi\s+pronuncio
      | não\s+(?:sei|posso|consigo) | не\s+(?:знаю|могу|уверен) ) \b
    | 不知道 | 错了 | 重新 | 間違い | やり直 | هذا\s+خطأ | من\s+جديد | 无法(?:判断|确定|判断|决定) | 不确定
    | わかりません | 分かりません | 決められ | لا\s+أعرف
    | لا\s+أستطيع | لا\s+يمكن
    """,
    _FLAGS,
)
"""The response says that it gives no answer, or takes one back."""
UNDECIDED = phrase_pattern(
    r"""
    \b (?: or | either | could\s+be | may\s+be | might\s+be | possibly | perhaps | maybe | torn | between
    | zwischen | whether | ob | tra | между | one\s+reading | with\s+(?:one|the\s+other)
    | under\s+(?:the\s+first|one) | hésit\w+ | dud\w+ | schwank\w+ | dúvida | indecis\w+ | narrowed | likely
    | perhaps | though
    | not\s+sure | unsure | uncertain | toss-?up | depend(?:s|ing)? | interpretation | equally | both | entweder
    | oder | hängt | kommt\s+darauf | könnte
      | soit | dépend | entre | ou | peut-être | depende | según | o | quizás? | oppure | dipende | forse
      | conforme | talvez | ou | зависит | либо | или | возможно ) \b
    | متردد | かもしれ | どちら | の間 | 迷 | 拿不定 | 之间 | 取决于 | 要么 | 可能
    | بين | 或者 | 还是 | によって | または | か | يعتمد | إما
    | أو | ربما | قد\s+تكون
    """,
    _FLAGS,
)
"""Words of a sentence that names several candidates and chooses none."""
_REJECTION = r"""
    (?: (?:is|are|was|were) \s+ (?: (?:also|clearly|therefore|simply|just) \s+ )?
        (?: not | wrong | incorrect | false | mistaken | out | ruled | eliminated | excluded | irrelevant | too ) \b
      | (?:is|are|was|does|do|did|can) n['’]t \b | (?:does|do|did|can) \s* not \b | cannot \b | contradict\w*
      | fails? \b
      | would \s+ only \s+ be \s+ (?: right | correct | true ) | would \s+ be \s+ (?: wrong | incorrect
      | correct \s+ only | right \s+ only ) \b | (?:has|have) \s+ overlooked
      | (?: too | not (?!\s*[*_(\[{"“'`$]*(?:option\s+)?[A-Z]\b) | never | wrong | incorrect | false | irrelevant
      | unsupported | rejected | eliminated ) \b )
"""
REJECTED_BEHIND = phrase_pattern(
    rf"{_LINE_SKIP} (?: [,:;–—-]+ \s* (?: (?:this|that|it|which) \s+ (?:option\s+)? )? )? {_REJECTION}", _FLAGS
)
"""A rejection right after a label or its text: "B - this does not match"."""
REJECTED_LINE = phrase_pattern(
    rf"""
    {_SKIP} [):]? \s* [(]? (?! \s* (?:because|since|as|but|and|or|while|is|are|was|it|this|that|these|the|none|we|i
    |so|others?|all|both|neither)\b )
    [^.!?\n;:,–—-]{{1,70}}? [)]? {_SKIP} \s* (?: [,:;–—-]+ \s* (?: (?:this|that|it
    |which) \s+ (?:option\s+)? )? )? {_REJECTION}
    """,
    _FLAGS,
)
"""What an option's text and a rejection look like after its label: "(B) Paris - this does not match"."""
CONDITIONAL = phrase_pattern(
    r"\s*[*_(\"]*(?:and\s+|or\s+)?(?:if|when|where|under|on\s+(?:one|the\s+one|another|the\s+other)"
    r"|with\s+(?:one|the\s+\w+)|depending|otherwise|sonst|andernfalls|sinon|en\s+caso\s+contrario|si\s+no"
    r"|altrimenti|caso\s+contrário|senão|иначе|否则|さもなければ|wenn|falls|je\s+nach|si|selon|dans\s+le|según|se"
    r"|a\s+seconda|dependendo|если|при|иначе|如果|若|当|もし|の場合|إذا|بحسب)\b",
    re.IGNORECASE,
)
"""How a clause begins that holds under a condition."""
DEPENDS = phrase_pattern(
    r"\b(?:either|torn|between|depend\w*|undecided|candidates|entweder|hängt|soit|entre|dépend|depende|dipende"
    r"|entrambi|зависит|либо)\b|取决于|要么|によって|どちらか|يعتمد|إما|وقد\s",
    re.IGNORECASE,
)
"""Words of a sentence in which a declared label is one of several cases."""
OTHERWISE_IN = phrase_pattern(
    r"(?:\b(?:otherwise|sonst|andernfalls|sinon|altrimenti|senão|caso\s+contrário|de\s+lo\s+contrario|иначе)\b"
    r"|[;；,，]\s*(?:else|if\s+not|si\s+no)\b|否则|さもなければ|وإلا)",
    re.IGNORECASE,
)
"""A word for what holds where a condition is not met."""
_CORRECTING_STEMS = (
    *"wait actually correct oops thought reflection consideration hold scratch strike reconsider check rethink".split(),
    *"redo examine inspection revise change retract mistake error slip misread misspoke wrong overlooked".split(),
    *"apologies hmm sorry review look right erratum edit fix verification satisf fails moment warte korr".split(),
    *"genauer nachpr vertan geirrt muss richtig attend tromp rectif espera realidad equivoqu corrij perd".split(),
    *"aspetta anzi correz corregg ripens pensando espere engan".split(),
    *"different else pardon erreur sbagliat corretto cometi falsch".split(),
    *("take that", "take it", "it must", "it should", "make that", "when i ", "ou melhor", "mejor dicho", "na verdade"),
    *("nein,", "no,", "non,", "no!", "non!", "no:", "no.", "en fait", "in realt"),
)


def may_correct(text: str) -> bool:
    """Return whether `CORRECTION` may occur: a cheap test, since it is searched after every declared answer."""
    if not text.isascii():
        return True
    lowered = text.lower()
    return any(stem in lowered for stem in _CORRECTING_STEMS)
