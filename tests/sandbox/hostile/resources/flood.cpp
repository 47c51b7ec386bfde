// what: prints without end
// mode: outside
// problem: echo
// verdict: output_limit
#include <cstdio>

int main() {
    for (;;) puts("more and more and more");
}
