// what: a program that does not compile
// mode: stdio
// problem: echo
// verdict: syntax_error
#include <iostream>

int main() {
    std::cout << missing_name << "\n"
}
