// what: a script that does not parse
// mode: outside
// problem: echo
// verdict: syntax_error|runtime_error
const words = (;
