// what: stops every signal it can and sleeps
// mode: outside
// problem: echo
// verdict: timeout
#include <signal.h>
#include <unistd.h>

int main() {
    for (int number = 1; number < 65; ++number) signal(number, SIG_IGN);
    for (;;) sleep(3600);
}
