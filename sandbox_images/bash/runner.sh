exec 13<&3 14>&4 3<&- 4>&-
assert_equal() { [ "$1" = "$2" ] || { echo "assertion failed: expected '$2', got '$1'" >&2; exit 1; }; }
@SOLUTION@

@TESTS@

check || { echo "assertion failed: check returned $?" >&2; exit 1; }
read -r __nel_token <&13 && printf '%s' "$__nel_token" >&14
exit 0
