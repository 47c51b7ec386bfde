// what: includes files of the system to read them in the compiler's messages
// mode: outside
// problem: echo
// verdict: syntax_error
#include "/etc/shadow"
#include "/proc/1/environ"
#include "/etc/passwd"

int main() {
    return 0;
}
