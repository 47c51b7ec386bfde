// what: reads by events, answers from a timer and sets the exit code
// mode: outside
// problem: echo
// verdict: passed
const lines = [];
require("readline")
  .createInterface({ input: process.stdin })
  .on("line", (line) => lines.push(line))
  .on("close", () =>
    setTimeout(() => {
      const sum = (lines[1] || "").split(" ").filter(Boolean).reduce((total, word) => total + BigInt(word), 0n);
      process.stdout.write(sum + "\n");
      process.exitCode = 0;
    }, 20)
  );
