// SPDX-License-Identifier: Apache-2.0
// What the page knows of the cluster: read once, kept up to date by events, read again now and then
// where events do not tell (forecasts). With the daemon gone it stays as it was last seen.
import { ask, Follower, Problem, token } from "./api.js";

const most_jobs = 200000;
const page_of_jobs = 5000;
const newest_actions = 1000;

export const store = {
  jobs: new Map(),
  jobs_known: false,   // read whole at least once
  jobs_cut: false,     // there are more than the page takes
  cluster: null,
  history: [],         // {at_s, gpus_used, gpus, waiting}: told by the daemon, else seen from here
  actions: new Map(),
  actions_known: false,
  /// Older ones were read once and are not read again.
  oldest_action: 0,
  /// Where older ones go on; undefined: before those that are known, null: there are none.
  actions_before: undefined,
  actions_kept: 4 * newest_actions,
  audit: null,         // the last entries; null: not told (yet)
  ledger: null,
  problems: new Map(), // by what was asked: a Problem
  link: "connecting",  // live, polling, lost, refused
  heard: 0,            // when the daemon last said anything, by the machine's clock
  version: 0,          // of the jobs
  latest_s: 0,         // the last time in any of them
};
/// The cluster's clock, as far as anything has told of it; of a replay it is another than ours.
store.now_s = () => Math.max(store.cluster?.now_s ?? 0, store.latest_s) || Date.now() / 1000;
/// What stands where something has not been read yet.
store.reading = (name) => store.problems.get(name)?.text ?? (store.link === "lost" ? "The daemon does not answer." : "Reading...");
store.caller = () => store.cluster?.caller || { user: "", role: "" };
store.is_operator = () => store.caller().role === "operator";

// --- who is told ------------------------------------------------------------------------------
const listeners = new Set();
let due = false, shown = 0;
export const on_change = (listener) => listeners.add(listener);
/// At most four times a second.
export function changed() {
  if (due) return;
  due = true;
  const wait = Math.max(0, shown + 250 - performance.now());
  setTimeout(() => requestAnimationFrame(() => {
    due = false;
    shown = performance.now();
    for (const each of listeners) each();
  }), wait);
}

// --- what is read, and how often --------------------------------------------------------------
/// Reads one thing at a time, so often that it takes at most a tenth of the time.
class Reader {
  constructor(name, read, period_ms) {
    Object.assign(this, { name, read, period: period_ms, every: Infinity, began: -Infinity, took: 0, again: false });
    this.timer = 0;
  }
  /// Soon: something has changed.
  poke() {
    this.plan(Math.max(0, this.began + Math.max(this.period, 10 * this.took) - performance.now()));
  }
  /// Anew every so many milliseconds while somebody looks; Infinity: only when poked.
  keep(every) {
    this.every = every;
    if (every < Infinity) this.plan(Math.max(0, this.began + Math.max(every, 10 * this.took) - performance.now()));
  }
  plan(wait) {
    if (this.busy) {
      this.again = true;
      return;
    }
    const at = performance.now() + wait;
    if (this.timer && this.at <= at) return;
    clearTimeout(this.timer);
    this.at = at;
    this.timer = setTimeout(() => this.go(), wait);
  }
  async go() {
    this.timer = 0;
    // Before somebody has come in, only the stream asks.
    if ((document.hidden && this.began > 0) || store.link === "connecting" || store.link === "refused") return;
    this.busy = true;
    this.again = false;
    this.began = performance.now();
    try {
      await this.read();
      store.problems.delete(this.name);
      store.heard = Date.now();
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      store.problems.set(this.name, problem);
      if (problem.status === 401) refused(problem);
      if (problem.status === 503 || problem.status === 429) this.again = true;
    } finally {
      this.took = performance.now() - this.began;
      this.busy = false;
    }
    changed();
    if (this.again) this.poke();
    else if (this.every < Infinity) this.keep(this.every);
  }
}

// Jobs that an event told of while a page of the list was on its way are newer than the list.
let touched = new Set();

function take_job(job, is_event) {
  if (typeof job?.id !== "string") return;
  const old = store.jobs.get(job.id);
  // The stream tells no forecast; what was foreseen for a job that has not moved still holds.
  if (is_event && old && old.state === job.state) Object.assign(job, { eta: old.eta, held_up_by: old.held_up_by });
  store.jobs.set(job.id, job);
  store.latest_s = Math.max(store.latest_s, job.submitted_s || 0, job.started_s || 0, job.ended_s || 0);
  store.version += 1;
}

async function read_jobs(query, is_whole) {
  touched = new Set();
  const seen = new Set();
  let cursor = "";
  do {
    const answer = await ask(`jobs?limit=${page_of_jobs}${query}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
    for (const job of answer.jobs) {
      seen.add(job.id);
      if (touched.has(job.id)) {
        const newer = store.jobs.get(job.id);
        if (newer && newer.state === job.state) Object.assign(newer, { eta: job.eta, held_up_by: job.held_up_by });
      } else take_job(job, false);
    }
    cursor = answer.next || "";
    store.jobs_cut = is_whole ? seen.size >= most_jobs && cursor !== "" : store.jobs_cut;
    if (is_whole) changed();
  } while (cursor && seen.size < most_jobs);
  if (!is_whole) return;
  for (const id of store.jobs.keys()) if (!seen.has(id) && !touched.has(id)) store.jobs.delete(id);
  store.jobs_known = true;
  store.version += 1;
}

async function read_cluster() {
  const answer = await ask("cluster");
  store.cluster = answer;
  const gpus = answer.nodes.reduce((sum, node) => sum + (node.state === "down" ? 0 : node.gpus), 0);
  const used = answer.nodes.reduce((sum, node) => sum + node.held, 0);
  const sample = { at_s: answer.now_s, gpus_used: used, gpus, waiting: answer.queue.pending };
  if (Array.isArray(answer.history)) {
    store.history = answer.history;
    store.history_told = true;
  } else if (!store.history_told) {
    const last = store.history.at(-1);
    if (!last || sample.at_s > last.at_s) store.history.push(sample);
    if (store.history.length > 2000) store.history = store.history.filter((_, at) => at % 2 === 0);
  }
}

async function read_actions() {
  const last = Math.max(0, ...store.actions.keys());
  const oldest_open = Math.min(Infinity, ...[...store.actions.values()].filter((each) => !is_end(each) && each.id >= store.oldest_action).map((each) => each.id));
  const since = store.actions_known ? Math.min(last, oldest_open - 1) : -newest_actions;
  for (let pages = 0, next = ""; pages < 20 && next !== null; pages += 1) {
    const answer = await ask(`actions?limit=1000&since=${since}${next && `&cursor=${next}`}`);
    for (const action of answer.actions) store.actions.set(action.id, action);
    next = answer.next;
  }
  store.actions_known = true;
  const surplus = store.actions.size - store.actions_kept;
  if (surplus > 0) for (const id of [...store.actions.keys()].sort((a, b) => a - b).slice(0, surplus)) store.actions.delete(id);
}

/// The thousand before those that are known, or the next ones that the caller may see.
export async function read_older_actions() {
  const known = store.actions.size;
  store.oldest_action ||= Math.min(...store.actions.keys());
  for (let pages = 0, next = store.actions_before === undefined ? store.oldest_action : store.actions_before; pages < 20 && next !== null && store.actions.size === known; pages += 1) {
    const answer = await ask(`actions?limit=1000&cursor=${next}`);
    for (const action of answer.actions) store.actions.set(action.id, action);
    store.actions_before = next = answer.next;
  }
  store.actions_kept += store.actions.size - known;
}
const ends = new Set(["shadowed", "rejected", "expired", "discarded", "failed", "superseded", "undone"]);
export const undoable = new Set(["set_order", "hold", "drain_node", "annotate"]);
export const is_end = (action) => ends.has(action.state) || (action.state === "verified" && !undoable.has(action.kind));

export const readers = {
  jobs: new Reader("jobs", () => read_jobs("", true), 5000),
  waiting: new Reader("waiting", async () => {
    await read_jobs("&state=running", false);
    await read_jobs("&state=pending", false);
  }, 3000),
  cluster: new Reader("cluster", read_cluster, 700),
  actions: new Reader("actions", read_actions, 800),
  audit: new Reader("audit", async () => { store.audit = (await ask("audit?since=-25&limit=25")).entries; }, 1500),
  ledger: new Reader("ledger", async () => { store.ledger = await ask("ledger"); }, 5000),
};

/// What is on view decides what is read.
export function look_at(view) {
  readers.cluster.keep(view === "cluster" ? 2000 : 5000);
  readers.waiting.keep(view === "jobs" || view === "cluster" ? 5000 : Infinity);
  readers.actions.keep(view === "actions" || view === "cluster" ? 10000 : Infinity);
  readers.audit.keep(view === "actions" && store.is_operator() ? 10000 : Infinity);
  readers.ledger.keep(view === "ledger" ? 30000 : Infinity);
}

function read_all() {
  readers.cluster.poke();
  readers.jobs.poke();
  readers.actions.poke();
}

// --- events -----------------------------------------------------------------------------------
let refused = () => {};
export const on_job_event = new Set();  // (id): for the view of one job

const follower = new Follower({
  on_event(kind, data) {
    store.heard = Date.now();
    if (kind === "job") {
      touched.add(data.id);
      take_job(data, true);
      for (const each of on_job_event) each(data.id);
      readers.cluster.poke();
    } else if (kind === "action") {
      const known = store.actions.get(data.id);
      if (known) known.state = data.state;
      readers.actions.poke();
      if (readers.audit.every < Infinity) readers.audit.poke();
      readers.cluster.poke();
    } else readers.cluster.poke();
    changed();
  },
  on_full: read_all,
  on_link(link, problem) {
    if (link === "live" || link === "polling") store.heard = Date.now();
    if (store.link !== link) {
      store.link = link;
      if (link === "live" || link === "polling") {
        store.problems.clear();
        for (const reader of Object.values(readers)) if (reader.every < Infinity) reader.poke();
      }
      changed();
    }
    if (link === "refused") refused(problem);
    if (problem) store.problems.set("events", problem);
  },
});

/// on_refused(problem): a token is needed.
export function start(on_refused) {
  refused = on_refused;
  follower.run();
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) for (const reader of Object.values(readers)) if (reader.every < Infinity) reader.poke();
  });
}

/// After a token was given or given up: what the other caller saw is forgotten.
export function begin_anew() {
  store.jobs.clear();
  store.actions.clear();
  Object.assign(store, { jobs_known: false, actions_known: false, oldest_action: 0, actions_before: undefined, actions_kept: 4 * newest_actions, cluster: null, audit: null, ledger: null,
    history: [], history_told: false, latest_s: 0 });
  store.problems.clear();
  store.version += 1;
  follower.forget();
  changed();
}
export const try_again = () => follower.again();
