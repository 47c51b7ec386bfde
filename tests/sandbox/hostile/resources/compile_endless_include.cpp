// what: includes itself and a device without end
// mode: outside
// problem: echo
// verdict: syntax_error|timeout|out_of_memory
#include "/dev/zero"
#include __FILE__

int main() {
    return 0;
}
