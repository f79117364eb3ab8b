// SPDX-License-Identifier: Apache-2.0
// What SchedMate decided, did and would do: why, with which witness, by whom. Operators decide here.
import { ask, Problem } from "./api.js";
import { confirm, h, say, show } from "./dom.js";
import { is_end, read_older_actions, readers, store, undoable } from "./store.js";
import * as words from "./words.js";

let root = null, open_id = 0, problem = null;
let filter = { state: "", kind: "", text: "" };
const rows_at_once = 200;
let most = rows_at_once, is_reading_older = false;

// --- deciding ---------------------------------------------------------------------------------
const verbs = { approve: "Approve", reject: "Reject", undo: "Undo" };
async function decide(action, verb) {
  const effect = { approve: "It is carried out at once.", reject: "It is not carried out, and stays on record.", undo: "What it did is taken back, by an action of its own." };
  const content = [h("p", {}, words.action_text(action, true), "."), h("p", { class: "soft" }, effect[verb], " Your name goes on record.")];
  if (!await confirm(`${verbs[verb]} action ${action.id}?`, content, verbs[verb])) return;
  await post(`actions/${action.id}/${verb}`, (told) => {
    if (told.id) store.actions.set(told.id, told);
    say(`Action ${action.id}: ${verb === "undo" ? "being undone" : `${verb === "approve" ? "approved" : "rejected"}, it is ${told.state}`}.`);
  });
}
async function close_breaker() {
  if (!await confirm("Close the breaker?", [h("p", {}, "SchedMate may act again within its caps. It opened because many nodes were said to be bad within an hour: look at what they have in common first.")], "Close the breaker")) return;
  await post("breaker/close", () => say("The breaker is closed."));
}
async function post(path, done) {
  problem = null;
  try {
    done(await ask(path, "POST"));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    problem = error;
    say(error.text);
  }
  for (const name of ["actions", "cluster", "audit"]) readers[name].poke();
  render();
}

// --- rows -------------------------------------------------------------------------------------
const when_of = (action) => action.steps?.[0]?.when_s ?? 0;
const last_of = (action) => action.steps?.at(-1) || {};
/// Whoever asked for it or decided it last; SchedMate itself, where no person did.
const decided_by = (action) => (action.steps?.findLast(({ by }) => by && by !== "schedmate") ?? last_of(action)).by || "";
const tones = { verified: "completed", undone: "cancelled", waiting: "slow", failed: "failed", ambiguous: "hung", intended: "running", called: "running", approved: "running" };

export const action_head = () => h("thead", {}, h("tr", {}, h("th", { scope: "col", class: "text" }, "No."), h("th", { scope: "col", class: "text" }, "When"),
  h("th", { scope: "col", class: "text" }, "What"), h("th", { scope: "col", class: "text" }, "State"), h("th", { scope: "col", class: "text" }, "Why"), h("th", { scope: "col", class: "text" }, "By")));

function buttons(action) {
  if (!store.is_operator()) return null;
  const button = (verb, main) => h("button", { type: "button", class: main ? "main" : "", "aria-label": `${verbs[verb]} action ${action.id}`, onclick: () => decide(action, verb) }, verbs[verb]);
  if (action.state === "waiting") return h("span", { class: "decide" }, button("approve", true), button("reject"));
  if (action.state === "verified" && undoable.has(action.kind)) return h("span", { class: "decide" }, button("undo"));
  return null;
}

export function action_row(action) {
  const last = last_of(action), why = action.why || [];
  return h("tr", { "data-key": action.id }, h("td", { class: "text" }, h("a", { href: `#/actions/${action.id}` }, action.id)),
    h("td", { class: "text" }, words.instant(when_of(action), store.now_s())),
    h("td", { class: "text what" }, words.action_text(action), action.undoes > 0 && h("span", { class: "soft" }, ` (undoes ${action.undoes})`)),
    h("td", { class: "text" }, h("span", { class: `word ${tones[action.state] || ""}` }, action.state), buttons(action)),
    h("td", { class: why[0] || last.note ? "text wrap reasons" : "text" }, why[0] || last.note || "", why.length > 1 && h("span", { class: "soft" }, ` and ${words.plural(why.length - 1, "more reason")}`)),
    h("td", { class: "text" }, decided_by(action)));
}

function detail(action) {
  const now_s = store.now_s();
  return h("section", { class: "panel detail", "data-key": "detail", "aria-label": `Action ${action.id}` },
    h("h2", {}, `Action ${action.id}`, h("a", { href: "#/actions" }, "Close")),
    h("p", {}, h("b", {}, words.action_text(action, true)), ", decided in mode ", h("b", {}, action.mode), ". ", buttons(action)),
    action.call?.job && h("p", {}, h("a", { href: `#/jobs/${encodeURIComponent(action.call.job)}` }, `Job ${action.call.job}`)),
    (action.why || []).length > 0 && [h("h3", {}, "Why"), h("ul", { class: "lines" }, action.why.map((each) => h("li", {}, each)))],
    action.before && h("p", {}, h("span", { class: "soft" }, "What stood there before: "), action.before),
    action.call?.text && h("p", {}, h("span", { class: "soft" }, "Text: "), action.call.text),
    action.undoes > 0 && h("p", {}, "It takes back ", h("a", { href: `#/actions/${action.undoes}` }, `action ${action.undoes}`), "."),
    h("h3", {}, "What came of it"), h("table", {}, h("thead", {}, h("tr", {}, ["State", "When", "By", "What was seen or said"].map((each) => h("th", { scope: "col", class: "text" }, each)))),
      h("tbody", {}, (action.steps || []).map((step, i) => h("tr", { "data-key": i }, h("th", { scope: "row", class: "text" }, step.state), h("td", { class: "text" }, words.instant(step.when_s, now_s)),
        h("td", { class: "text" }, step.by), h("td", { class: "text wrap" }, step.note))))),
    !undoable.has(action.kind) && action.state === "verified" && h("p", { class: "soft" }, "It cannot be undone."));
}

// --- breaker and chain ------------------------------------------------------------------------
function breaker() {
  const open = store.cluster?.breaker_open;
  return h("section", { class: `panel ${open ? "alarm" : ""}`, "data-key": "breaker" }, h("h2", {}, "Breaker ", h("span", { class: `word ${open ? "failed" : "completed"}` }, open ? "open" : "closed")),
    h("p", { class: "soft" }, open ? "Many nodes were said to be bad within an hour. Nothing that disturbs anybody is planned; it closes by itself after a quiet hour." :
      "It opens when many nodes are said to be bad within an hour; then nothing that disturbs anybody is planned."),
    open && store.is_operator() && h("button", { type: "button", onclick: close_breaker }, "Close the breaker"));
}

function chain() {
  if (!store.is_operator()) return null;
  const all = store.audit;
  const head = all?.at(-1);
  const whole = all?.every((each, i) => i === 0 || each.sequence === all[i - 1].sequence + 1);
  return h("section", { class: "panel", "data-key": "chain" }, h("h2", {}, "Audit chain"),
    !all && h("p", { class: "soft" }, store.reading("audit")),
    head && [h("p", {}, `${words.count(head.sequence)} entries`, whole ? "" : h("b", { class: "word failed" }, "; entries are missing between the last ones"), ". The last one's hash:"),
      h("p", {}, h("code", { class: "hash" }, head.hash)),
      h("p", { class: "soft" }, "Keep it elsewhere from time to time; ", h("code", {}, "schedmate audit --verify"), " walks the whole chain."),
      h("details", { class: "values" }, h("summary", {}, "The last entries"), h("ul", { class: "plain" }, [...all].reverse().map((each) => h("li", { "data-key": each.sequence }, h("b", {}, each.sequence), " ",
        each.action ? [h("a", { href: `#/actions/${each.action}` }, `action ${each.action}`), ` ${each.state ?? ""}`] : words.field_word(each.what ?? ""), h("span", { class: "soft" }, ` by ${each.by ?? "?"}${each.seen ? `: ${each.seen}` : ""}`)))))],
    all && !head && h("p", { class: "soft" }, "It has no entry yet."));
}

// --- the view ---------------------------------------------------------------------------------
function choice(name, label, values, text) {
  return h("label", { "data-key": name }, `${label} `, h("select", { value: filter[name], onchange: (event) => { filter[name] = event.target.value; render(); } },
    h("option", { value: "" }, "all"), values.map((each) => h("option", { value: each }, text(each)))));
}

/// Whether each word of the search stands in what its row shows, or in another reason or note.
export function is_found(action, text) {
  const shown = [action.id, words.action_text(action, true), words.kind_name(action.kind), action.state, ...(action.why || []), last_of(action).note, decided_by(action)].join(" ").toLowerCase();
  return text.toLowerCase().split(/\s+/).every((word) => shown.includes(word));
}

/// Rows more of those that fit; where all are shown, older ones are read first.
async function show_older(fits) {
  if (fits <= most) {
    is_reading_older = true;
    render();
    try {
      await read_older_actions();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      problem = error;
      say(error.text);
    } finally {
      is_reading_older = false;
    }
  }
  most += rows_at_once;
  render();
}

function older(fits) {
  const may_read = store.actions_known && store.actions_before !== null && Math.min(...store.actions.keys()) > 1;
  if (fits <= most && !(may_read && store.actions.size > 0)) return null;
  return h("p", { "data-key": "older" }, h("button", { type: "button", disabled: is_reading_older, onclick: () => show_older(fits) }, is_reading_older ? "Reading..." : "Show older actions"));
}

let absent = null;
async function read_one(id) {
  absent = null;
  try {
    store.actions.set(id, await ask(`actions/${id}`));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    absent = error;
  }
  render();
}

function render() {
  if (!root) return;
  const all = [...store.actions.values()].sort((a, b) => b.id - a.id);
  const waiting = all.filter((action) => action.state === "waiting");
  const states = [...new Set(all.map((action) => action.state))].sort(), kinds = [...new Set(all.map((action) => action.kind))].sort();
  const is_listed = (action) => filter.state || filter.kind || filter.text || action.state !== "waiting";
  const fits = all.filter((action) => is_listed(action) && (!filter.state || (filter.state === "open" ? !is_end(action) : action.state === filter.state)) && (!filter.kind || action.kind === filter.kind) && is_found(action, filter.text));
  const chosen = store.actions.get(open_id);
  const trouble = problem || store.problems.get("actions");
  const table = (rows, label) => h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label }, h("table", { class: "actions" }, action_head(), h("tbody", {}, rows.map(action_row))));
  show(root, h("h1", {}, "Actions"), trouble && trouble.status !== 0 && h("p", { class: "problem", "data-key": "problem" }, trouble.text),
    h("div", { class: "beside" }, h("div", { "data-key": "left" },
      waiting.length > 0 && h("section", { class: "panel alarm", "data-key": "waiting" }, h("h2", {}, store.is_operator() ? "Waiting for you" : "Waiting for an operator", h("small", {}, ` ${waiting.length}`)), table(waiting.slice(0, 50), "Actions that wait")),
      h("section", { "data-key": "all" }, h("div", { class: "list-head" }, h("h2", {}, "On record"), choice("state", "State", ["open", ...states], (each) => each), choice("kind", "Kind", kinds, words.kind_name),
        h("label", { "data-key": "text" }, "Search ", h("input", { type: "search", value: filter.text, autocomplete: "off", spellcheck: "false", placeholder: "node, job, user, reason", oninput: (event) => { filter.text = event.target.value; render(); } })),
        h("span", { class: "soft" }, fits.length > most ? `the newest ${most} of ${words.count(fits.length)}` : words.plural(fits.length, "action"))),
      fits.length > 0 ? table(fits.slice(0, most), "All actions") : h("p", { class: "soft" }, store.actions_known ? "There is none." : store.reading("actions")), older(fits.length))),
    h("div", { class: "side", "data-key": "side" }, chosen ? detail(chosen) : open_id > 0 && absent && h("section", { class: "panel", "data-key": "detail" }, h("h2", {}, `Action ${open_id}`, h("a", { href: "#/actions" }, "Close")), h("p", { class: "problem" }, absent.text)),
      breaker(), chain())));
}

export const view = {
  name: "actions",
  open(element, { id }) {
    root = element;
    open_id = Number(id) || 0;
    problem = null;
    absent = null;
    if (open_id && !store.actions.has(open_id)) read_one(open_id);
    render();
  },
  update: render,
  close() {
    root = null;
  },
};
