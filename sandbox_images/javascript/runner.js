const __nel = { fs: require("fs"), exit: process.exit.bind(process) };
@SOLUTION@
;
@TESTS@
;
(async () => {
  await check();
  const token = Buffer.alloc(64);
  const size = __nel.fs.readSync(3, token);
  __nel.fs.writeSync(4, token, 0, size);
  __nel.exit(0);
})().catch((error) => {
  console.error(error);
  __nel.exit(1);
});
