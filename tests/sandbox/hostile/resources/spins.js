// what: never returns to its event loop
// mode: stdio
// problem: echo
// verdict: timeout
for (;;);
