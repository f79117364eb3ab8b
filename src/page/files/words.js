// SPDX-License-Identifier: Apache-2.0
// Numbers, times and names for people.
/// Of a number that may be absent: null compares as 0.
export const is_known = Number.isFinite;
export const count = (value) => Math.round(value).toLocaleString("en");
export const plural = (value, one, more = `${one}s`) => `${count(value)} ${value === 1 ? one : more}`;
export const short = (value) => (Math.abs(value) >= 1000 ? count(value) : String(Number(value.toPrecision(3))));
export const percent = (share) => `${100 * share > 0 && 100 * share < 9.95 ? Number((100 * share).toFixed(1)) : Math.round(100 * share)} %`;

/// "45 s", "12 min", "3 h 20 min", "2 d 4 h".
export function duration(seconds) {
  const s = Math.max(0, Math.round(seconds));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.round(s / 60)} min`;
  const two = (large, one, small, other, size) => {
    const whole = Math.floor(s / large), rest = Math.round((s - whole * large) / small);
    if (rest === size) return `${whole + 1} ${one}`;
    return rest && whole < 10 ? `${whole} ${one} ${rest} ${other}` : `${Math.round(s / large)} ${one}`;
  };
  return s < 86400 ? two(3600, "h", 60, "min", 60) : two(86400, "d", 3600, "h", 24);
}

/// In one unit: "45 s", "12 min", "3.4 h", "2 d".
export function brief(seconds) {
  const s = Math.max(0, Math.round(seconds));
  const [size, unit] = s < 60 ? [1, "s"] : s < 3600 ? [60, "min"] : s < 2 * 86400 ? [3600, "h"] : [86400, "d"];
  const value = s / size;
  return `${size < 3600 || value >= 10 ? Math.round(value) : Number(value.toFixed(1))} ${unit}`;
}

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const day = { format: (at) => `${at.getDate()} ${months[at.getMonth()]}` };
const year = { format: (at) => String(at.getFullYear()) };
const full = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "long" });

/// "14:05" of today, "3 Sep 14:05" of this year.
export function instant(at_s, now_s) {
  if (at_s === null || at_s === undefined) return "";
  const at = new Date(at_s * 1000), now = new Date(now_s * 1000);
  if (day.format(at) === day.format(now) && year.format(at) === year.format(now)) return clock.format(at);
  const text = `${day.format(at)} ${clock.format(at)}`;
  return year.format(at) === year.format(now) ? text : `${text.replace(/ (?=\d\d:)/, ` ${year.format(at)} `)}`;
}
const zone_name = new Intl.DateTimeFormat("en-GB", { timeZoneName: "short" });
/// "UTC", "CET": in which all times stand.
export const zone = (at_s) => zone_name.formatToParts(new Date(at_s * 1000)).find(({ type }) => type === "timeZoneName")?.value ?? "";

/// Of the marks on an axis: the day where it begins, the time else.
export const axis_times = (all) => all.map((s, i) => {
  const at = new Date(s * 1000);
  const is_new = i > 0 && day.format(at) !== day.format(new Date(all[i - 1] * 1000));
  return all.length > 1 && all[1] - all[0] >= 86400 ? day.format(at) : is_new ? day.format(at) : clock.format(at);
});
export const exactly = (at_s) => `${full.format(new Date(at_s * 1000))} (${iso(at_s)})`;
export function iso(at_s) {
  const at = new Date(at_s * 1000);
  return Number.isNaN(at.getTime()) ? "" : at.toISOString().replace(".000", "");
}

/// "12 min (5 min to 1.2 h)", "2 h or later" or "now", of {p10, p50, p90} in seconds on the cluster's
/// clock, of which the last ones may be null; "": it is not known.
export function expected(quantiles, now_s) {
  const { p10, p50, p90 } = quantiles || {};
  if (!is_known(p10) || (!is_known(p50) && p10 <= now_s)) return "";
  const ahead = (s) => (s <= now_s ? "now" : brief(s - now_s));
  if (!is_known(p50)) return `${ahead(p10)} or later`;
  const low = ahead(p10), high = is_known(p90) ? ahead(p90) : "later";
  return low === high ? ahead(p50) : `${ahead(p50)} (${low} to ${high})`;
}

/// What waits for people, whose decision is not foreseen; "": it waits for the cluster.
export const held_up = (job) => ({ approval: "needs approval", mode: "nobody starts jobs" })[job.held_up_by] || "";

export const states = ["pending", "running", "completed", "failed", "cancelled", "timeout", "node_fail",
  "preempted", "requeued"];
/// What is to be said of its health: not that it is well, not known, or what its state says anyway.
export const ill_word = (job) => (["slow", "hung", "failed"].includes(job.health) && job.health !== job.state ? job.health : "");
export const is_over = (job) => job.state !== "pending" && job.state !== "running";
const state_words = { pending: "waiting", node_fail: "node failed", timeout: "time limit" };
export const state_word = (state) => state_words[state] || String(state).replaceAll("_", " ");

const kinds = {
  set_order: ["Set the order of", "orders set"], hold: ["Hold", "holds"], release: ["Release", "releases"],
  start: ["Start", "starts"], evict: ["Evict", "evictions"], requeue_excluding: ["Requeue", "requeues"],
  drain_node: ["Drain", "drains"], undrain_node: ["Put back into service", "returns to service"],
  release_spare: ["Release the spare", "spares released"], test_nodes: ["Test", "tests of nodes"],
  cancel: ["Cancel", "cancellations"], submit: ["Submit", "submissions"], annotate: ["Annotate", "annotations"],
  notify: ["Tell", "notices"],
};
export const kind_name = (kind) => (kinds[kind] || [kind, kind])[1];

/// Which nodes, and of each which GPUs: "a01 (GPUs 0 to 3), a02".
export function nodes_text(nodes) {
  return (nodes || []).map(({ node, gpus }) => (gpus?.length ? `${node} (${gpus_text(gpus)})` : node)).join(", ");
}
export function gpus_text(gpus) {
  const all = [...gpus].sort((a, b) => a - b);
  const is_row = all.length > 2 && all.at(-1) - all[0] === all.length - 1;
  return `GPU${all.length === 1 ? "" : "s"} ${is_row ? `${all[0]} to ${all.at(-1)}` : all.join(", ")}`;
}

function nodes_in_short(nodes) {
  if (!nodes || nodes.length < 3) return nodes_text(nodes);
  const gpus = nodes.reduce((sum, each) => sum + (each.gpus?.length || 0), 0);
  return `${nodes.length} nodes${gpus ? ` (${gpus} GPUs)` : ""}`;
}

/// What an action does, as a sentence; whole: with each of many nodes.
export function action_text(action, whole = false) {
  const call = action.call || {};
  const verb = (kinds[action.kind] || [action.kind])[0];
  const nodes = whole ? nodes_text(call.nodes) : nodes_in_short(call.nodes);
  switch (action.kind) {
    case "start":
      return `${verb} job ${call.job}${nodes ? ` on ${nodes}` : ""}${call.shared_with ? `, sharing with job ${call.shared_with}` : ""}`;
    case "set_order":
      return `${verb} job ${call.job} to ${call.order || 0}`;
    case "requeue_excluding":
      return `${verb} job ${call.job}${nodes ? ` away from ${nodes}` : ""}`;
    case "notify":
      return `${verb} ${call.user || "the owner"}${call.job ? ` about job ${call.job}` : ""}`;
    case "submit":
      return `${verb} a job${call.user ? ` for ${call.user}` : ""}`;
    default:
      return `${verb} ${call.job ? `job ${call.job}` : nodes}`;
  }
}

/// How its script ended: "exit code 1", "signal 9"; "": well, or the cluster does not tell.
export const exit_text = ({ exit_code, exit_signal }) => (exit_signal > 0 ? `signal ${exit_signal}` : is_known(exit_code) && exit_code !== 0 ? `exit code ${exit_code}` : "");

/// How far its log is, 0 to 1; null: not known.
export const share_done = ({ step, of }) => (is_known(step) && step >= 0 && of > 0 ? Math.min(1, step / of) : null);

/// The facts' names in words.
export const field_word = (name) => String(name).replaceAll("_", " ");
/// The value of a fact, an estimate or a setting.
export function value_text(value) {
  if (value === null || value === undefined) return "not known";
  if (Array.isArray(value)) return value.map(value_text).join(", ");
  if (typeof value === "object") {
    if ("amount" in value && "unit" in value) return `${value_text(value.amount)} ${value.unit}`;
    return Object.entries(value).map(([key, each]) => `${field_word(key)} ${value_text(each)}`).join(", ");
  }
  return typeof value === "number" ? (Number.isInteger(value) ? count(value) : String(value)) : String(value);
}
