// what: a script that does not parse
// mode: stdio
// problem: echo
// verdict: syntax_error|runtime_error
const words = (;
