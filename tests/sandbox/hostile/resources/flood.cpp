// what: prints without end
// mode: stdio
// problem: echo
// verdict: output_limit
#include <cstdio>

int main() {
    for (;;) puts("more and more and more");
}
