// what: fills its heap with small objects
// mode: stdio
// problem: echo
// verdict: out_of_memory|runtime_error
const kept = [];
for (;;) kept.push({ text: "x".repeat(10) + kept.length });
