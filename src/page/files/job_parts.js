// SPDX-License-Identifier: Apache-2.0
// The parts of the view of one job, each made of a part of its document, and absent with it.
import { h } from "./dom.js";
import { figure, past_runs } from "./plot.js";
import { job_link } from "./cluster.js";
import * as words from "./words.js";

const list_of = (value) => (Array.isArray(value) ? value : []);
const section = (key, title, ...content) => h("section", { class: "part", "data-key": key }, h("h2", {}, title), ...content);
const lines_of = (value) => (Array.isArray(value) ? value : value ? [value] : []).map(words.value_text);

/// A line of a file, as evidence.
const evidence = ({ file, line, text, role, count }) => h("li", { class: role || "" },
  (file || line) && h("span", { class: "place" }, [file, line].filter((each) => each || each === 0).join(":")),
  h("code", {}, String(text ?? "")), count > 1 && h("span", { class: "soft" }, ` x ${words.count(count)}`));

// --- when -------------------------------------------------------------------------------------
/// How often first expectations have held so far, on this cluster; of few no share is told.
function hits_text({ before = 0, inside = 0, after = 0 } = {}) {
  const all = before + inside + after, least = 30;
  return all >= least ? ` Of ${words.plural(all, "start")} that this daemon has seen ${words.percent(inside / all)} lay between what was first told.` : "";
}

export function expectation(job, now_s, hits) {
  const eta = job.eta;
  if (!eta || words.is_over(job) || words.held_up(job)) return null;
  const instant = (s) => (words.is_known(s) ? h("td", { title: words.exactly(s) }, words.instant(s, now_s)) : h("td", {}, "-"));
  const row = (name, quantiles) => quantiles && h("tr", {}, h("th", { scope: "row", class: "text" }, name),
    h("td", {}, words.expected(quantiles, now_s) || "not known"), ["p10", "p50", "p90"].map((each) => instant(quantiles[each])));
  return section("eta", "When", h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Expected times" }, h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col", class: "text" }, "Expected"),
    ["in", "early", "middle", "late"].map((each) => h("th", { scope: "col" }, each)))),
  h("tbody", {}, job.state === "pending" && row("Start", eta.start_s), row("End", eta.end_s)))),
  h("p", { class: "soft" }, `Of ${eta.samples ? words.plural(eta.samples, "replay") : "the replays"} of the queue as it was at ${words.instant(eta.as_of_s ?? now_s, now_s)}, 8 in 10 lie between early and late.${hits_text(hits)}`));
}

export function waiting(job, why) {
  if (job.state !== "pending") return null;
  const block = why?.blocked_by;
  const jobs = list_of(block?.jobs);
  return section("why", "Why it waits",
    h("p", {}, job.held ? "Somebody holds it back." : block ? h("span", {}, h("b", {}, words.field_word(block.reason)), block.text ? `: ${block.text}` : "")
      : "It is not known yet: the queue has not been replayed since it came."),
    jobs.length > 0 && h("p", {}, "It waits for ", jobs.slice(0, 20).map((id, i) => [i > 0 && ", ", job_link(id)]), jobs.length > 20 && ` and ${jobs.length - 20} more`, "."),
    block?.jobs_of_others > 0 && h("p", { class: "soft" }, `And for ${words.plural(block.jobs_of_others, "job")} of others.`));
}

// --- how far ----------------------------------------------------------------------------------
function median(values) {
  return values.length > 0 ? [...values].sort((a, b) => a - b)[values.length >> 1] : null;
}
const speed_text = (ratio) => (ratio > 1.05 ? `, ${words.short(ratio)} times as slow` : ratio < 0.95 ? `, ${words.short(1 / ratio)} times as fast` : ", as fast");
/// Lines of [x, y] on one axis: [all x, the first line's y or null, ...].
function joined(lines) {
  const at = [...new Set(lines.flatMap((line) => line.map(([x]) => x)))].sort((a, b) => a - b);
  return [at, ...lines.map((line) => {
    const values = new Map(line);
    return at.map((x) => values.get(x) ?? null);
  })];
}

export function progress(job) {
  const told = job.progress;
  if (!told) return null;
  const series = list_of(told.series).filter((each) => Number.isFinite(each?.at_s) && Number.isFinite(each?.step));
  const runs = list_of(job.advice?.neighbours), usual = median(runs.map((run) => run.step_time_s).filter((s) => s > 0));
  const share = words.share_done(told);
  const facts = [["Step", words.is_known(told.step) && `${words.count(told.step)}${told.of ? ` of ${words.count(told.of)}` : ""}`],
    ["A step takes", told.step_time_s && words.short(told.step_time_s) + " s"], ["In past runs", told.step_time_s && usual && `${words.short(usual)} s${speed_text(told.step_time_s / usual)}`], ["Loss", Number.isFinite(told.loss) && words.short(told.loss)]];
  const figures = [];
  if (series.length > 1) {
    const at = series.map((each) => each.at_s);
    const common = { x: words.exactly };
    const others = job.started_s ? runs.filter((run) => list_of(run.series).length > 1).slice(0, 3) : [];
    const data = joined([series.map((each) => [each.at_s, each.step]), ...others.map((run) => run.series.map((each) => [job.started_s + each.since_start_s, each.step]))]);
    figures.push(figure({ ...common, key: "steps", title: "Steps", from: 0, to: told.of > 0 ? told.of : undefined, value: words.short, joined: true,
      says: `Steps over time, ${words.count(series.at(-1).step)} at the end${others.length > 0 ? `, beside ${words.plural(others.length, "past run")} since their starts` : ""}`, data,
      lines: [{ label: "step", colour: "--s2", fill: "--s2-fill", text: words.count }, ...others.map((run) => ({ label: `job ${run.job_id}`, colour: "--soft", dash: [4, 4], text: words.count }))] }));
    if (series.some((each) => Number.isFinite(each.loss)))
      figures.push(figure({ ...common, key: "loss", title: "Loss", says: "Loss over time", from: undefined,
        data: [at, series.map((each) => (Number.isFinite(each.loss) ? each.loss : null))], lines: [{ label: "loss", colour: "--s3", text: words.short }] }));
  }
  return section("progress", "How far and how fast", share !== null && h("p", { class: "far" }, h("span", { class: "bar", vars: { "--share": share } }), h("b", {}, words.percent(share))),
    h("dl", { class: "facts" }, facts.filter(([, value]) => value).map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))),
    figures.length > 0 && h("div", { class: "figures-row" }, figures));
}

export function past(job, now_s) {
  const advice = job.advice;
  if (!advice) return null;
  const runs = list_of(advice.neighbours);
  const elapsed = job.started_s ? (job.ended_s ?? now_s) - job.started_s : null;
  const parts = [["Taken from", advice.source && advice.source !== "none" && words.field_word(advice.source)], ["Ends early", Number.isFinite(advice.early_end) && `${words.percent(advice.early_end)} of such runs fail or are cancelled`],
    ["Ask for", advice.time_limit?.slurm && `--time ${advice.time_limit.slurm}`],
    ["Past runs", advice.runs_by_state && Object.entries(advice.runs_by_state).map(([state, count]) => `${words.count(count)} ${words.state_word(state)}`).join(", ")],
    ["Of other users", advice.neighbours_of_others > 0 && words.plural(advice.neighbours_of_others, "past run")]];
  return section("past", "Against its past runs", past_runs(runs, advice.duration_s ?? advice.held_s, elapsed, words.is_over(job)),
    advice.known === false && h("p", {}, "How long it will run is not known: ", words.value_text(advice.not_known ?? "there is nothing like it")),
    h("dl", { class: "facts" }, parts.filter(([, value]) => value).map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))),
    runs.length > 0 && h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Past runs" }, h("table", {}, h("thead", {}, h("tr", {}, ["Run", "Why it is like this one"].map((each) => h("th", { scope: "col", class: "text" }, each)),
      ["Likeness", "Ran for", "A step took"].map((each) => h("th", { scope: "col" }, each)), h("th", { scope: "col", class: "text" }, "Ended as"))),
    h("tbody", {}, runs.slice(0, 12).map((run) => h("tr", {}, h("td", { class: "text" }, run.job_id), h("td", { class: "text wrap" }, words.value_text(run.why ?? "")),
      h("td", {}, Number.isFinite(run.score) ? words.percent(run.score) : ""), h("td", {}, Number.isFinite(run.duration_s) ? words.duration(run.duration_s) : ""),
      h("td", {}, Number.isFinite(run.step_time_s) ? `${words.short(run.step_time_s)} s` : ""), h("td", { class: "text" }, run.state ? words.state_word(run.state) : "")))))));
}

export function use(job) {
  const series = list_of(job.use?.series).filter((each) => Number.isFinite(each?.since_start_s));
  if (series.length < 2 || !job.started_s) return null;
  const line = (name) => series.map((each) => (Number.isFinite(each[name]) ? each[name] : null));
  const text = (value) => `${words.short(value)} %`;
  return section("use", "Use of its GPUs", h("div", { class: "figures-row" }, figure({ key: "gpu", title: "GPU and memory", from: 0, to: 100,
    says: `Use of GPUs in per cent over time, ${text(series.at(-1).gpu_pct ?? 0)} at the end`, x: words.exactly, value: text,
    data: [series.map((each) => job.started_s + each.since_start_s), line("gpu_pct"), line("memory_pct")],
    lines: [{ label: "GPU", colour: "--s0", text }, { label: "memory", colour: "--s3", dash: [5, 3], text }] })));
}

// --- why it died ------------------------------------------------------------------------------
const recommendations = { restart_same: "Restart it where it was", restart_elsewhere: "Restart it on other nodes", do_not_restart: "Do not restart it",
  test_first: "Test the nodes first", notify: "Tell its owner" };

export function diagnosis(job) {
  const told = job.diagnosis;
  if (!told) {
    if (!words.is_over(job) || job.state === "completed" || job.state === "cancelled") return null;
    return section("diagnosis", "Why it ended", h("p", {}, h("b", {}, [words.state_word(job.state), words.exit_text(job)].filter(Boolean).join(", ")), ": nothing more is known, its log has not been read"));
  }
  const lines = list_of(told.evidence), of_role = (role) => lines.filter((each) => (each.role || "cause") === role);
  const group = (title, role) => of_role(role).length > 0 && [h("h3", {}, title), h("ul", { class: "lines" }, of_role(role).map(evidence))];
  const witness = ({ name, asked, agrees, says, events }) => h("tr", {}, h("th", { scope: "row", class: "text" }, name),
    h("td", { class: "text" }, asked === false ? "missing" : agrees === true ? "agrees" : agrees === false ? "disagrees" : "says nothing on this"),
    h("td", { class: "text wrap" }, words.value_text(says ?? ""), list_of(events).map((event) => h("div", { class: "soft" }, [event.node, event.time, event.text].filter(Boolean).join(" ")))));
  return section("diagnosis", "Why it ended", h("p", { class: "cause" }, h("b", {}, [told.class, told.component].filter(Boolean).map(words.field_word).join(", ") || "not known"), told.reason ? `: ${words.value_text(told.reason)}` : ""),
    h("p", { class: "do" }, h("b", {}, recommendations[told.recommendation] || words.field_word(told.recommendation ?? "nothing is recommended")), Number.isFinite(told.confidence) && h("span", { class: "soft" }, `, right in about ${words.percent(told.confidence)} of such cases`)),
    lines_of(told.advice).length > 0 && h("ul", {}, lines_of(told.advice).map((each) => h("li", {}, each))),
    list_of(told.nodes).length > 0 && h("p", {}, "Nodes that a witness names: ", words.value_text(told.nodes)),
    group("Cause", "cause"), group("What followed from it", "cascade"), group("Cleaning up", "teardown"),
    list_of(told.witness).length > 0 && [h("h3", {}, "Witnesses"), h("table", {}, h("thead", {}, h("tr", {}, ["Witness", "On this", "What it says"].map((each) => h("th", { scope: "col", class: "text" }, each)))),
      h("tbody", {}, told.witness.map(witness)))],
    told.seen && h("p", {}, `Seen before: ${words.plural(told.seen.jobs ?? 0, "job")} of ${words.plural(told.seen.users ?? 0, "user")}.`));
}

// --- what it is -------------------------------------------------------------------------------
export function facts(job) {
  const all = job.facts?.facts ?? job.facts;
  if (!all || typeof all !== "object") return null;
  const known = Object.entries(all).filter(([, fact]) => fact && typeof fact === "object" && fact.value !== null && fact.value !== undefined);
  const unknown = Object.entries(all).filter(([, fact]) => fact && typeof fact === "object" && (fact.value === null || fact.value === undefined)).map(([name]) => words.field_word(name));
  if (known.length + unknown.length === 0) return null;
  return section("facts", "What it is", h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Facts" }, h("table", { class: "fact-table" }, h("thead", {}, h("tr", {}, ["Fact", "Value"].map((each) => h("th", { scope: "col", class: "text" }, each)),
    h("th", { scope: "col" }, "Sure"), ["From", "The line"].map((each) => h("th", { scope: "col", class: "text" }, each)))),
  h("tbody", {}, known.map(([name, fact]) => h("tr", { "data-key": name }, h("th", { scope: "row", class: "text" }, words.field_word(name)), h("td", { class: "text wrap" }, words.value_text(fact.value)),
    h("td", {}, Number.isFinite(fact.confidence) ? words.percent(fact.confidence) : ""), h("td", { class: "text" }, fact.source ?? ""),
    h("td", { class: "text" }, h("ul", { class: "lines" }, list_of(fact.evidence).slice(0, 3).map(evidence)))))))),
  unknown.length > 0 && h("p", { class: "soft" }, `Not known: ${unknown.join(", ")}.`),
  list_of(job.facts?.degraded).length > 0 && h("ul", { class: "soft" }, job.facts.degraded.map((each) => h("li", {}, words.value_text(each)))));
}

export function attempts(job, now_s) {
  const all = list_of(job.attempts).filter((each) => each.started_s);
  if (all.length === 0) return null;
  return section("attempts", "Attempts", h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Attempts" }, h("table", {}, h("thead", {}, h("tr", {}, ["Attempt", "Started", "Ran for", "State", "On", "Why"].map((each) => h("th", { scope: "col", class: "text" }, each)))),
    h("tbody", {}, all.map((each, i) => h("tr", {}, h("th", { scope: "row", class: "text" }, String(i + 1)), h("td", { class: "text" }, words.instant(each.started_s, now_s)),
      h("td", { class: "text" }, words.duration((each.ended_s ?? now_s) - each.started_s)),
      h("td", { class: "text" }, each.state ? words.state_word(each.state) : ""),
      h("td", { class: "text wrap" }, words.nodes_text(list_of(each.nodes))), h("td", { class: "text wrap" }, words.value_text(each.why ?? ""))))))));
}
