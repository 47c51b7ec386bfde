// what: prints the right sum and leaves a process of another session
// mode: outside
// problem: echo
// verdict: passed
const words = require("fs").readFileSync(0, "utf8").split(/\s+/).filter(Boolean);
console.log(words.slice(1).reduce((sum, word) => sum + BigInt(word), 0n).toString());
require("child_process").spawn("/bin/sleep", ["3600"], { detached: true, stdio: "inherit" }).unref();
