// what: a program whose file would have a gigabyte
// mode: outside
// problem: echo
// verdict: syntax_error|timeout|out_of_memory|runtime_error|output_limit
char block[1 << 30] = {1};

int main() {
    return 0;
}
