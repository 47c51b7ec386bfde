// what: waits on memory that nobody changes, in the main thread
// mode: outside
// problem: echo
// verdict: timeout
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
