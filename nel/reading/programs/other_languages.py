"""Programs in languages that are not parsed: found by fences, tags and common marks.

These are marks, not grammars: a call can look like a definition, so a name counts as defined only
where a keyword, a type or an assignment introduces it. `python_source` tells prose.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from typing import Final

from nel.reading.programs.fences import blocks_of, remove_margin
from nel.reading.programs.python_source import PROSE

_Result = tuple[str, str] | None
_UNFENCED_CHARACTERS_MAX: Final = 250_000
_BLOCKS_MAX: Final = 256
_IMPORT = re.compile(
    r"[ \t]*(?:#[ ]*(?:include|define|pragma)\b|(?:import|using|use|package|extern|from)\b|require"
    r"|const[ ]+.*=[ ]*require\(|<\?php)"
)
_COMMENT = re.compile(r"[ \t]*(?://|/\*|\*|#(?![ ]*(?:include|define))|--|\"\"\")")
_CODE = re.compile(
    r"""
    [ \t]*
    (?:
        \#[ ]*include\b | \#! | <\?php | // | /\* | [})\]]+[;,)]*$ | (?: end | return )\b
      | (?: package | import | using | use )[ ]+[\w{"'(*:.\\] | (?: class | module )[ ]+\w
      | (?: pub[ ]+ )? (?: fn | struct | enum | impl | trait | mod )\b .*[{(;]
      | func[ ]+[\w(] | (?: async[ ]+ )? function\b .*[({] | function[ ] | (?: fun | def )[ ]+\w
      | (?: public | private | protected | static | final | abstract | export | extern
          | template | typedef | interface )\b .*[\w>){;]$
      | (?: const | let | var | val | local | my | our )[ ]+ .*= | (?: puts | echo | read )\b
      | (?: if | for | while | switch | foreach | match )\b .*[({;:]
      | [A-Za-z_][\w-]*[ ]*\([ ]*\)[ ]*\{
      | (?: unsigned[ ]+ | const[ ]+ )? (?: int | void | long | double | float | bool | char | auto
          | string | size_t | std::\S+ | [\w:]+<.*> )[ ]+[\w*&]+
      | [\w.:]+\(.*\)[ ]*[;{]?$ | \w[\w.\[\]]*[ ]*[-+*/:]?=[ ] | \$\w+[ ]*=
    )
    """,
    re.VERBOSE,
)
"""The first line of some code, in any language that nel runs or models confuse with one."""
_REST = re.compile(r"[ \t]|return\b|(?:if|for|while)\b.*[({:]|(?:int|long|double|auto|let|var)\b")
"""The first line of a function's body."""
_PROGRAM = re.compile(
    r"\b(?:int|void|func|fn|fun)[ ]+main\b|^#!|\bcin\b|scanf|read_?[lL]ine|stdin|Scanner|\bgets\b"
    r"|bufio|readFileSync|^[ \t]*(?:while[ ]+)?(?:IFS=\S*[ ]+)?(?:read|mapfile)[ ]+[-\w]",
    re.MULTILINE,
)
"""What a main function, a script, or code that reads its input looks like."""
_LONG_LINE = re.compile(r"^[^\n]{401,}$", re.MULTILINE)
_INTRODUCED = re.compile(
    r"\b(?:function|func|fn|fun|def|class|struct|enum|trait|type|const|let|var)[ ]+(\w+)"
    r"|^[ \t]*(?!return\b|else\b|new\b)\w[\w:<>,&*\[\]]*[ ][\w:<>,&*\[\] ]*?(\w+)[ ]*\("
    r"[^;{\n]*(?:\{|$)",
    re.MULTILINE,
)
"""Names after a keyword or a type."""


def extract_unparsed(text: str, tags: Set[str], prompt: str, name: str) -> _Result:
    """Return the code in a response and the program to be run, None if there is no code.

    >>> extract_unparsed("So:\\n```js\\nconst f = x => x;\\n```", frozenset({"js"}), "", "f")[0]
    'const f = x => x;'
    """
    blocks, outside = blocks_of(text, lambda _: True)
    codes = [
        (tag, remove_margin(code).rstrip()) for tag, code in blocks[-_BLOCKS_MAX:] if code.strip()
    ]
    own = [code for tag, code in codes if tag in tags or (not tag and _looks_like_code(code))]
    unfenced = [code for text in outside[-_BLOCKS_MAX:] for code in _stretches(text)]
    others = [code for tag, code in codes if tag and tag not in tags]
    for group in (own, unfenced, others) if name else ():
        makers = [code for code in group if _defines(code, name)]
        if makers:
            code = _with_helpers(makers[-1], group)
            return code, _complete(code, prompt, name)
    # A shell's commands have no marks: "ls -l" in a block, or as the whole response.
    rest = [code for tag, code in codes if not tag]
    if not any(map(PROSE.match, text.split("\n"))):
        rest = rest or [text.strip().strip("`").strip()]
    groups = (own, unfenced, list(filter(_looks_like_code, others)), rest)
    group = next(filter(any, groups), [""])
    code = next(reversed([code for code in group if _PROGRAM.search(code)] or group))
    code = _with_helpers(code, group)
    return (remove_margin(code), _continue_prompt(code, prompt, name)) if code else None


def _defines(code: str, name: str) -> bool:
    """Return whether code seems to define a name, as ``int add(int a) {`` or ``const add =``."""
    return name in code and _definition(name).search(_LONG_LINE.sub("", code)) is not None


def _definition(name: str) -> re.Pattern[str]:
    word = re.escape(name)
    # "const add = add(1, 2)" and "const add = require(…)" are examples of its use.
    use = rf"[ ]*:?=[ ]*(?:await[ ]+)?(?:require|{word})[ ]*\("
    word = rf"(?<![\w$]){word}(?![\w$])(?!{use})"
    return re.compile(
        rf"""
          \b (?: function|func|fn|fun|def|sub|class|struct|enum|trait|type|const|let|var|val )\b
          \*? (?: [ ]+ (?: mut | inline | async ) )? [ ]* (?: <[^<>\n]*> )? [ (&*]*
          (?: \([^()\n]*\)[ ]* )? (?: self\. )? {word}                       # after a keyword
        | ^[ \t]* (?! (?: return|else|new|throw|case|await|yield|echo|print|puts )\b )
          (?: [\w:<>,&*\[\]?.]+[ \t]+ )+ [&*]* (?: \w+:: )? {word} [ \t]*
          \( (?: [^;\n]*$ | [^;{{\n]*\) [^;{{\n]* \{{ )                       # int add(int a) {{
        | ^[ \t]* (?: [\w.]+\. )? {word} [ \t]* (?: := | =(?!=) | :[ ]* (?: function | \( ) )
        | ^[ \t]* {word} [ \t]*\([^;\n]*\)[ \t]*\{{                           # add() {{
        """,
        re.MULTILINE | re.VERBOSE,
    )


def _looks_like_code(text: str) -> bool:
    """Return whether a text holds some code, and at most as many lines of prose as others."""
    lines = [line for line in text[:_UNFENCED_CHARACTERS_MAX].split("\n") if line.strip()]
    return sum(map(_is_prose, lines)) * 2 <= len(lines) and any(map(_begins_code, lines))


def _begins_code(line: str) -> bool:
    return not _is_prose(line) and _CODE.match(line.rstrip()) is not None


def _is_prose(line: str) -> bool:
    is_code = line.rstrip()[-1:] in ("{", "}", ";") or _COMMENT.match(line)
    return not is_code and PROSE.match(line) is not None


def _ends_badly(line: str) -> bool:
    """Return whether code goes no further than above a line: blank, prose, or a call cut off."""
    return not line.strip() or _is_prose(line) or line.count("(") > line.count(")")


def _stretches(text: str) -> Iterator[str]:
    """Yield what begins with code in a text and goes on up to a paragraph of prose."""
    lines = text[:_UNFENCED_CHARACTERS_MAX].split("\n")
    at = 0
    while at < len(lines):
        start, at = at, at + 1
        if not _begins_code(lines[start]):
            continue
        while at < len(lines) and (lines[at - 1].strip() or not _is_prose(lines[at])):
            at += 1
        end = at
        while end > start and _ends_badly(lines[end - 1]):
            end -= 1
        code = "\n".join(lines[start:end]).rstrip()
        if _looks_like_code(code):
            yield code


def _with_helpers(main: str, codes: Sequence[str]) -> str:
    """Return code after those earlier blocks that define what it uses, or import."""
    names = _introduced_names(main)
    words = set(re.findall(r"\w+", main)) - names
    earlier = [code for code in codes[: codes.index(main)] if not names & _introduced_names(code)]
    helpers = [code for code in earlier if words & _introduced_names(code) or _IMPORT.match(code)]
    return "\n\n".join([*helpers, main])


def _introduced_names(code: str) -> set[str]:
    matches = _INTRODUCED.finditer(_LONG_LINE.sub("", code))
    return {match[1] or match[2] for match in matches}


def _continue_prompt(code: str, prompt: str, name: str) -> str:
    """Return a program of code that may be the rest of what the prompt begins."""
    last_line = prompt.rstrip().rpartition("\n")[2].strip()
    is_rest = code.count("}") > code.count("{") or _REST.match(code) is not None
    if (
        not last_line
        or last_line in code
        or not is_rest
        or not (not name or _defines(prompt, name))
    ):
        return remove_margin(code)
    above = prompt.removesuffix("\n")
    return f"{above}\n{code}"


def _complete(code: str, prompt: str, name: str) -> str:
    """Return code that defines its name, after the lines above the prompt's stub that it lacks."""
    match = _definition(name).search(prompt)
    code_lines = {line.strip() for line in code.split("\n")}
    above = prompt[: prompt.rfind("\n", 0, match.end()) + 1].split("\n") if match else []
    lacking = [
        line for line in above if line.strip() not in code_lines and not _COMMENT.match(line)
    ]
    if any(map(_IMPORT.match, code.split("\n"))):  # its own head comes first
        lacking = [line for line in lacking if _IMPORT.match(line)]
    return "\n".join([*lacking, code]) if any(map(str.strip, lacking)) else code
