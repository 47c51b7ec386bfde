// what: prints without end
// mode: outside
// problem: echo
// verdict: output_limit
const fs = require("fs");
const block = "x".repeat(65536);
for (;;) {
  try {
    fs.writeSync(1, block);
  } catch (error) {
    if (error.code !== "EAGAIN") throw error;
  }
}
