// what: large global arrays, deep recursion and a thread, and returns nothing from main
// mode: outside
// problem: echo
// verdict: passed
#include <cstdio>
#include <vector>

static int table[10000000];

int depth(int n) {
    volatile int kept = n;
    return n == 0 ? 0 : 1 + depth(kept - 1);
}

int main() {
    table[9999999] = depth(100000);
    int n;
    if (scanf("%d", &n) != 1) return 1;
    std::vector<long long> numbers(n);
    long long total = 0;
    for (auto &number : numbers) {
        if (scanf("%lld", &number) != 1) return 2;
        total += number;
    }
    printf("%lld", total + table[9999999] - 100000);
}
