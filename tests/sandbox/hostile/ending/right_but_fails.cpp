// what: prints the right sum and returns 1
// mode: outside
// problem: echo
// verdict: runtime_error
#include <iostream>

int main() {
    long long n, total = 0, number;
    std::cin >> n;
    while (n-- && std::cin >> number) total += number;
    std::cout << total << std::endl;
    return 1;
}
