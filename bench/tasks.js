// What the jobs of the benchmark do, as in bench/tasks.py.
"use strict";

const fs = require("node:fs");
const { setTimeout: sleep } = require("node:timers/promises");

const NAP = 100; // milliseconds

const now = () => Number(process.hrtime.bigint()) / 1e9; // the same clock in every process

const TASKS = {
  noop: () => {},
  nap: () => sleep(NAP),
  stamp: (sentAt) => fs.appendFileSync(process.env.BENCH_STAMPS, `${sentAt} ${now()}\n`),
  note: () => fs.appendFileSync(process.env.BENCH_STAMPS, "a note of 24 characters\n"),
};

module.exports = { TASKS, now };
