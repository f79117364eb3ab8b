// SPDX-License-Identifier: Apache-2.0
// One job: what it is, when, how far, why it waits, why it ended, and what SchedMate did about it.
import { ask, Problem } from "./api.js";
import { action_row, action_head } from "./actions.js";
import { confirm, h, say, show } from "./dom.js";
import * as parts from "./job_parts.js";
import { time_line, axis, horizon_of } from "./plot.js";
import { on_job_event, store } from "./store.js";
import * as words from "./words.js";

let root = null, id = "", job = null, why = null, problem = null, log = null, timer = 0, busy = false, again = false;

async function read() {
  if (busy) {
    again = true;
    return;
  }
  busy = true;
  const of = id;
  try {
    const path = `jobs/${encodeURIComponent(of)}`;
    const document = await ask(path);
    const reason = document.state === "pending" ? await ask(`${path}/why`).catch(() => null) : null;
    if (of !== id) return;
    [job, why, problem] = [document, reason, null];
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (of === id) problem = error;
  } finally {
    busy = false;
    render();
    plan(again ? 300 : job && words.is_over(job) ? 15000 : 3000);
    again = false;
  }
}
function plan(ms) {
  clearTimeout(timer);
  if (root) timer = setTimeout(read, ms);
}

async function read_log() {
  log = { lines: null, problem: null };
  render();
  try {
    const told = await ask(`jobs/${encodeURIComponent(id)}/log?tail=200`);
    log = { lines: told.lines || [], problem: null };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    log = { lines: null, problem: error };
  }
  render();
}

async function cancel() {
  if (!await confirm("Cancel this job?", [h("p", {}, `${job.name || "The job"} (${job.id}) of ${job.user} ends. This cannot be taken back.`)], "Cancel the job")) return;
  try {
    await ask(`jobs/${encodeURIComponent(id)}/cancel`, "POST");
    say("The job is being cancelled.");
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    problem = error;
  }
  read();
}

function head(now_s) {
  const caller = store.caller();
  const may_cancel = !words.is_over(job) && (caller.role === "operator" || (caller.role === "owner" && job.user === caller.user));
  const time = (name, s) => s && [name, h("time", { datetime: words.iso(s), title: words.exactly(s) }, words.instant(s, now_s))];
  const facts = [["User", job.user], job.partition && ["Partition", job.partition], ["GPUs", job.gpus], time("Submitted", job.submitted_s), time("Started", job.started_s), time("Ended", job.ended_s),
    job.started_s && [job.ended_s ? "Ran for" : "Runs for", words.duration((job.ended_s ?? now_s) - job.started_s)], job.nodes?.length > 0 && ["On", words.nodes_text(job.nodes)], job.restarts > 0 && ["Restarts", job.restarts], words.exit_text(job) && ["Its script", words.exit_text(job)]];
  return [h("div", { class: "title" }, h("h1", {}, job.name || `Job ${job.id}`, job.name && h("small", {}, ` ${job.id}`)), h("span", { class: `word large ${job.state}` }, words.state_word(job.state)),
    words.ill_word(job) && h("span", { class: `word large ${job.health}` }, job.health), job.held && h("span", { class: "word large" }, "held"),
    may_cancel && h("button", { type: "button", onclick: cancel }, "Cancel the job")),
  job.verdict && h("p", {}, words.value_text(job.verdict)),
  h("dl", { class: "facts" }, facts.filter(Boolean).map(([name, value]) => h("div", { "data-key": name }, h("dt", {}, name), h("dd", {}, value))))];
}

function line(now_s) {
  if (words.is_over(job) || words.held_up(job) || !job.eta) return null;
  const horizon = horizon_of([job], now_s);
  return h("div", { class: "one-line", "data-key": "line" }, axis(horizon), time_line(job, now_s, horizon));
}

function log_part() {
  return h("section", { class: "part", "data-key": "log" }, h("div", { class: "list-head" }, h("h2", {}, "Log"), h("button", { type: "button", onclick: read_log }, log ? "Read again" : "Show the last 200 lines")),
    log?.problem && h("p", { class: "problem" }, log.problem.text), log && !log.problem && !log.lines && h("p", { class: "soft" }, "Reading..."),
    log?.lines && (log.lines.length ? h("pre", { class: "log", tabindex: 0, role: "region", "aria-label": "Log" }, log.lines.map((each) => (typeof each === "string" ? each : each.text ?? "")).join("\n"))
      : h("p", { class: "soft" }, "There is no line.")));
}

function actions_part() {
  const all = job.actions || [];
  if (all.length === 0) return null;
  return h("section", { class: "part", "data-key": "actions" }, h("h2", {}, "What SchedMate did or would do"), h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Actions" }, h("table", { class: "actions" }, action_head(),
    h("tbody", {}, [...all].reverse().slice(0, 50).map((action) => action_row(action))))));
}

function render() {
  if (!root) return;
  const back = h("p", { class: "back", "data-key": "back" }, h("a", { href: "#/jobs" }, "All jobs"));
  if (!job) {
    show(root, back, h("h1", {}, "Job ", id), h("p", { class: problem ? "problem" : "soft" }, problem ? problem.text : "Reading..."));
    return;
  }
  const now_s = store.now_s();
  const columns = [[parts.waiting(job, why), parts.diagnosis(job), parts.progress(job), parts.past(job, now_s)],
    [parts.expectation(job, now_s, store.cluster?.first_forecasts), parts.use(job), parts.facts(job), parts.attempts(job, now_s)]].filter((column) => column.some(Boolean));
  show(root, back, head(now_s), problem && problem.status !== 0 && h("p", { class: "problem", "data-key": "problem" }, problem.text), line(now_s), h("div", { class: "parts", "data-key": "parts" }, columns.map((column) => h("div", {}, column))), actions_part(), log_part());
}

on_job_event.add((of) => { if (root && of === id) read(); });

export const view = {
  name: "job",
  open(element, { id: asked }) {
    root = element;
    [id, job, why, problem, log] = [asked, null, null, null, null];
    render();
    read();
  },
  update: render,
  anew: read,
  close() {
    root = null;
    clearTimeout(timer);
  },
};
