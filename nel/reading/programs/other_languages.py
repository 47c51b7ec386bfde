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
_BLOCK_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_CODE = re.compile(
    r"""
    ^ [ \t]*
    (?:
        \#[ ]*include\b | \#! | <\?php | // | /\* | [})\]]+[;,)]*[ \t]*$ | (?: end | return )\b
      | (?: package | import | using | use )[ ]+[\w{"'(*:.\\] | (?: class | module )[ ]+\w
      | (?: pub[ ]+ )? (?: fn | struct | enum | impl | trait | mod )\b .*[{(;]
      | func[ ]+[\w(] | (?: async[ ]+ )? function\b .*[({] | function[ ] | (?: fun | def )[ ]+\w
      | (?: public | private | protected | static | final | abstract | export | extern
          | template | typedef | interface )\b .*[\w>){;][ \t]*$
      | (?: const | let | var | val | local | my | our )[ ]+ .*= | (?: puts | echo | read )\b
      | (?: if | for | while | switch | foreach | match )\b .*[({;:]
      | [A-Za-z_][\w-]*[ ]*\([ ]*\)[ ]*\{
      | (?: unsigned[ ]+ | const[ ]+ )? (?: int | void | long | double | float | bool | char | auto
          | string | size_t | \w+::\S+ | [\w:]+<.*> )[ ]+[\w*&]+
      | [\w.:]+\(.*\)[ ]*[;{]?[ \t]*$ | \w[\w.\[\]]*[ ]*[-+*/:]?=[ ] | \$\w+[ ]*=
    )
    """,
    re.MULTILINE | re.VERBOSE,
)
"""The first line of some code, in any language that nel runs or models confuse with one."""
_PROGRAM = re.compile(
    r"\b(?:int|void|func|fn|fun)[ ]+main\b|^#!|\bcin\b|scanf|read_?[lL]ine|stdin|Scanner|\bgets\b"
    r"|bufio|readFileSync|^[ \t]*(?:while[ ]+)?(?:IFS=\S*[ ]+)?(?:read|mapfile)[ ]+[-\w]",
    re.MULTILINE,
)
"""What a main function, a script, or code that reads its input looks like."""
_LONG_LINE = re.compile(r"^[^\n]{401,}$", re.MULTILINE)
_DEFINITION = re.compile(
    r"""
      \b (?: function|func|fn|fun|def|sub|class|struct|enum|trait|type|const|let|var|val )\b
      \*? (?: [ ]+ (?: mut | inline | async ) )? [ ]* (?: <[^<>\n]*> )? [ (&*]*
      (?: \([^()\n]*\)[ ]* )? (?: self\. )? (\w+)                       # after a keyword
    | ^[ \t]* (?! (?: return|else|new|throw|case|await|yield|echo|print|puts )\b )
      (?: [\w:<>,&*\[\]?.]+[ \t]+ )+ [&*]* (?: \w+:: )? (\w+) [ \t]*
      \( (?: [^;\n]*$ | [^;{\n]*\) [^;{\n]* \{ )                       # int add(int a) {
    | ^[ \t]* (?: [\w.]+\. )? (\w+) [ \t]* (?: := | =(?!=) | :[ ]* (?: function | \( ) )
    | ^[ \t]* (\w+) [ \t]*\([^;\n]*\)[ \t]*\{                           # add() {
    """,
    re.MULTILINE | re.VERBOSE,
)
"""What introduces a name: a keyword, a type or an assignment."""
_USE = re.compile(r"[ ]*:?=[ ]*(?:await[ ]+)?(\w+)[ ]*\(")
"""A call whose result a name is set to."""


def extract_unparsed(text: str, tags: Set[str], prompt: str, name: str) -> _Result:
    """Return the code in a response and the program to be run, None if there is no code.

    >>> extract_unparsed("So:\\n```js\\nconst f = x => x;\\n```", frozenset({"js"}), "", "f")[0]
    'const f = x => x;'
    """
    blocks, outside = blocks_of(text, lambda _: True)
    codes = [
        (tag, remove_margin(code).rstrip()) for tag, code in blocks[-_BLOCKS_MAX:] if code.strip()
    ]
    own = [code for tag, code in codes if tag in tags or (not tag and _CODE.search(code))]
    unfenced = [code for text in outside[-_BLOCKS_MAX:] for code in _stretches(text)]
    # A shell's commands have no marks: "ls -l" in a block, or as the whole response.
    whole = [] if any(map(PROSE.match, text.split("\n"))) else [text.strip("` \n")]
    groups = [group for group in (own, unfenced, [code for _, code in codes], whole) if any(group)]
    if not groups:
        return None
    makers = [
        (code, group)
        for group in groups
        for code in reversed(group)
        if name and any(_definitions(code, name))
    ]
    programs = [(code, groups[0]) for code in reversed(groups[0]) if _PROGRAM.search(code)]
    code, group = [*makers, *programs, (groups[0][-1], groups[0])][0]
    code = _with_helpers(code, group)
    return remove_margin(code), _complete(code, prompt, name)


def _introduced_names(code: str) -> set[str]:
    """Return the names that code introduces by a keyword or a type, not by an example of use."""
    matches = _DEFINITION.finditer(_LONG_LINE.sub("", code))
    introduced = (match for match in matches if match.lastindex in (1, 2))
    return {match[1] or match[2] for match in introduced if ">>>" not in match[0]}


def _definitions(code: str, name: str) -> Iterator[int]:
    """Yield where code seems to define a name, as ``int add(int a) {`` or ``const add =``."""
    lines = _LONG_LINE.sub(lambda line: " " * len(line[0]), code)
    for match in _DEFINITION.finditer(lines):
        # "const add = add(1, 2)" and "const add = require(…)" are examples of its use.
        end = match.end(match.lastindex or 0)
        use = _USE.match(lines, end)
        if match[match.lastindex or 0] == name and not (use and use[1] in ("require", name)):
            yield end


def _is_prose(line: str) -> bool:
    return not _COMMENT.match(line) and PROSE.match(line) is not None


def _ends_badly(line: str) -> bool:
    """Return whether code goes no further than above a line: blank, prose, or a call cut off."""
    return not line.strip() or _is_prose(line) or line.count("(") > line.count(")")


def _stretches(text: str) -> Iterator[str]:
    """Yield what begins with code in a text and goes on up to a paragraph of prose."""
    lines = text[:_UNFENCED_CHARACTERS_MAX].split("\n")
    at = 0
    while at < len(lines):
        start, at = at, at + 1
        if not _CODE.match(lines[start]):
            continue
        while at < len(lines) and (lines[at - 1].strip() or not _is_prose(lines[at])):
            at += 1
        end = at
        while end > start + 1 and _ends_badly(lines[end - 1]):
            end -= 1
        yield "\n".join(lines[start:end]).rstrip()


def _with_helpers(main: str, codes: Sequence[str]) -> str:
    """Return code after those earlier blocks that define what it uses, or import."""
    names = _introduced_names(main)
    words = set(re.findall(r"\w+", main)) - names
    earlier = [code for code in codes[: codes.index(main)] if not names & _introduced_names(code)]
    helpers = [code for code in earlier if words & _introduced_names(code) or _IMPORT.match(code)]
    return "\n\n".join([*helpers, main])


def _complete(code: str, prompt: str, name: str) -> str:
    """Return the program of code that repeats or continues the function that a prompt begins.

    Prompts of HumanEval-X and MultiPL-E are such. Repeated code gets the lines above it that it
    lacks, or the imports among them if it has imports of its own.
    """
    if not any(_definitions(code, name)):
        last_line = prompt.rstrip().rpartition("\n")[2].strip()
        is_open = prompt.count("{") > prompt.count("}") and last_line not in code
        above = prompt.removesuffix("\n")
        return f"{above}\n{code}" if is_open else remove_margin(code)
    places = (prompt.rfind("\n", 0, end) + 1 for end in _definitions(prompt, name))
    # A sentence may name the function too: "USER: Write a function add(a, b)".
    stub = next((place for place in places if _CODE.match(prompt, place)), 0)
    code_lines = {line.strip() for line in code.split("\n")}
    above_lines = _BLOCK_COMMENT.sub("", prompt[:stub]).split("\n")
    lacking = [
        line for line in above_lines if line.strip() not in code_lines and not _COMMENT.match(line)
    ]
    if any(map(_IMPORT.match, code.split("\n"))):  # its own head comes first
        lacking = [line for line in lacking if _IMPORT.match(line)]
    return "\n".join([*lacking, code]).lstrip("\n") if any(map(str.strip, lacking)) else code
