#include <bits/stdc++.h>
// A program may bring a main of its own, which the tests do not need.
#define main main_of_solution
@SOLUTION@
#undef main
#undef NDEBUG
#include <cassert>
@TESTS@
signed main() {
    check();
    char token[64] = "";
    std::FILE *in = ::fdopen(3, "r"), *out = ::fdopen(4, "w");
    bool given = in && out && std::fgets(token, sizeof token, in) && std::fputs(token, out) >= 0 && !std::fflush(out);
    std::_Exit(given ? 0 : 1);
}
