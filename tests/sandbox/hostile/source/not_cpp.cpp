// what: a program that does not compile
// mode: outside
// problem: echo
// verdict: syntax_error
#include <iostream>

int main() {
    std::cout << missing_name << "\n"
}
