// SPDX-License-Identifier: Apache-2.0
// The list of jobs: searched and filtered as one types, any number of rows of which only those on
// view are elements.
import { h, show, morph_children } from "./dom.js";
import { job_link } from "./cluster.js";
import { axis, horizon_of, time_line } from "./plot.js";
import { readers, store } from "./store.js";
import * as words from "./words.js";

const by_name = new Intl.Collator("en", { numeric: true }).compare;
let root = null, parts = null;
let asked = { q: "", sort: "submitted", down: true };
let rows = [], made_of = "";

// --- what the words ask for -------------------------------------------------------------------
const state_groups = {
  active: (job) => !words.is_over(job), ended: words.is_over,
  waiting: (job) => job.state === "pending",
  ill: (job) => ["slow", "hung", "failed"].includes(job.health),
};
const chips = [["", "all"], ["active", "active"], ["pending", "waiting"], ["running", "running"], ["ended", "ended"],
  ["failed", "failed"], ["ill", "slow or hung"]];
const user_of_job = (job) => (job.user_small ??= String(job.user).toLowerCase());
const text_of = (job) => (job.text ??= `${job.id} ${job.name} ${job.user} ${job.partition} ${(job.nodes || []).map((each) => each.node).join(" ")}`.toLowerCase());

function compare_numbers(text) {
  const [, sign, number] = /^(>=|<=|>|<|=)?(\d+)$/.exec(text) || [];
  if (number === undefined) return () => false;
  const value = Number(number);
  return { ">": (x) => x > value, "<": (x) => x < value, ">=": (x) => x >= value, "<=": (x) => x <= value }[sign] || ((x) => x === value);
}

/// "user:ann state:running gpus:>4 bert": all of it must hold. Gives what a job must fulfil.
function filter_of(query) {
  const tests = query.toLowerCase().split(/\s+/).filter(Boolean).map((word) => {
    const [, key, value] = /^(user|state|gpus|node|partition|health|id|name):(.*)$/.exec(word) || [];
    if (!key || value === "") return key ? () => true : (job) => text_of(job).includes(word);
    if (key === "gpus") {
      const fits = compare_numbers(value);
      return (job) => fits(job.gpus);
    }
    if (key === "user") return value === "me" ? (job) => job.user === store.caller().user : (job) => user_of_job(job).includes(value);
    if (key === "state") return state_groups[value] || ((job) => job.state === value || words.state_word(job.state) === value);
    if (key === "node") return (job) => (job.nodes || []).some((each) => each.node.toLowerCase().includes(value));
    return (job) => String(job[key] ?? "").toLowerCase().includes(value);
  });
  return (job) => tests.every((test) => test(job));
}

const state_rank = Object.fromEntries(words.states.map((state, i) => [state, i]));
const keys = {
  name: (a, b) => by_name(a.name || a.id, b.name || b.id) || by_name(a.id, b.id),
  user: (a, b) => by_name(a.user, b.user), state: (a, b) => (state_rank[a.state] ?? 99) - (state_rank[b.state] ?? 99),
  gpus: (a, b) => a.gpus - b.gpus, submitted: (a, b) => a.submitted_s - b.submitted_s,
  expected: (a, b) => expected_of(a) - expected_of(b), progress: (a, b) => share_of(a) - share_of(b),
};
const expected_of = (job) => job.eta?.start_s?.p50 ?? job.eta?.end_s?.p50 ?? job.ended_s ?? Infinity;
const share_of = (job) => words.share_done(job.progress || {}) ?? -1;

function choose() {
  const query = `${asked.q} ${asked.sort} ${asked.down} ${store.version}`;
  if (query === made_of) return;
  made_of = query;
  const fits = filter_of(asked.q), sign = asked.down ? -1 : 1, order = keys[asked.sort];
  rows = [];
  for (const job of store.jobs.values()) if (fits(job)) rows.push(job);
  rows.sort((a, b) => sign * order(a, b) || (a.id < b.id ? -1 : 1));
}

// --- rows -------------------------------------------------------------------------------------
function progress_cell(job, now_s) {
  const share = share_of(job);
  if (share >= 0)
    return [h("span", { class: "bar", vars: { "--share": share } }), h("span", { class: "of" }, words.percent(share))];
  if (job.state === "running" && job.started_s) return h("span", { class: "soft" }, `runs ${words.duration(now_s - job.started_s)}`);
  if (job.ended_s && job.started_s) return h("span", { class: "soft" }, `ran ${words.duration(job.ended_s - job.started_s)}`);
  return job.state === "pending" ? h("span", { class: "soft" }, `waits ${words.duration(now_s - job.submitted_s)}`) : "";
}

function expected_text(job, now_s) {
  if (job.ended_s) return `ended ${words.instant(job.ended_s, now_s)}`;
  if (job.held) return "held";
  if (words.held_up(job)) return words.held_up(job);
  const [verb, name] = job.state === "pending" ? ["starts", "start"] : ["ends", "end"];
  const text = words.expected(job.eta?.[`${name}_s`], now_s);
  if (!text) return `${name} not known`;
  const [mid, range] = text.split(/ (?=\()/);
  return [`${verb} ${mid === "now" ? mid : `in ${mid}`} `, range && h("small", { class: "range" }, range)];
}

function row_of(job, index, now_s, horizon) {
  return h("tr", { "data-key": job.id, "aria-rowindex": index + 2 },
    h("td", { class: "text job" }, job_link(job.id, job.name || job.id), job.name && h("small", {}, ` ${job.id}`)),
    h("td", { class: "text user" }, job.user),
    h("td", { class: "text state" }, h("span", { class: `word ${job.state}` }, words.state_word(job.state)),
      words.ill_word(job) && h("span", { class: `word ${job.health}` }, ` ${job.health}`)),
    h("td", { class: "gpus" }, job.gpus),
    h("td", { class: "text progress" }, progress_cell(job, now_s)),
    h("td", { class: "line" }, !words.is_over(job) && !words.held_up(job) && time_line(job, now_s, horizon)),
    h("td", { class: "text expected" }, expected_text(job, now_s)),
    h("td", { class: "submitted" }, words.instant(job.submitted_s, now_s)));
}

let row_height = 32;
function draw() {
  if (!parts) return;
  const now_s = store.now_s(), scroller = parts.scroller;
  const first = Math.max(0, Math.floor(scroller.scrollTop / row_height) - 6);
  const last = Math.min(rows.length, Math.ceil((scroller.scrollTop + scroller.clientHeight) / row_height) + 6);
  const seen = rows.slice(first, last);
  const horizon = horizon_of(seen, now_s);
  show(parts.axis, axis(horizon));
  parts.above.style.height = `${first * row_height}px`;
  parts.below.style.height = `${(rows.length - last) * row_height}px`;
  morph_children(parts.body, seen.map((job, i) => row_of(job, first + i, now_s, horizon)));
  parts.table.setAttribute("aria-rowcount", rows.length + 1);
}

function render() {
  if (!parts) return;
  choose();
  const total = store.jobs.size;
  const others = store.cluster && !store.is_operator() ? store.cluster.queue.pending + store.cluster.queue.running - [...store.jobs.values()].filter((job) => !words.is_over(job)).length : 0;
  parts.count.textContent = !store.jobs_known && total === 0 ? "reading the jobs..." :
    `${rows.length === total ? words.plural(total, "job") : `${words.count(rows.length)} of ${words.plural(total, "job")}`}` +
    `${store.jobs_known ? "" : ", reading more"}${store.jobs_cut ? ", the first that the page takes" : ""}` +
    `${others > 0 ? `; ${words.count(others)} of others wait or run` : ""}`;
  for (const [word, button] of parts.chips) button.setAttribute("aria-pressed", String(chip_of(asked.q) === word));
  for (const [key, th] of parts.heads) {
    const is_sorted = asked.sort === key;
    if (is_sorted) th.setAttribute("aria-sort", asked.down ? "descending" : "ascending");
    else th.removeAttribute("aria-sort");
  }
  parts.none.hidden = rows.length > 0;
  parts.none.textContent = total === 0 ? (store.jobs_known ? "There is no job here that you may see." : "") : "No job fits. Take words out of the search.";
  draw();
}

// --- what one types and presses ---------------------------------------------------------------
const chip_of = (q) => (/(?:^|\s)state:(\S+)/.exec(q) || [])[1] || "";
function set_query(q, from_box) {
  asked.q = q;
  if (!from_box) parts.box.value = q;
  history.replaceState(null, "", q ? `#/jobs?q=${encodeURIComponent(q)}` : "#/jobs");
  parts.scroller.scrollTop = 0;
  render();
}

function sort_by(key) {
  const downward = new Set(["submitted", "gpus", "progress"]);
  asked.down = asked.sort === key ? !asked.down : downward.has(key);
  asked.sort = key;
  render();
}

/// Up and down go from row to row, also to those that are no elements yet.
function move(event) {
  const link = document.activeElement?.closest?.("tr")?.querySelector("a");
  const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15 };
  const step = steps[event.key];
  if (!step || !link || !parts.body.contains(link)) return;
  event.preventDefault();
  const at = rows.findIndex((job) => job.id === link.closest("tr").dataset.key);
  const to = Math.min(rows.length - 1, Math.max(0, at + step));
  const top = to * row_height, scroller = parts.scroller;
  const head = parts.table.tHead.offsetHeight;
  if (top < scroller.scrollTop) scroller.scrollTop = top;
  if (top + row_height + head > scroller.scrollTop + scroller.clientHeight) scroller.scrollTop = top + row_height + head - scroller.clientHeight;
  draw();
  for (const row of parts.body.rows) if (row.dataset.key === rows[to].id) row.querySelector("a").focus();
}

function build() {
  const columns = [["name", "Job", "text job"], ["user", "User", "text user"], ["state", "State", "text state"], ["gpus", "GPUs", "gpus"],
    ["progress", "Progress", "text progress"], ["", "", "line"], ["expected", "Expected", "text expected"], ["submitted", "Submitted", "submitted"]];
  const made = { heads: new Map(), chips: new Map() };
  made.box = h("input", { type: "search", id: "search", placeholder: "name, user:ann, state:running, gpus:>4", autocomplete: "off", spellcheck: "false",
    oninput: (event) => set_query(event.target.value, true) });
  made.count = h("span", { class: "soft", role: "status" });
  made.axis = h("span", { class: "axis-box" });
  const chip_buttons = chips.map(([word, text]) => {
    const button = h("button", { type: "button", "aria-pressed": "false", onclick: () => {
      const rest = asked.q.replace(/(?:^|\s)state:\S*/g, "").trim();
      set_query([rest, word && `state:${word}`].filter(Boolean).join(" "));
    } }, text);
    made.chips.set(word, button);
    return button;
  });
  const mine = h("button", { type: "button", onclick: () => {
    const without = asked.q.replace(/(?:^|\s)user:\S*/g, "").trim();
    set_query(/(?:^|\s)user:me(?:\s|$)/.test(asked.q) ? without : `${without} user:me`.trim());
  } }, "mine");
  const head = h("tr", { "aria-rowindex": 1 }, columns.map(([key, text, name]) => {
    const th = h("th", { scope: "col", class: name }, key ? h("button", { type: "button", onclick: () => sort_by(key) }, text)
      : [h("span", { class: "visually-hidden" }, "Expected, on a time line"), made.axis]);
    if (key) made.heads.set(key, th);
    return th;
  }));
  made.body = h("tbody", {});
  made.above = h("td", {});  // without a span, as columns are hidden on narrow screens
  made.below = h("td", {});
  made.table = h("table", { class: "jobs" }, h("caption", { class: "visually-hidden" }, "Jobs"), h("thead", {}, head),
    h("tbody", { class: "gap", "aria-hidden": "true" }, h("tr", {}, made.above)), made.body,
    h("tbody", { class: "gap", "aria-hidden": "true" }, h("tr", {}, made.below)));
  made.scroller = h("div", { class: "jobs-scroll", tabindex: 0, role: "region", "aria-label": "List of jobs", onkeydown: move }, made.table);
  made.scroller.addEventListener("scroll", () => requestAnimationFrame(draw), { passive: true });
  made.none = h("p", { class: "soft", hidden: true });
  made.mine = mine;
  root.replaceChildren(h("div", { class: "jobs-head" }, h("h1", {}, "Jobs"), h("label", { class: "visually-hidden", for: "search" }, "Search jobs"),
    made.box, h("div", { class: "chips", role: "group", "aria-label": "State" }, chip_buttons, mine), made.count,
    h("span", { class: "soft line-key" }, h("i", { class: "start" }), "start", h("i", { class: "end" }), "end, in 8 of 10 replays of the queue")), made.scroller, made.none);
  return made;
}

function measure() {
  row_height = parseFloat(getComputedStyle(parts.table).getPropertyValue("--row")) || row_height;
}

export const view = {
  name: "jobs",
  open(element, { query }) {
    root = element;
    asked.q = query.get("q") || "";
    parts = build();
    parts.box.value = asked.q;
    if (!store.jobs_known) readers.jobs.poke();
    measure();
    made_of = "";
    render();
    new ResizeObserver(() => { if (parts?.scroller.isConnected) { measure(); draw(); } }).observe(parts.scroller);
  },
  update: render,
  close() {
    parts = null;
  },
};
