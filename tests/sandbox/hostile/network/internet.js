// what: connects to the internet and to the container engine; answers right if that is refused
// mode: outside
// problem: echo
// verdict: passed
const net = require("net");
const words = require("fs").readFileSync(0, "utf8").split(/\s+/).filter(Boolean);
const targets = [{ host: "1.1.1.1", port: 443 }, { host: "172.17.0.1", port: 2375 }, { path: "/var/run/docker.sock" }];
let open = targets.length;
const done = () => {
  if (--open === 0) console.log(words.slice(1).reduce((sum, word) => sum + BigInt(word), 0n).toString());
};
for (const target of targets) {
  const client = net.connect(target);
  client.setTimeout(300, () => client.destroy());
  client.on("connect", () => {
    console.log("reached: " + JSON.stringify(target));
    process.exit(1);
  });
  client.on("error", () => {});
  client.on("close", done);
}
