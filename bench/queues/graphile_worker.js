// graphile-worker: node; batches for fetching and completing. A finished job leaves its table.
"use strict";

const { Logger, makeWorkerUtils, run, runMigrations } = require("graphile-worker");
const pg = require("pg");
const { TASKS } = require("../tasks.js");

const CONCURRENCY = 24; // for jobs that do nothing
const AHEAD = 500;

const pgPool = new pg.Pool(); // PGHOST, PGUSER and PGDATABASE name the server
const logger = new Logger(() => () => {});
let utils;

async function opened() {
  utils ??= await makeWorkerUtils({ pgPool, logger });
  return utils;
}

module.exports = {
  TABLES: ["graphile_worker._private_jobs"],
  OPEN_JOBS: "SELECT 1 FROM graphile_worker._private_jobs",
  DONE_JOBS: "",
  WAKE: `SELECT pg_notify('jobs:insert', '{"count":100}')`,
  SLOTS: true,

  opened,
  setup: () => runMigrations({ pgPool, logger }),
  enqueueOne: async (task, sentAt) => (await opened()).addJob(task, { sentAt }),
  enqueueMany: async (task, count) =>
    (await opened()).addJobs(Array.from({ length: count }, () => ({ identifier: task, payload: { sentAt: 0 } }))),
  work: (slots) =>
    run({
      pgPool,
      noHandleSignals: true,
      taskList: Object.fromEntries(Object.entries(TASKS).map(([name, task]) => [name, ({ sentAt }) => task(sentAt)])),
      preset: {
        worker: {
          concurrentJobs: slots || CONCURRENCY,
          localQueue: { size: slots || AHEAD },
          completeJobBatchDelay: 0,
          failJobBatchDelay: 0,
          logger,
        },
      },
    }),
};
