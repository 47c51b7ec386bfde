// what: takes memory outside of its heap
// mode: stdio
// problem: echo
// verdict: out_of_memory|runtime_error
const kept = [];
for (;;) kept.push(Buffer.alloc(8 << 20, 1));
