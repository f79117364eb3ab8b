// SPDX-License-Identifier: Apache-2.0
// The cluster: its GPUs as a map, what needs attention, the queue, and what SchedMate did.
import { h, rove, show } from "./dom.js";
import { history_figures } from "./plot.js";
import { is_end, store } from "./store.js";
import * as words from "./words.js";

const colours = 8;
let chosen = null;   // a node
let picked = null;   // a user, of whom all else is faded
let reached = null;  // the node that Tab finds in the map
let root = null;

const by_name = new Intl.Collator("en", { numeric: true }).compare;
const job_path = (id) => `#/jobs/${encodeURIComponent(id)}`;
export const job_link = (id, text = id) => h("a", { href: job_path(id) }, text);

/// The users with the most GPUs have a colour each, and keep it while they are among them; the
/// caller comes first.
const assigned = new Map();
function colours_of(nodes) {
  const held = new Map();
  for (const node of nodes)
    for (const job of node.jobs) held.set(job.user, (held.get(job.user) || 0) + job.gpus.length);
  const own = store.caller().user;
  const users = [...held].sort((a, b) => (b[0] === own) - (a[0] === own) || b[1] - a[1] || by_name(a[0], b[0]));
  const first = new Set(users.slice(0, colours).map(([user]) => user));
  for (const user of assigned.keys()) if (!first.has(user)) assigned.delete(user);
  const taken = new Set(assigned.values());
  for (const user of first) {
    if (assigned.has(user)) continue;
    const next = [...Array(colours).keys()].find((each) => !taken.has(each));
    taken.add(next);
    assigned.set(user, next);
  }
  return users.map(([user, gpus]) => ({ user, gpus, colour: first.has(user) ? `var(--s${assigned.get(user)})` : "var(--held)" }));
}

const health_colour = { slow: "var(--warn)", hung: "var(--bad)", failed: "var(--bad)" };
const health_of = (id) => store.jobs.get(id)?.health;

function layer(cells, size) {
  const stops = [];
  for (let i = 0; i < cells.length;) {
    let j = i;
    while (j < cells.length && cells[j] === cells[i]) j += 1;
    stops.push(`${cells[i]} ${(100 * i) / cells.length}% ${(100 * j) / cells.length}%`);
    i = j;
  }
  return `linear-gradient(to right, ${stops.join(", ")}) ${size} no-repeat`;
}

/// Backgrounds of a node's strip: who holds each GPU, who shares it, whose job is slow.
function strip(node, colour) {
  const free = node.state === "up" ? "var(--free)" : "transparent";
  const first = Array(node.gpus).fill(null), second = Array(node.gpus).fill("transparent");
  const marks = Array(node.gpus).fill("transparent");
  let shared = false, marked = false;
  for (const job of node.jobs) {
    const tint = picked === null || picked === job.user ? colour.get(job.user) : "var(--faded)";
    for (const gpu of job.gpus) {
      if (gpu < 0 || gpu >= node.gpus) continue;
      if (first[gpu] === null) first[gpu] = tint;
      else {
        second[gpu] = tint;
        shared = true;
      }
      const mark = health_colour[health_of(job.id)];
      if (mark) {
        marks[gpu] = mark;
        marked = true;
      }
    }
  }
  let others = node.held - first.filter((each) => each !== null).length;
  const other = picked === null ? "var(--others)" : "var(--faded)";
  for (let gpu = 0; gpu < node.gpus; gpu += 1) {
    if (first[gpu] !== null) continue;
    first[gpu] = others-- > 0 ? other : free;
  }
  return [marked && layer(marks, "0 100% / 100% 4px"), shared && layer(second, "0 100% / 100% 50%"), layer(first, "0 0 / 100% 100%")]
    .filter(Boolean).join(", ");
}

const is_suspect = (node) => Boolean(node.suspect);
function state_of(node) {
  if (node.state !== "up") return node.state;
  return is_suspect(node) ? "suspect" : "up";
}
const glyphs = { drained: "\u2298", down: "\u2715", suspect: "!", up: "" };

function choose(name) {
  chosen = name;
  reached = name ?? reached;
  render();
}

function tile(node, colour, is_first) {
  const state = state_of(node);
  const ill = node.jobs.filter((job) => health_colour[health_of(job.id)]);
  const says = `${node.name}: ${node.held} of ${words.plural(node.gpus, "GPU")} held${state === "up" ? "" : `, ${state}`}` +
    (ill.length ? `, ${words.plural(ill.length, "job")} slow or hung` : "");
  return h("li", { "data-key": node.name }, h("button", {
    type: "button", class: `node ${state}`, tabindex: is_first ? 0 : -1, "aria-label": says, title: says,
    "aria-pressed": String(chosen === node.name), "data-node": node.name,
    onclick: () => choose(chosen === node.name ? null : node.name),
  }, h("span", { class: "name" }, node.name), glyphs[state] && h("span", { class: "glyph", "aria-hidden": "true" }, glyphs[state]),
  h("span", { class: "strip", vars: { background: strip(node, colour), "--gpus": node.gpus } })));
}

function pools(nodes, colour) {
  const groups = new Map();
  for (const node of nodes) {
    if (!groups.has(node.partition)) groups.set(node.partition, []);
    groups.get(node.partition).push(node);
  }
  const reachable = nodes.some((node) => node.name === reached) ? reached : null;
  let is_first = true;
  return [...groups].sort((a, b) => by_name(a[0], b[0])).map(([name, members]) => {
    const held = members.reduce((sum, node) => sum + node.held, 0), gpus = members.reduce((sum, node) => sum + node.gpus, 0);
    return h("section", { class: "pool", "data-key": name, vars: { "--tiles": Math.min(members.length, 12) } },
      h("h3", {}, name || "nodes", h("small", {}, ` ${words.count(held)} / ${words.count(gpus)}`)),
      h("ul", {}, members.sort((a, b) => by_name(a.name, b.name)).map((node) => {
        const first = reachable ? node.name === reachable : is_first;
        is_first = false;
        return tile(node, colour, first);
      })));
  });
}

function move(event) {
  if (event.key === "Escape" && chosen !== null) {
    choose(null);
    return;
  }
  const all = [...root.querySelectorAll(".map .node")];
  if (!all.includes(document.activeElement)) return;
  const top = document.activeElement.getBoundingClientRect();
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") {
    rove(event, all);
    reached = document.activeElement.dataset.node;
    return;
  }
  // The nearest tile above or below.
  const down = event.key === "ArrowDown";
  let best = null, least = Infinity;
  for (const each of all) {
    const box = each.getBoundingClientRect();
    const y = down ? box.top - top.top : top.top - box.top;
    if (y < 4) continue;
    const far = y * 4 + Math.abs(box.left - top.left);
    if (far < least) [best, least] = [each, far];
  }
  if (!best) return;
  event.preventDefault();
  document.activeElement.tabIndex = -1;
  best.tabIndex = 0;
  best.focus();
  reached = best.dataset.node;
}

function legend(users, nodes) {
  const others = nodes.reduce((sum, node) => sum + Math.max(0, node.held - new Set(node.jobs.flatMap((job) => job.gpus)).size), 0);
  const free = nodes.reduce((sum, node) => sum + (node.state === "up" ? node.gpus - node.held : 0), 0);
  const shown = users.slice(0, colours), rest = users.slice(colours);
  const key = (colour, text, gpus) => h("span", { class: "key" }, h("i", { vars: { background: colour } }), text, h("small", {}, ` ${words.count(gpus)}`));
  return h("div", { class: "legend", role: "group", "aria-label": "Who holds GPUs; press a user to see that one alone" },
    shown.map(({ user, gpus, colour }) => h("button", {
      type: "button", class: "key", "data-key": `user ${user}`, "aria-pressed": String(picked === user),
      onclick: () => { picked = picked === user ? null : user; render(); },
    }, h("i", { vars: { background: colour } }), user, h("small", {}, ` ${words.count(gpus)}`))),
    rest.length > 0 && key("var(--held)", words.plural(rest.length, "other user"), rest.reduce((sum, each) => sum + each.gpus, 0)),
    others > 0 && key("var(--others)", "jobs of others", others), key("var(--free)", "free", free),
    ["drained", "down", "suspect"].filter((word) => nodes.some((node) => state_of(node) === word)).map((word) =>
      h("span", { class: "key" }, h("b", { class: `word ${word}` }, glyphs[word]), word)),
    [...store.jobs.values()].some((job) => health_colour[job.health]) &&
      h("span", { class: "key" }, h("i", { class: "under warn" }), "slow", h("i", { class: "under bad" }), "hung"));
}

// --- beside the map ---------------------------------------------------------------------------
function node_panel(node) {
  return h("section", { class: "panel", "data-key": "node", "aria-label": `Node ${node.name}` },
    h("h2", {}, "Node ", node.name, h("button", { type: "button", class: "quiet", onclick: () => choose(null) }, "Close")),
    h("p", {}, h("span", { class: `word ${state_of(node)}` }, state_of(node)), `, ${node.held} of ${words.plural(node.gpus, "GPU")} held`,
      node.partition && `, in ${node.partition}`),
    node.reason && h("p", { class: "why" }, node.reason),
    is_suspect(node) && h("p", { class: "why" }, "Suspect: ", node.suspect.why ?? String(node.suspect)),
    node.jobs.length > 0 && h("table", {}, h("thead", {}, h("tr", {}, ["GPUs", "Job", "User"].map((each) => h("th", { scope: "col", class: "text" }, each)))),
      h("tbody", {}, node.jobs.map((job) => h("tr", {}, h("td", { class: "text" }, words.gpus_text(job.gpus)),
        h("td", { class: "text" }, job_link(job.id), health_colour[health_of(job.id)] && h("span", { class: `word ${health_of(job.id)}` }, ` ${health_of(job.id)}`)),
        h("td", { class: "text" }, job.user))))),
    node.held > new Set(node.jobs.flatMap((job) => job.gpus)).size && h("p", { class: "soft" }, "Jobs of others are counted, not named."));
}

const on_nodes = new Set(["drain_node", "undrain_node", "test_nodes", "requeue_excluding"]);
/// Decisions about bad nodes that nobody has made in time, within a day, and that were not planned anew.
function undecided(now_s) {
  const newest = new Map();
  for (const action of [...store.actions.values()].filter((each) => on_nodes.has(each.kind)).sort((a, b) => a.id - b.id))
    newest.set(words.action_text(action, true), action);
  return [...newest.values()].filter((each) => each.state === "expired" && each.steps.at(-1).when_s > now_s - 86400).reverse();
}

/// What stands where nothing is found to need attention.
function all_well(nodes) {
  if (store.link === "lost" || store.cluster.trouble || nodes.length === 0) return "Not known: the cluster is not seen now.";
  const running = [...store.jobs.values()].filter((job) => job.state === "running");
  if (running.length > 0 && running.every((job) => !job.health)) return "All nodes are up. Whether jobs are slow or hung is not known.";
  return "Nothing: all nodes are up, no job is slow or hung.";
}

function attention(nodes, now_s) {
  const ill = nodes.filter((node) => state_of(node) !== "up");
  const jobs = [...store.jobs.values()].filter((job) => job.state === "running" && health_colour[job.health]);
  const expired = undecided(now_s);
  const most = 8;
  const hidden = [ill, jobs, expired].reduce((sum, each) => sum + Math.max(0, each.length - most), 0);
  return h("section", { class: "panel", "data-key": "attention" }, h("h2", {}, "Needs attention"),
    ill.length + jobs.length + expired.length === 0 ? h("p", { class: "soft" }, all_well(nodes)) :
      h("ul", { class: "plain" }, expired.slice(0, most).map((action) => h("li", { "data-key": `action ${action.id}` },
        h("a", { href: `#/actions/${action.id}` }, words.action_text(action)), " ", h("span", { class: "word slow" }, "expired"), " ",
        h("span", { class: "soft" }, "nobody decided in time", action.why?.length > 0 && `: ${action.why[0]}`))),
      ill.slice(0, most).map((node) => h("li", { "data-key": `node ${node.name}` },
        h("button", { type: "button", class: "as-link", onclick: () => choose(node.name) }, node.name), " ",
        h("span", { class: `word ${state_of(node)}` }, state_of(node)), " ", h("span", { class: "soft" }, node.suspect?.why || node.reason))),
      jobs.slice(0, most).map((job) => h("li", { "data-key": `job ${job.id}` }, job_link(job.id), " ", h("span", { class: `word ${job.health}` }, job.health),
        " ", h("span", { class: "soft" }, job.user, job.verdict ? `: ${words.value_text(job.verdict)}` : ""))),
      hidden > 0 && h("li", { class: "soft" }, `and ${hidden} more`)));
}

function queue(now_s) {
  const waiting = [...store.jobs.values()].filter((job) => job.state === "pending");
  const start = (job) => job.eta?.start_s?.p50 ?? Infinity;
  waiting.sort((a, b) => start(a) - start(b) || a.submitted_s - b.submitted_s);
  const next = waiting.slice(0, 8);
  const hidden = store.is_operator() ? 0 : store.cluster.queue.pending - waiting.length;  // an operator sees all
  return h("section", { class: "panel", "data-key": "queue" }, h("h2", {}, "Next to start", h("a", { href: "#/jobs?q=state:pending" }, `all ${words.count(waiting.length)}`)),
    next.length === 0 ? h("p", { class: "soft" }, hidden > 0 ? "None of your jobs waits." : "No job waits.") :
      h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col", class: "text" }, "Job"), h("th", { scope: "col", class: "text" }, "User"),
        h("th", { scope: "col" }, "GPUs"), h("th", { scope: "col" }, "Starts in"))),
      h("tbody", {}, next.map((job) => h("tr", { "data-key": job.id }, h("td", { class: "text clip" }, job_link(job.id, job.name || job.id)),
        h("td", { class: "text clip" }, job.user), h("td", {}, job.gpus),
        h("td", {}, words.held_up(job) || words.expected(job.eta?.start_s, now_s) || (job.held ? "held" : "not known")))))),
    hidden > 0 && h("p", { class: "soft" }, `${words.plural(hidden, "job")} of others ${hidden === 1 ? "waits" : "wait"}, too.`));
}

const outcomes = ["would do", "waits", "under way", "done", "not done"];
function outcome_of(action) {
  if (action.state === "shadowed") return 0;
  if (action.state === "waiting") return 1;
  if (action.state === "verified" || action.state === "undone") return 3;
  return is_end(action) ? 4 : 2;
}

function deeds(now_s) {
  const kinds = new Map();
  let oldest = Infinity;
  for (const action of store.actions.values()) {
    const when = action.steps?.[0]?.when_s ?? 0;
    oldest = Math.min(oldest, when);
    if (when < now_s - 86400) continue;
    if (!kinds.has(action.kind)) kinds.set(action.kind, Array(outcomes.length).fill(0));
    kinds.get(action.kind)[outcome_of(action)] += 1;
  }
  const modes = store.cluster.modes || {};
  const since = store.actions.size >= 1000 && oldest > now_s - 86400 ? `the last ${words.duration(now_s - oldest)}` : "the last 24 hours";
  const columns = outcomes.map((_, i) => i).filter((i) => [...kinds.values()].some((row) => row[i] > 0));
  return h("section", { class: "panel", "data-key": "deeds" }, h("h2", {}, "SchedMate in ", since, h("a", { href: "#/actions" }, "actions")),
    Object.keys(modes).length > 0 && h("p", { class: "modes" }, Object.entries(modes).map(([area, mode]) => h("span", { class: "mode" }, `${area} `, h("b", {}, mode)))),
    kinds.size === 0 ? h("p", { class: "soft" }, store.actions_known ? "It decided nothing." : "Not read yet.") :
      h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col", class: "text" }, "What"), columns.map((i) => h("th", { scope: "col" }, outcomes[i])))),
        h("tbody", {}, [...kinds].sort((a, b) => b[1].reduce((x, y) => x + y) - a[1].reduce((x, y) => x + y)).map(([kind, row]) =>
          h("tr", { "data-key": kind }, h("th", { scope: "row", class: "text" }, words.kind_name(kind)), columns.map((i) => h("td", {}, row[i] ? words.count(row[i]) : "")))))));
}

// --- the view ---------------------------------------------------------------------------------
function figures(nodes) {
  const cluster = store.cluster, up = nodes.filter((node) => node.state !== "down");
  const gpus = up.reduce((sum, node) => sum + node.gpus, 0), held = nodes.reduce((sum, node) => sum + node.held, 0);
  const number = (word) => nodes.filter((node) => state_of(node) === word).length;
  const parts = ["drained", "down", "suspect"].filter((word) => number(word) > 0).map((word) => `${number(word)} ${word}`);
  const item = (name, value, more, bar) => h("div", {}, h("dt", {}, name), h("dd", {}, h("b", {}, value), " ", h("span", { class: "soft" }, more),
    bar !== undefined && h("span", { class: "bar", vars: { "--share": bar } })));
  return h("dl", { class: "figures" },
    item("GPUs in use", words.count(held), `of ${words.count(gpus)}`, gpus ? held / gpus : 0),
    item("Nodes up", words.count(nodes.length - number("down") - number("drained")), [`of ${words.count(nodes.length)}`, ...parts].join(", ")),
    item("Running", words.count(cluster.queue.running), cluster.queue.running === 1 ? "job" : "jobs"),
    item("Waiting", words.count(cluster.queue.pending), cluster.queue.pending === 1 ? "job" : "jobs"),
    item("Breaker", cluster.breaker_open ? "open" : "closed", cluster.breaker_open ? "nothing that disturbs is planned" : ""));
}

function history() {
  if (store.history.length < 2) return h("p", { class: "soft", "data-key": "history" }, "Use and queue over time appear here as they are seen.");
  const span = store.history.at(-1).at_s - store.history[0].at_s;
  return h("section", { "data-key": "history" }, h("h2", {}, "Over time ", h("small", {}, store.history_told ? `the last ${words.duration(span)}` : `as seen from this page, ${words.duration(span)}`)),
    h("div", { class: "figures-row" }, history_figures(store.history)));
}

function render() {
  const cluster = store.cluster;
  if (!cluster) {
    show(root, h("h1", {}, "Cluster"), h("p", { class: "soft" }, store.link === "refused" ? "" : store.reading("cluster")));
    return;
  }
  const now_s = store.now_s();
  const nodes = cluster.nodes.map((node) => ({ ...node, jobs: node.jobs || [] }));
  const users = colours_of(nodes);
  if (picked !== null && !users.some(({ user }) => user === picked)) picked = null;
  const colour = new Map(users.map((each) => [each.user, each.colour]));
  const node = nodes.find((each) => each.name === chosen);
  show(root, h("h1", { class: "visually-hidden" }, "Cluster ", cluster.name || ""), figures(nodes),
    h("div", { class: "beside" },
      h("div", { "data-key": "left" }, h("section", { class: "map-section" }, h("h2", { class: "visually-hidden" }, "Map of nodes and GPUs"), legend(users, nodes),
        h("div", { class: "map", onkeydown: move }, pools(nodes, colour)),
        nodes.length === 0 && h("p", { class: "soft" }, "The cluster has shown no nodes.")), history()),
      h("div", { class: "side", "data-key": "side" }, node && node_panel(node), attention(nodes, now_s), queue(now_s), deeds(now_s))));
}

export const view = {
  name: "cluster",
  open(element) {
    root = element;
    render();
  },
  update: render,
};
