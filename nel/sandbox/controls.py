"""Tests in other languages than Python: programs that are wrong on purpose, and the tests turned around.

Tests that pass each of the wrong programs check nothing. A program that passes tests and their opposite, too, answers
none of them (see `turned`). Nothing here parses these languages: where a text does not show what it does, there is no
control.

Pure functions of the tests' text.
"""

from __future__ import annotations

import re
from typing import Final

_NAME: Final = re.compile(r"[A-Za-z_$][\w$]*")
_NUMBER: Final = 7919
_JAVASCRIPT_VALUES: Final = ("undefined", "null", "0", "7919", "-7919", "''", "'another value'", "[]", "({})", "true")
_JAVASCRIPT_VARYING: Final = """var NAME = ((n) => function (...given) {
    for (const one of given) {
        if (Array.isArray(one)) one.push(n);
        else if (one && typeof one === "object") one[n] = n;
    }
    return n += 104729;
})(7919);"""
_BASH_VALUES: Final = ("''", "0", "7919", "'another value'", "$RANDOM$RANDOM")
_CPP_TOUCH: Final = """
template <class T, class = void> struct nel_touch { static void on(const T &) {} };
template <class T> struct nel_touch<T, std::void_t<decltype(std::declval<T &>().push_back(typename T::value_type()))>> {
    static void on(T &one) { one.push_back(typename T::value_type()); }
    static void on(const T &) {}
};
"""
_CPP_ANSWERS: Final = (("int", "7919"), ("int", "0"), ("int", "-7919"), ("std::string", "{}"))
_CHECK: Final = {
    "javascript": re.compile(r"\bcheck\s*(?:=\s*(?:async\s*)?(?:function\b[^(]*)?)?\([^)]*\)\s*(?:=>\s*)?\{"),
    "cpp": re.compile(r"\bvoid\s+check\s*\(\s*(?:void)?\s*\)\s*\{"),
    "bash": re.compile(r"\bcheck\s*(?:\(\s*\))?\s*\{"),
}
_CONTROL: Final = re.compile(
    r"\b(?:if|for|while|do|switch|case|try|catch|return|goto|until|exit|break|continue|throw|forEach|then|setTimeout"
    r"|exec|trap|set|function|lambda)\b|=>|\?|\|\||&&|\[[&=\]]"
)
"""What may leave out what follows it, or pass over its failure; more than that in some languages."""
_REVERSED_METHODS: Final = {
    "equal": "notEqual",
    "strictEqual": "notStrictEqual",
    "deepEqual": "notDeepEqual",
    "deepStrictEqual": "notDeepStrictEqual",
    "match": "doesNotMatch",
    "throws": "doesNotThrow",
    "rejects": "doesNotReject",
}
_REVERSED_METHODS.update({new: old for old, new in list(_REVERSED_METHODS.items())})
_JAVASCRIPT_ASSERT: Final = re.compile(r"(?m)((?:^|(?<=;))[ \t]*(?:await[ ]+)?)assert(?:\.strict)?(?:\.(\w+))?\(")
_CPP_ASSERT: Final = re.compile(r"\bassert\s*\((?P<left>[^;]*?)==(?P<right>[^;=]*?)\)\s*;")
_CPP_VARIABLE: Final = re.compile(
    r"\w+\s*\(|\b(?!(?:int|long|short|unsigned|signed|double|float|char|bool|string|size_t)\b)[a-z_]\w*\b(?!\s*(?:<|::|\{))"
)
_CPP_LITERAL: Final = re.compile(r"(?<![\w.])\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\"(?:[^\"\\\n]|\\.)*\"")
_CPP_SUSPECT: Final = re.compile(
    r"\boperator\b|#[ \t]*define|exit|\b(?:fork|exec\w*|syscall|asm|signal|sigaction|terminate|longjmp|__attribute__"
    r"|write|fdopen|constructor)\b"
)
_BASH_ASSERT: Final = re.compile(r"^([ \t]*)assert_equal[ \t]([^|&;\n]*)$", re.MULTILINE)
_COMMENTS: Final = {
    "javascript": re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL),
    "cpp": re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL),
    "bash": re.compile(r"(?m)^[ \t]*#[^\n]*"),
}
_STRUCTURE: Final = re.compile(
    r"error: (?:expected .}. at end of input|missing terminating|unterminated |stray |unable to find string literal)"
)
_EXPECTED: Final = re.compile(r"error: expected ")
_UNDECLARED: Final = re.compile(r"error: .(\w+). (?:was not declared|does not name a type|has not been declared)")


def wrong_programs(language: str, entry_point: str, tests: str) -> tuple[str, ...]:
    """Return programs of which sound tests fail one at least; none where the text shows that the tests compare.

    >>> wrong_programs("bash", "f", 'check() { r=$(f 2); }')[2]
    'f() { echo 7919; }'
    """
    if _NAME.fullmatch(entry_point) is None or (language == "cpp" and _compares(entry_point, tests)):
        return ()
    if language == "javascript":
        texts = [f"var NAME = function (...given) {{ return {value}; }};" for value in _JAVASCRIPT_VALUES]
        texts.append(_JAVASCRIPT_VARYING)
    elif language == "bash":
        texts = [f"NAME() {{ echo {value}; }}" for value in _BASH_VALUES]
        if re.search(rf"(?m)(?:^|[;{{!&|]|\b(?:if|while|until))[ \t]*{re.escape(entry_point)}\b(?![^\n;]*>)", tests):
            texts.append("NAME() { return 1; }")  # its status is its answer
    elif language == "cpp":
        texts = [_cpp(kind, answer) for kind, answer in _CPP_ANSWERS]
    else:
        return ()
    return tuple(text.replace("NAME", entry_point) for text in texts)


def stand_in(language: str, entry_point: str) -> str:
    """Return a program that takes and gives what it can, for tests to be compiled with; empty where there is none."""
    is_possible = language == "cpp" and _NAME.fullmatch(entry_point) is not None
    return _cpp(*_CPP_ANSWERS[0]).replace("NAME", entry_point) if is_possible else ""


def _cpp(kind: str, answer: str) -> str:
    touch = "(nel_touch<std::decay_t<Given>>::on(given), ...)"
    return f"{_CPP_TOUCH}template <class... Given> {kind} NAME(Given &&...given) {{ {touch}; return {answer}; }}"


def turned_text(language: str, tests: str, source: str) -> str | None:
    """Return tests that no program passes which passes these and answers them; None where that is not sure.

    Args:
        source: The program; compiling one takes seconds, so that it is done only where it does something unusual.

    >>> turned_text("javascript", "function check() {\\n  assert.equal(f(1), 2);\\n}", "")
    'function check() {\\n  assert.notEqual(f(1), 2);\\n}'
    """
    if language not in _CHECK:
        return None
    if language == "cpp" and _CPP_SUSPECT.search(source) is None:
        return None
    turn = {"javascript": _turned_javascript, "bash": _turned_bash, "cpp": _turned_cpp}[language]
    head, first, rest = _parts(language, tests)
    return head + turn(first) + rest if turn(first) != first else None


def parse_fault(errors: str, entry_point: str) -> str:
    """Return why tests do not parse, by what a compiler says of them without a program; empty where they do.

    What it says of a type that the program has to define is no fault of theirs.

    >>> parse_fault("main.cpp:9:2: error: expected '}' at end of input", "f")
    "expected '}' at end of input"
    """
    is_known = set(_UNDECLARED.findall(errors)) <= {entry_point}
    for line in errors.splitlines():
        if _STRUCTURE.search(line) or (is_known and _EXPECTED.search(line)):
            return line.partition("error: ")[2]
    return ""


def missing_judge(errors: str, entry_point: str, tests: str) -> str:
    """Return a name that tests do not define and whose word on an answer they take; empty where there is none.

    Args:
        errors: What a compiler says of the tests with a program that defines the entry point.

    >>> missing_judge("error: 'same' was not declared in this scope", "f", "assert(same(f(1), 2));")
    'same'
    """
    judges = re.findall(rf"\bassert\s*\([\s(!]*(\w+)\s*\([^;]*?\b{re.escape(entry_point)}\s*\(", tests)
    return next((name for name in judges if name in _UNDECLARED.findall(errors)), "")


def _parts(language: str, tests: str) -> tuple[str, str, str]:
    """Return tests in three parts, without their comments.

    The second is what of ``check`` runs whatever the program answers, so far as the text shows.
    """
    begin = _CHECK[language].search(tests)
    if begin is None:
        return tests, "", ""
    body = _COMMENTS[language].sub("", tests[begin.end() :])
    control = _CONTROL.search(body)
    if control is None:
        return tests[: begin.end()], body, ""
    end = body.rfind(";" if language == "cpp" else "\n", 0, control.start()) + 1
    return tests[: begin.end()], body[:end], body[end:]


def _compares(entry_point: str, tests: str) -> bool:
    """Return whether C++ tests begin by comparing an answer with a literal."""
    return any(
        re.search(rf"\b{entry_point}\s*\(", found["left"]) and _turned_right(found) != found[0]
        for found in _CPP_ASSERT.finditer(_parts("cpp", tests)[1])
    )


def _turned_javascript(text: str) -> str:
    def turned(found: re.Match[str]) -> str:
        name = found[2] or "ok"
        if name == "ok":
            return f"{found[1]}((holds) => assert.ok(!holds))("
        return f"{found[1]}assert.{_REVERSED_METHODS.get(name, name)}("

    return _JAVASCRIPT_ASSERT.sub(turned, text)


def _turned_bash(text: str) -> str:
    return _BASH_ASSERT.sub(r"\1! assert_equal \2 2>/dev/null || exit 1", text)


def _turned_cpp(text: str) -> str:
    return _CPP_ASSERT.sub(_turned_right, text)


def _turned_right(found: re.Match[str]) -> str:
    """Return an assertion that expects other literals; as it is where its right side is more than literals."""
    if _CPP_VARIABLE.search(_CPP_LITERAL.sub("0", found["right"])):
        return found[0]
    start, end = (place - found.start() for place in found.span("right"))
    return found[0][:start] + _CPP_LITERAL.sub(_other_literal, found["right"]) + found[0][end:]


def _other_literal(found: re.Match[str]) -> str:
    return '"another value"' if found[0].startswith('"') else f"{_NUMBER}{found[0].lstrip('0')}"
