// what: never returns to its event loop
// mode: outside
// problem: echo
// verdict: timeout
for (;;);
