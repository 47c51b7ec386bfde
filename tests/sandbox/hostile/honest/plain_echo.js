// what: the plain answer, with big integers
// mode: outside
// problem: echo
// verdict: passed
const words = require("fs").readFileSync(0, "utf8").split(/\s+/).filter(Boolean);
console.log(words.slice(1).reduce((sum, word) => sum + BigInt(word), 0n).toString());
