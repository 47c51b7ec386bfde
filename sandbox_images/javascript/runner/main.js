"use strict";
// Takes what the tests will need before the program can change it, and the tests out of its reach; then runs both.
{
    const [assert, fs, module, process] = ["node:assert", "node:fs", "node:module", "node:process"].map((name) => require(name));
    const [defineProperty, descriptorsOf, keysOf] = [Object.defineProperty, Object.getOwnPropertyDescriptors, Reflect.ownKeys];
    const [write, exit, freeze] = [fs.writeSync, process.exit, Object.freeze];
    const token = Buffer.alloc(64);
    const length = fs.readSync(3, token);
    fs.closeSync(3);
    const tests = fs.readFileSync("tests.js", "utf8");
    fs.unlinkSync("tests.js");
    const owners = [
        ...["Array", "BigInt", "Boolean", "Date", "Error", "Function", "Map", "Number", "Object", "Promise", "RegExp", "Set", "String"]
            .map((name) => globalThis[name]),
        ...[JSON, Math, Reflect, module, assert, assert.strict, assert.AssertionError],
    ].flatMap((owner) => (owner.prototype ? [owner, owner.prototype] : [owner]));
    const before = owners.map((owner) => [owner, descriptorsOf(owner)]);
    const test = (evaluate) => {
        for (const [owner, properties] of before) {
            for (const name of keysOf(properties)) {
                try { defineProperty(owner, name, properties[name]); } catch { /* it cannot have changed either */ }
            }
        }
        freeze(assert);
        freeze(assert.strict);
        evaluate(tests);
    };
    const [once, later, all] = [process.once.bind(process), setTimeout, Promise.all.bind(Promise)];
    const finish = () => { write(4, token, 0, length); exit(0); };
    // What the tests have begun and not awaited ends first, unless the program keeps the event loop alive.
    const end = async (result) => {
        await all([result].flat());
        once("beforeExit", finish);
        later(finish, 2000).unref();
    };
    defineProperty(globalThis, "@SECRET@", { value: freeze({ require, test, end }) });
    require("./program.js");
}
