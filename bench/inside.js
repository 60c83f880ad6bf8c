// What runs inside a queue's own environment, as bench/inside.py: node bench/inside.js QUEUE OPERATION [NUMBER]
// An operation prints its result as JSON, on the last line.
"use strict";

const { setTimeout: sleep } = require("node:timers/promises");
const tasks = require("./tasks.js");

const FACTS = ["TABLES", "OPEN_JOBS", "DONE_JOBS", "WAKE", "SLOTS"];

const OPERATIONS = {
  describe: (queue) => ({ ...Object.fromEntries(FACTS.map((fact) => [fact, queue[fact]])), more: [] }),
  setup: (queue) => queue.setup(),
  enqueue_one: (queue, count) =>
    rate(queue, count, async () => {
      for (let n = 0; n < count; n++) await queue.enqueueOne("noop", 0);
    }),
  enqueue_noops: (queue, count) => rate(queue, count, () => queue.enqueueMany("noop", count)),
  enqueue_naps: (queue, count) => rate(queue, count, () => queue.enqueueMany("nap", count)),
  enqueue_notes: (queue, count) => rate(queue, count, () => queue.enqueueMany("note", count)),
  send_stamps: sendStamps,
  work: (queue, slots) => {
    process.stdin.on("close", () => process.exit(1)).resume(); // the race has ended
    return queue.work(slots);
  },
};

async function rate(queue, count, action) {
  await queue.opened();
  const started = tasks.now();
  await action();
  return count / (tasks.now() - started);
}

async function sendStamps(queue, count) {
  const moments = {};
  for (let n = 0; n < count; n++) {
    await sleep(30 + 30 * Math.random());
    const sentAt = tasks.now();
    await queue.enqueueOne("stamp", sentAt);
    moments[sentAt] = tasks.now();
  }
  return moments;
}

async function main(name, operation, number = "0") {
  const queue = require(`./queues/${name}.js`);
  const result = await OPERATIONS[operation](queue, Number(number));
  if (operation !== "work") {
    console.log(JSON.stringify(result ?? null));
    process.exit(0);
  }
}

main(...process.argv.slice(2));
