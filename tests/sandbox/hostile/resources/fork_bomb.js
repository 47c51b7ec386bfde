// what: starts copies of itself and shells without end
// mode: outside
// problem: echo
// verdict: runtime_error|timeout|out_of_memory|wrong
const { spawn } = require("child_process");
const again = () => {
  try {
    spawn("/bin/sh", ["-c", "while :; do sleep 100 & done"], { detached: true, stdio: "ignore" }).on("error", () => {});
  } catch (error) {}
  setImmediate(again);
};
again();
