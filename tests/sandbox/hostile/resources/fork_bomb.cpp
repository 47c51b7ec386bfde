// what: forks without end
// mode: outside
// problem: echo
// verdict: runtime_error|timeout|out_of_memory
#include <unistd.h>

int main() {
    for (;;) fork();
}
