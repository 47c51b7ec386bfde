// what: the plain answer
// mode: outside
// problem: echo
// verdict: passed
#include <bits/stdc++.h>
using namespace std;

int main() {
    ios::sync_with_stdio(false);
    cin.tie(nullptr);
    long long n, total = 0, number;
    cin >> n;
    while (n-- && cin >> number) total += number;
    cout << total << "\n";
}
