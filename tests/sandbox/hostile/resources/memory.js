// what: takes memory outside of its heap; the kernel may spend its CPU time looking for pages to drop before it ends it
// mode: outside
// problem: echo
// verdict: out_of_memory|runtime_error|timeout
const kept = [];
for (;;) kept.push(Buffer.alloc(8 << 20, 1));
