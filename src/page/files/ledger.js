// SPDX-License-Identifier: Apache-2.0
// The ledger: GPU-hours used, lost and saved, each with how it is counted.
import { h, show } from "./dom.js";
import { figure } from "./plot.js";
import { store } from "./store.js";
import * as words from "./words.js";

let root = null;
const hours = (value) => `${words.short(value || 0)} h`;
const sum = (rows) => rows.reduce((all, row) => all + (row.gpu_h || 0), 0);

function table(title, rows, name, number, total) {
  const most = Math.max(...rows.map((row) => row.gpu_h || 0), 1e-9);
  return h("section", { class: "part", "data-key": title }, h("h2", {}, title, h("small", {}, ` ${hours(total)}`)),
    rows.length === 0 ? h("p", { class: "soft" }, "Nothing so far.") :
      h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": title }, h("table", { class: "ledger" }, h("thead", {}, h("tr", {}, h("th", { scope: "col", class: "text" }, name), h("th", { scope: "col" }, "GPU-hours"), h("th", { scope: "col", class: "text share" }, h("span", { class: "visually-hidden" }, "Share")),
        h("th", { scope: "col" }, number), h("th", { scope: "col", class: "text" }, "How it is counted"))),
      h("tbody", {}, [...rows].sort((a, b) => b.gpu_h - a.gpu_h).map((row) => h("tr", {}, h("th", { scope: "row", class: "text" }, words.field_word(row.cause ?? row.kind ?? "")), h("td", {}, hours(row.gpu_h)),
        h("td", { class: "text share" }, h("span", { class: "bar", vars: { "--share": (row.gpu_h || 0) / most } })), h("td", {}, words.count(row.attempts ?? row.count ?? 0)), h("td", { class: "text wrap soft" }, words.value_text(row.method ?? "")))))))); 
}

function days_figure(all) {
  const days = all.filter((each) => each.day);  // what is older is one row without a day
  if (days.length < 2) return null;
  const at = days.map((each) => Date.parse(each.day) / 1000);
  const date = (s) => words.iso(s).slice(0, 10);
  const line = (name) => days.map((each) => each[name] ?? null);
  const common = { across: "Day (UTC)", x: date, ticks: (all) => all.map((s) => date(s).slice(5)), incrs: [86400, 2 * 86400, 7 * 86400, 30 * 86400] };
  return h("div", { class: "figures-row", "data-key": "days" }, figure({ ...common, key: "used", title: "GPU-hours used a day", says: `GPU-hours used a day over ${days.length} days`,
    data: [at, line("used_gpu_h")], lines: [{ label: "used", colour: "--s0", fill: "--s0-fill", text: hours }] }),
  figure({ ...common, key: "lost", title: "Lost, idle and saved a day", says: `GPU-hours lost, idle and saved a day over ${days.length} days`,
    data: [at, line("lost_gpu_h"), line("idle_gpu_h"), line("saved_gpu_h")], lines: [{ label: "lost", colour: "--s1", text: hours }, { label: "idle", colour: "--s3", text: hours }, { label: "saved", colour: "--s2", text: hours }] }));
}

function render() {
  const told = store.ledger;
  if (!told) {
    show(root, h("h1", {}, "Ledger"), h("p", { class: store.problems.has("ledger") ? "problem" : "soft" }, store.reading("ledger")));
    return;
  }
  const lost = told.lost || [], saved = told.saved || [];
  const idle = told.idle && told.idle.sampled_gpu_h > 0 ? told.idle : null;  // without samples nothing is known
  const item = (name, value, more) => h("div", {}, h("dt", {}, name), h("dd", {}, h("b", {}, value), " ", h("span", { class: "soft" }, more)));
  const share = (part) => `GPU-hours${told.used_gpu_h > 0 ? `, ${words.percent(part / told.used_gpu_h)} of what was used` : ""}`;
  show(root, h("h1", {}, "Ledger", told.since_s && h("small", {}, ` since ${words.instant(told.since_s, store.now_s())}`)),
    h("dl", { class: "figures" }, item("Used", words.short(told.used_gpu_h || 0), `GPU-hours${told.jobs ? `, ${words.plural(told.jobs, "job")}` : ""}`), item("Lost", words.short(sum(lost)), share(sum(lost))), idle && item("Idle", words.short(idle.gpu_h), `of ${words.short(idle.sampled_gpu_h)} GPU-hours that samples cover`), item("Saved at least", words.short(sum(saved)), share(sum(saved)))), told.used_method && h("p", { class: "soft" }, `Used: ${told.used_method}.`), idle && h("p", { class: "soft" }, `Idle: ${idle.method}.`),
    days_figure(told.days || []), table("Lost", lost, "Cause", "Attempts", sum(lost)), table("Saved", saved, "By", "Times", sum(saved)));
}

export const view = {
  name: "ledger",
  open(element) {
    root = element;
    render();
  },
  update: render,
};
