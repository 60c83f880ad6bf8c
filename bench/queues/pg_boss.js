// pg-boss: node; a batch is fetched, performed and completed together. Finished jobs stay.
"use strict";

const { PgBoss } = require("pg-boss");
const { TASKS } = require("../tasks.js");

const BATCH = 1000;

const { PGHOST: host, PGUSER: user, PGDATABASE: database } = process.env;
let boss;

async function opened(options = { supervise: false }) {
  if (!boss) {
    boss = new PgBoss({ host, user, database, application_name: process.env.PGAPPNAME, ...options });
    boss.on("error", (error) => console.error(error));
    await boss.start();
  }
  return boss;
}

module.exports = {
  TABLES: ["pgboss.job"],
  OPEN_JOBS: "SELECT 1 FROM pgboss.job WHERE state < 'completed'",
  DONE_JOBS: "SELECT 1 FROM pgboss.job WHERE state = 'completed'",
  WAKE: "SELECT pg_notify('pgboss_' || left(encode(sha224('pgboss'), 'hex'), 24), name) FROM pgboss.queue",
  SLOTS: true,

  opened,
  setup: async () => {
    const boss = await opened();
    for (const name of Object.keys(TASKS)) await boss.createQueue(name, { notify: true });
  },
  enqueueOne: async (task, sentAt) => (await opened()).send(task, { sentAt }),
  enqueueMany: async (task, count) =>
    (await opened()).insert(task, Array.from({ length: count }, () => ({ data: { sentAt: 0 } }))),
  work: async (slots) => {
    const boss = await opened({ useListenNotify: true });
    for (const [name, task] of Object.entries(TASKS)) {
      const options = { batchSize: slots || BATCH, burstWhenBatchFull: true };
      await boss.work(name, options, (jobs) => Promise.all(jobs.map(({ data }) => task(data.sentAt))));
    }
  },
};
