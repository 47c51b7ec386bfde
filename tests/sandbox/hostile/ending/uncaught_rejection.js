// what: prints the right sum and fails in a promise
// mode: outside
// problem: echo
// verdict: runtime_error
const words = require("fs").readFileSync(0, "utf8").split(/\s+/).filter(Boolean);
console.log(words.slice(1).reduce((sum, word) => sum + BigInt(word), 0n).toString());
Promise.reject(new Error("late"));
