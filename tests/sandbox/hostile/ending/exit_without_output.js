// what: succeeds before it has read anything
// mode: outside
// problem: echo
// verdict: wrong
process.exit(0);
