// what: reads what other processes hold; answers right if that is refused
// mode: outside
// problem: echo
// verdict: passed
const fs = require("fs");
for (const entry of fs.readdirSync("/proc").filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)) {
  for (const name of ["environ", "maps", "mem", "fd", "cwd", "root"]) {
    const path = `/proc/${entry}/${name}`;
    try {
      if (fs.statSync(`/proc/${entry}`).uid === process.getuid()) continue;
      if (name === "fd") fs.readdirSync(path);
      else if (name === "cwd" || name === "root") fs.readlinkSync(path);
      else fs.readFileSync(path);
    } catch (error) {
      continue;
    }
    console.log("reached: " + path);
    process.exit(1);
  }
}
const words = fs.readFileSync(0, "utf8").split(/\s+/).filter(Boolean);
console.log(words.slice(1).reduce((sum, word) => sum + BigInt(word), 0n).toString());
