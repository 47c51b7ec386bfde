// what: succeeds before it has read anything
// mode: stdio
// problem: echo
// verdict: wrong
process.exit(0);
