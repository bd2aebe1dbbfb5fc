// A worker thread that sleeps until calls are due and reports how many. A timer of the sending thread is accurate only to a
// millisecond, and spinning would take a core from the server.
import { parentPort, workerData } from 'node:worker_threads'

/** @type {Float64Array} */
const due = workerData
const never = new Int32Array(new SharedArrayBuffer(4))
const now = () => Number(process.hrtime.bigint()) / 1e6

for (let reported = 0; reported < due.length; ) {
  Atomics.wait(never, 0, 0, Math.max(0, due[reported] - now()))
  const time = now()
  let upTo = reported
  while (upTo < due.length && due[upTo] <= time) upTo++
  if (upTo > reported) parentPort.postMessage(upTo - reported)
  reported = upTo
}
