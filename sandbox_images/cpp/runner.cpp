#include <bits/stdc++.h>
#include <unistd.h>
using namespace std;
@SOLUTION@
#undef NDEBUG
#include <cassert>
@TESTS@
int main() {
    check();
    char token[64];
    ssize_t size = ::read(3, token, sizeof token);
    return size > 0 && ::write(4, token, size) == size ? 0 : 1;
}
