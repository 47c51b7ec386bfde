// what: fills its heap with small objects; collecting them may use up its CPU time first
// mode: outside
// problem: echo
// verdict: out_of_memory|runtime_error|timeout
const kept = [];
for (;;) kept.push({ text: "x".repeat(10) + kept.length });
