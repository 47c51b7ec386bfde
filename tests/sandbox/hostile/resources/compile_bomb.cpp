// what: templates that take the compiler exponential time and memory
// mode: outside
// problem: echo
// verdict: syntax_error|timeout|out_of_memory
template <int N, int M> struct Tower {
    static constexpr long value = Tower<N - 1, 2 * M>::value + Tower<N - 1, 2 * M + 1>::value;
};
template <int M> struct Tower<0, M> {
    static constexpr long value = M;
};

int main() {
    return Tower<28, 1>::value == 0;
}
