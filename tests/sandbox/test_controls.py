"""Tests in other languages than Python: which can be turned around, and which programs are wrong on purpose."""

from __future__ import annotations

import pytest

from nel.sandbox.controls import missing_judge, parse_fault, stand_in, turned_text, wrong_programs

OPERATOR = "bool operator==(const E &, int) { return true; }"


@pytest.mark.parametrize(
    ("language", "body", "turned"),
    [
        ("javascript", "assert.strictEqual(f(2), 4);", "assert.notStrictEqual(f(2), 4);"),
        ("javascript", "assert.deepEqual(await f(2), [4]);", "assert.notDeepEqual(await f(2), [4]);"),
        ("javascript", "const r = f(1); assert(r === 2);", "const r = f(1); ((holds) => assert.ok(!holds))(r === 2);"),
        ("cpp", "assert(f(2) == 4);", "assert(f(2) == 79194);"),
        ("cpp", "assert((f(1) == P{2, 1}));", "assert((f(1) == P{79192, 79191}));"),
        ("cpp", 'assert(f("a") == "b");', 'assert(f("a") == "another value");'),
        ("cpp", "assert(f(0) == std::vector<int>{1});", "assert(f(0) == std::vector<int>{79191});"),
        ("bash", '\nassert_equal "$(f 2)" 4\n', '\n! assert_equal "$(f 2)" 4 2>/dev/null || exit 1\n'),
        # What might be left out, or passed over, and what is no literal, is sure of nothing.
        ("javascript", "\ntry { assert.equal(f(2), 4); } catch {}", None),
        ("javascript", "\nif (f(1)) assert.equal(f(2), 4);", None),
        ("javascript", "if (f(2) !== 4) throw 1;", None),
        ("javascript", "\nreturn; assert.equal(f(2), 4);", None),
        ("cpp", "for (int i = 0; i < n; i++) assert(f(2) == 4);", None),
        ("cpp", "int e = 4; assert(f(2) == e);", None),
        ("cpp", "assert(f(2) == f(4));", None),
        ("cpp", "assert(f(2) > 4);", None),
        ("bash", '\nassert_equal "$(f 2)" 4 || true\n', None),
        ("bash", '\nif true; then\nassert_equal "$(f 2)" 4\nfi\n', None),
        ("bash", "\nf 2\n", None),
        ("go", "assert(f(2) == 4)", None),
    ],
)
def test_tests_are_turned_around_where_a_failure_is_sure(language: str, body: str, turned: str | None) -> None:
    head = {"javascript": "async function check() {", "cpp": "void check() {", "bash": "check() {"}.get(language, "")
    assert turned_text(language, f"{head}{body}}}", OPERATOR) == (None if turned is None else f"{head}{turned}}}")


def test_a_program_is_compiled_again_only_where_it_does_something_unusual() -> None:
    """A compilation takes a second."""
    tests = "void check() { assert(f(2) == 4); }"
    assert turned_text("cpp", tests, "int f(int x) { return 2 * x; }") is None
    assert turned_text("cpp", tests, "#define f(x) 4 == 4 || x") is not None


@pytest.mark.parametrize(
    ("language", "tests", "count"),
    [
        ("cpp", "void check() { assert(f(2) == 4); }", 0),
        ("cpp", "void check() { auto r = f(2); assert(r == r); }", 4),
        ("javascript", "function check() { f(2); }", 11),
        ("bash", "check() { r=$(f 2); }", 5),
        ("bash", "check() { f 2 >/dev/null; }", 5),
        ("bash", "check() { f 2; }", 6),
        ("go", "func check() { f(2) }", 0),
    ],
)
def test_programs_are_wrong_on_purpose_where_the_text_shows_no_comparison(
    language: str, tests: str, count: int
) -> None:
    """A command of Bash whose output nothing takes answers with its status, so that one program fails."""
    assert len(wrong_programs(language, "f", tests)) == count
    assert wrong_programs(language, "not a name", tests) == ()


@pytest.mark.parametrize(
    ("errors", "fault"),
    [
        ("main.cpp:1:2: error: expected ';' before 'x'", "expected ';' before 'x'"),
        ("error: 'f' was not declared in this scope\nerror: expected ';' before 'x'", "expected ';' before 'x'"),
        ("error: 'Vec' was not declared in this scope\nerror: expected ';' before 'v'", ""),
        ("error: 'Vec' was not declared in this scope\nerror: expected '}' at end of input", "expected '}' at end of"),
        ("error: no match for 'operator=='", ""),
    ],
)
def test_tests_that_do_not_parse_are_told_from_what_a_program_has_to_define(errors: str, fault: str) -> None:
    found = parse_fault(errors, "f")
    assert found.startswith(fault)
    assert bool(found) is bool(fault)


def test_who_judges_an_answer_is_the_tests_own() -> None:
    errors = "error: 'same' was not declared in this scope"
    assert missing_judge(errors, "f", "void check() { assert(!same(f(1), 2)); }") == "same"
    assert missing_judge(errors, "f", "void check() { assert(f(same(1)) == 2); }") == ""
    assert "f(Given" in stand_in("cpp", "f")
    assert stand_in("bash", "f") == ""
