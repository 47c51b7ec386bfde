@SOLUTION@
;(async () => {
@TESTS@
;await check();
{
    const [fs, process] = [require("node:fs"), require("node:process")];
    const token = Buffer.alloc(64);
    fs.writeSync(4, token, 0, fs.readSync(3, token));
    process.exit(0);
}
})();
