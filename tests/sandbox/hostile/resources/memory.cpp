// what: takes memory by malloc and fills it
// mode: outside
// problem: echo
// verdict: out_of_memory|runtime_error|timeout
#include <cstdlib>
#include <cstring>

int main() {
    for (;;) {
        void *block = malloc(4 << 20);
        if (!block) abort();
        memset(block, 1, 4 << 20);
    }
}
