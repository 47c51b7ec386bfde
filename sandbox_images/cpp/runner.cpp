#include <bits/stdc++.h>
// Before the program: what it neither finds by a name nor changes by a macro.
static std::FILE *@SECRET@_out;
static char @SECRET@_token[64];
__attribute__((constructor(101))) static void @SECRET@_begin() {
    std::FILE *in = ::fdopen(3, "r");
    if (!in || !std::fgets(@SECRET@_token, sizeof @SECRET@_token, in)) std::_Exit(1);
    std::fclose(in);
    @SECRET@_out = ::fdopen(4, "w");
}
static void @SECRET@_check(int holds, const char *what, const char *where, int line) {
    if (holds) return;
    std::fprintf(stderr, "%s:%d: Assertion `%s' failed.\n", where, line, what);
    std::abort();
}
static int @SECRET@_end() {
    std::_Exit(@SECRET@_out && std::fputs(@SECRET@_token, @SECRET@_out) >= 0 && !std::fflush(@SECRET@_out) ? 0 : 1);
}
// A program may bring a main of its own, which the tests do not need. A backslash at its end takes the next line.
#define main main_of_solution
@SOLUTION@

#undef main
#undef NDEBUG  // tests may include <cassert>, which looks at it again
#undef assert
#define assert(...) @SECRET@_check((__VA_ARGS__) ? 1 : 0, #__VA_ARGS__, __FILE__, __LINE__)
@TESTS@
signed main() {
    check();
    return @SECRET@_end();
}
