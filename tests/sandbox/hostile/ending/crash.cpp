// what: prints the right sum and writes to address zero
// mode: outside
// problem: echo
// verdict: runtime_error
#include <iostream>

int main() {
    long long n, total = 0, number;
    std::cin >> n;
    while (n-- && std::cin >> number) total += number;
    std::cout << total << std::endl;
    volatile int *nowhere = nullptr;
    *nowhere = 1;
    return 0;
}
