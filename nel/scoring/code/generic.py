"""Programs in languages that are not parsed: found by fences, tags and the marks that most languages share.

Depends on `fences`, and on `segments` to tell prose. These are marks, not grammars: a call can look like a definition,
so a name counts as defined only where a keyword, a type or an assignment introduces it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from nel.scoring.code.fences import Block, BlockChecks, blocks_of, dedented
from nel.scoring.code.segments import indent_of, looks_like_prose

_UNFENCED_CHARACTERS_MAX: Final = 250_000
_BLOCKS_MAX: Final = 256
_COMPARED_MAX: Final = 16
_NO_PROGRAMS: Final = frozenset(
    "bash sh shell zsh console terminal powershell cmd bat text txt plaintext output input stdin stdout json yaml yml "
    "toml ini csv xml markdown makefile dockerfile cmake none".split()
)
"""Tags of blocks that hold commands, data or output."""
_IMPORT = re.compile(
    r"""
    [ \t]*
    (?:
        \#[ ]* (?: include | define | pragma )\b                    # C, C++
      | import\b | using\b | use[ ] | package\b | require | from\b .* \bimport\b | open[ ]
      | library\( | extern\b | module\b                            # R, C, Haskell
      | <\?php | const[ ]+ .* =[ ]*require\(                        # PHP, JavaScript
      | -?pragma\b | \{-\#                                          # Haskell
    )
    """,
    re.VERBOSE,
)
_HEAD = re.compile(r"^[ \t]*(?:package\b|<\?php|module\b)", re.MULTILINE)
_COMMENT = re.compile(r"[ \t]*(?://|/\*|\*|#(?![ ]*(?:include|define))|--|;;|\"\"\")")
_START = re.compile(
    r"""
    [ \t]*
    (?:
        (?P<head> \#[ ]*include\b | \#! | <\?php | // | /\* )
      | (?P<import> package[ ]+\w | import[ ]+[\w{"'(*.] | using[ ]+\w | use[ ]+[\w:\\{]+;?$ )
      | (?P<rust> (?: pub (?: \(\w+\) )? [ ]+ )? (?: fn | struct | enum | impl | trait | mod )\b .*[{(;] )
      | (?P<function>
            func[ ]+[\w(] | (?: async[ ]+ )? function\b .*[({] | (?: local[ ]+ )? function[ ]
          | fun[ ]+\w | def[ ]+\w | sub[ ]+\w+ | proc[ ]+\w
        )
      | (?P<type> class[ ]+\w | module[ ]+\w+ )
      | (?P<modifier>
            (?: public | private | protected | static | final | abstract | export | extern | template | typedef
              | interface | union )\b .*[\w>){;]$
        )
      | (?P<variable> (?: const | let | var | val | local | my | our )[ ]+ .*= )
      | (?P<control> (?: if | for | while | switch | foreach | return | match )\b .*[({;:] )
      | (?P<shell> [A-Za-z_][\w-]*[ ]*\([ ]*\)[ ]*\{ )
      | (?P<lisp> \( (?: define | defun | defn | let | require )\b )
      | (?P<binding> \w+[ ]*::[ ] | [\w.]+[ ]* (?: <- | := )[ ] | \$\w+[ ]*= | main[ ]*= )
      | (?P<typed_variable>
            (?: unsigned[ ]+ | const[ ]+ )?
            (?: int | void | long | double | float | bool | char | auto | string | size_t | std::\S+ | [\w:]+<.*> )
            [ ]+ [\w*&]+
        )
      | (?P<call> [\w.:]+\(.*\)[ ]*[;{]?$ )
      | (?P<assignment> \w[\w.\[\]]*[ ]*[-+*/]?=[ ].* )
      | (?P<output> (?: puts | echo | read | print | printf )\b .* )
      | (?P<closing> [})\]]+[;,)]*$ | end$ | return\b )
    )
    """,
    re.VERBOSE,
)
"""The first line of some code, in any of the languages that nel runs or that models confuse them with."""
_STRONG_START: Final = re.compile(
    r"[ \t]*(?:return\b|(?:if|for|while)\b.*[({:]|(?:int|long|double|auto|let|var|const|val|std::)\b)"
)
_ENDS = re.compile(r".*[;{})\],]$|[ \t]+\S|[ \t]*(?:end|fi|done|esac|else|do|then|begin)\b|[ \t]*(?://|/\*|\*|#|--)")
_LABEL = re.compile(r"[A-Z][\w ]*:[ ]")
_READS = re.compile(
    r"\bcin\b|scanf|readline|readLine|read_line|stdin|Scanner|\bgets\b|Console\.Read|io\.read|<STDIN>|fgets|bufio"
    r"|^[ \t]*(?:while[ ]+)?(?:IFS=\S*[ ]+)?(?:read|mapfile|readarray)[ ]+[-\w]",
    re.MULTILINE,
)
_SCRIPT = re.compile(r"#!")
_MAIN = re.compile(r"\b(?:int|void|func|fn|fun|def|proc|auto)[ ]+main\b|^main[ ]*(?:=|::|\(\)[ ]*\{)", re.MULTILINE)
_LONG_LINE = re.compile(r"^[^\n]{401,}$", re.MULTILINE)
_NAMES = re.compile(
    r"""
      \b (?: function | func | fn | fun | def | sub | proc | class | struct | enum | interface | trait | type )[ ]+
      (?: \([^()\n]*\)[ ]* )? (?P<introduced> \w+ )                         # behind a keyword; Go's receiver before it
    | ^[ \t]* (?! return\b | else\b | new\b ) \w[\w:<>,&*\[\]]*[ ] [\w:<>,&*\[\] ]*? [&*]*
      (?P<typed> \w+ )[ ]* \((?: [^;\n]*\) [^;\n]* \{?$ | [^;{\n]*\) [^;{\n]* \{ )  # behind its type: int add(int a) {
    """,
    re.MULTILINE | re.VERBOSE,
)


def extract_generic(text: str, tags: frozenset[str], prompt: str, name: str | None) -> tuple[str, str] | None:
    """Return the code in a response and the program to be run, None if there is no code.

    >>> extract_generic("So:\\n```js\\nconst f = x => x;\\n```", frozenset({"javascript", "js"}), "", "f")[0]
    'const f = x => x;'
    """
    if text.lstrip().startswith("#!") and "```" not in text:
        return text.strip(), text.strip()  # a script with a #! line is code to its end
    blocks = blocks_of(text, _CHECKS)[-_BLOCKS_MAX:]
    tagged = [_code(block) for block in blocks if block.tag in tags and block.text.strip()]
    untagged = [_code(block) for block in blocks if not block.tag and looks_like_code(block.text)]
    related = [block for block in blocks if block.tag and block.tag not in tags | _NO_PROGRAMS]
    others = [_code(block) for block in related if looks_like_code(block.text)]
    unfenced = _unfenced(text, blocks)
    own = [_code(block) for block in blocks if block.tag in tags or (not block.tag and looks_like_code(block.text))]
    groups = [own, [unfenced] if unfenced else [], others]
    if name:
        for group in groups:
            makers = [code for code in group if defines(code, name)]
            if makers:
                code = _with_helpers(makers[-1], group, name)
                return code, _completed(code, prompt, name)
    for group in (tagged, untagged, groups[1], others):
        if group:
            code = _main_of(group)
            return dedented(code), _continued(code, prompt, name)
    return None


def defines(code: str, name: str) -> bool:
    """Return whether code seems to define a name.

    >>> [defines(code, "add") for code in ("int add(int a) {", "x = add(1);", "const add = (a) =>", "puts add(1)")]
    [True, False, True, False]
    """
    return name in code and _definition(name).search(_LONG_LINE.sub("", code)) is not None


@lru_cache(maxsize=64)
def _definition(name: str) -> re.Pattern[str]:
    word = rf"(?<![\w$]){re.escape(name)}(?![\w$])"
    # A name is an identifier, but may be any text that a row gives: escaped, it means the same in verbose mode.
    keywords = "function|func|fn|fun|def|defn|defun|define|sub|proc|class|struct|interface|enum|trait|type|module"
    no_types = "return|else|new|throw|case|puts|print|println|echo|assert|await|yield|not|and|or|in|say|p"
    return re.compile(
        rf"""
          (?P<keyword>                                    # function add, const add, func (r *T) add
            \b (?: {keywords}|object|record|const|let|var|val|local|my|our )\b \*?
            (?: [ ]+ (?: rec | mut | inline | async | function ) )? [ ]* (?: <[^<>\n]*> )? [ (&*]*
            (?: \([^()\n]*\)[ ]* )? (?: self\. | [A-Z]\w*\. )? {word}
          )
        | (?P<typed>                                      # int add(int a) {{
            ^[ \t]* (?! (?: {no_types} )\b ) (?: [\w:<>,&*\[\]?.]+[ \t]+ )+ [&*]* (?: \w+:: )? {word} [ \t]*
            \( (?: [^;\n]*$ | [^;{{\n]*\) [^;{{\n]* \{{ )
          )
        | (?P<assigned> ^[ \t]* (?: [\w.]+\. )? {word} [ \t]* (?: <- | :: | := | =(?!=) | :[ ]* (?: function | \( ) ) )
        | (?P<bare> ^[ \t]* {word} [ \t]*\([^;\n]*\)[ \t]* (?: \{{ | =(?!=) ) )          # add() {{ in shells
        | (?P<equation> ^{word}\b [^=\n(]* =(?!=) )                                     # add x y = … in Haskell
        """,
        re.MULTILINE | re.VERBOSE,
    )


def looks_like_code(text: str) -> bool:
    """Return whether most lines of a text look like a program's.

    >>> looks_like_code("int main() {\\n  return 0;\\n}"), looks_like_code("I cannot. Let me explain.")
    (True, False)
    """
    lines = [line for line in text[:_UNFENCED_CHARACTERS_MAX].split("\n") if line.strip()]
    like = sum(_is_code_line(line) for line in lines)
    return like * 2 > len(lines) and any(_START.match(line) and not _is_sentence(line) for line in lines)


def _is_sentence(line: str) -> bool:
    return line.rstrip()[-1:] not in ("{", "}", ";") and (looks_like_prose(line) or bool(_LABEL.match(line)))


def _is_code_line(line: str) -> bool:
    return not _is_sentence(line) and (_START.match(line) or _ENDS.match(line.rstrip())) is not None


def _is_only_code(text: str) -> bool:
    return looks_like_code(text) and not any(_is_sentence(line) for line in text.split("\n") if line.strip())


_CHECKS: Final = BlockChecks(is_whole=lambda _: True, is_open=lambda _: False, is_code=_is_only_code)


def _code(block: Block) -> str:
    return dedented(block.text.strip("\n")).rstrip()


def _unfenced(text: str, blocks: Sequence[Block]) -> str | None:
    """Return the longest stretch outside of blocks that begins and ends with code, None where there is only prose."""
    outside, place = [], 0
    for block in blocks:
        outside.append(text[place : block.start])
        place = block.end
    outside.append(text[place:])
    found = [code for part in outside if (code := _stretch(part[:_UNFENCED_CHARACTERS_MAX]))]
    return max(found, key=len, default=None)


def _stretch(text: str) -> str | None:
    lines = text.split("\n")
    start = next((at for at, line in enumerate(lines) if _START.match(line.rstrip()) and not _is_sentence(line)), None)
    if start is None:
        return None
    end = len(lines)
    while end > start and (not lines[end - 1].strip() or not _is_code_line(lines[end - 1])):
        end -= 1
    code = "\n".join(lines[start:end])
    return code.rstrip() if code.strip() and looks_like_code(code) else None


def _main_of(codes: Sequence[str]) -> str:
    """Return the last code with a main function, else that reads, else with a #! line, else that is in no other."""
    for find in (_MAIN.search, _READS.search, _SCRIPT.match):
        if marked := [code for code in codes if find(code)]:
            return marked[-1]
    last = codes[-_COMPARED_MAX:]
    return next(code for code in reversed(last) if not any(code in other and code != other for other in last))


def _with_helpers(main: str, codes: Sequence[str], name: str) -> str:
    """Return code after those earlier blocks that define what it uses, or import."""
    helpers = []
    words = set(re.findall(r"\w+", main)) - _names_in(main)
    for code in codes[: codes.index(main)]:
        only_imports = all(_IMPORT.match(line) for line in code.split("\n") if line.strip())
        if not defines(code, name) and (only_imports or words & _names_in(code)) and code not in main:
            helpers.append(code)
    return "\n\n".join([*helpers, main])


def _names_in(code: str) -> set[str]:
    return {match["introduced"] or match["typed"] for match in _NAMES.finditer(_LONG_LINE.sub("", code))}


def _continued(code: str, prompt: str, name: str | None) -> str:
    """Return a program of code that may be the rest of what the prompt begins."""
    last = next((line.strip() for line in reversed(prompt.split("\n")) if line.strip()), "")
    repeats = not last or last in {line.strip() for line in code.split("\n")}
    is_rest = bool(indent_of(code)) or code.count("}") > code.count("{") or _STRONG_START.match(code) is not None
    if not repeats and is_rest and (name is None or defines(prompt, name)):
        joint = "" if prompt.endswith("\n") or code.startswith("\n") else "\n"
        return f"{prompt}{joint}{code}"
    return dedented(code)


def _completed(code: str, prompt: str, name: str) -> str:
    """Return code that defines its name, after the prompt's imports and helpers if it lacks them."""
    match = _definition(name).search(prompt) if name in prompt else None
    if match is None:
        return code
    given = {line.strip() for line in code.split("\n")}
    above = prompt[: prompt.rfind("\n", 0, match.end()) + 1].split("\n")
    own = [
        at for at, line in enumerate(above)
        if line.strip() in given and line.strip() and not _IMPORT.match(line) and not _COMMENT.match(line)
    ]  # fmt: skip
    above = above[: own[0]] if own else above
    lacking = [line for line in above if line.strip() and not _COMMENT.match(line) and line.strip() not in given]
    if not lacking or _HEAD.search(code):
        return code
    if any(_IMPORT.match(line) for line in code.split("\n")):
        return "\n".join([*(line for line in lacking if _IMPORT.match(line)), code])
    head = "\n".join(above).rstrip()
    return f"{head}\n{code}" + "\n}" * max(0, head.count("{") - head.count("}"))
