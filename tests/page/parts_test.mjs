// SPDX-License-Identifier: Apache-2.0
// What the page says of made documents, without a browser: node parts_test.mjs. Of the document object
// model there is as much as the views need to be built once.
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

globalThis.Node = class {
  constructor(name, text) {
    Object.assign(this, { nodeType: text === undefined ? 1 : 3, nodeName: name, data: text, childNodes: [], attributes: {},
      style: { setProperty: (key, value) => { this.attributes[key] = value; } } });
  }
  get firstChild() { return this.childNodes[0] ?? null; }
  get textContent() { return this.data ?? this.childNodes.map((each) => each.textContent).join(""); }
  append(...all) { this.childNodes.push(...all); }
  insertBefore(child, at) { this.childNodes.splice(at ? this.childNodes.indexOf(at) : this.childNodes.length, 0, child); }
  setAttribute(name, value) { this.attributes[name] = value; }
  getAttribute(name) { return this.attributes[name] ?? null; }
  contains() { return false; }
  querySelectorAll() { return []; }
  /// All below with this class.
  of_class(name) {
    return this.childNodes.flatMap((each) => [...(each.attributes.class === name ? [each] : []), ...each.of_class(name)]);
  }
};
globalThis.document = { baseURI: "http://page.invalid/", activeElement: null, documentElement: new Node("html"),
  createElement: (name) => new Node(name), createElementNS: (_, name) => new Node(name), createTextNode: (text) => new Node("#text", text) };
process.env.TZ = "Europe/Berlin";

const folder = mkdtempSync(join(tmpdir(), "page-"));
process.on("exit", () => rmSync(folder, { recursive: true }));
cpSync(new URL("../../src/page/files", import.meta.url), folder, { recursive: true });
writeFileSync(join(folder, "package.json"), '{"type": "module"}');
const load = (name) => import(pathToFileURL(join(folder, `${name}.js`)));
const [words, plot, parts, { read_older_actions, store }, { view: cluster }, { view: ledger }, { action_row, is_found, view: actions }] =
  await Promise.all(["words", "plot", "job_parts", "store", "cluster", "ledger", "actions"].map(load));

const now_s = 1_600_000_000;
const quantiles = (...after) => Object.fromEntries(["p10", "p50", "p90"].map((name, i) => [name, after[i] === null ? null : now_s + after[i]]));
const text_of = (view) => {
  const root = new Node("main");
  view.open(root, {});
  return root.textContent;
};
const tests = {
  "a quantile that is absent is not compared"() {
    const text = (...after) => words.expected(quantiles(...after), now_s);
    assert.equal(words.expected(null, now_s), "");
    assert.equal(text(null, null, null), "");
    assert.equal(text(0, null, null), "");
    assert.equal(text(7200, null, null), "2 h or later");
    assert.equal(text(0, 7200, null), "2 h (now to later)");
    assert.equal(text(600, 1200, 7200), "20 min (10 min to 2 h)");
    assert.equal(text(-60, 0, 3600), "now (now to 1 h)");
    assert.equal(text(-60, -50, 0), "now");
  },
  "a job whose forecast lies beyond the horizon starts at no time that is known"() {
    const unknown = quantiles(null, null, null), job = { state: "pending", eta: { start_s: unknown, end_s: unknown, as_of_s: now_s, samples: 20 } };
    const text = parts.expectation(job, now_s).textContent;
    assert.match(text, /Startnot known---Endnot known---/);
    assert.doesNotMatch(text, /\bnow\b|1970/);
    const line = plot.time_line(job, now_s, plot.horizon_of([job], now_s));
    for (const name of ["range start", "range end", "mid start", "mid end"]) assert.equal(line.of_class(name).length, 0);
    assert.equal(line.of_class("runs")[0].attributes.left, "100.00%");
  },
  "a step that is not known is no share"() {
    assert.equal(words.share_done({ step: null, of: 100 }), null);
    assert.equal(words.share_done({ step: 50, of: 100 }), 0.5);
    assert.equal(parts.progress({ progress: { step: null, of: 100 } }).textContent, "How far and how fast");
  },
  "of few starts no share is told"() {
    const text = (inside) => parts.expectation({ state: "running", eta: { end_s: quantiles(1, 2, 3) } }, now_s, { before: 1, inside, after: 1 }).textContent;
    assert.doesNotMatch(text(1), /lay between/);
    assert.doesNotMatch(text(27), /lay between/);
    assert.match(text(28), /Of 30 starts that this daemon has seen 93 % lay between/);
  },
  "advice that comes from nowhere has no source"() {
    assert.doesNotMatch(parts.past({ state: "pending", advice: { source: "none", held_s: null } }, now_s).textContent, /none/);
  },
  "a job that failed says how, with its log or without"() {
    const failed = { state: "failed", diagnosis: null, exit_code: 3, exit_signal: 0 };
    assert.match(parts.diagnosis(failed).textContent, /failed, exit code 3: nothing more is known/);
    assert.match(parts.diagnosis({ ...failed, exit_signal: 9 }).textContent, /signal 9/);
    assert.match(parts.diagnosis({ ...failed, exit_code: null, exit_signal: null }).textContent, /failed: nothing more is known/);
    for (const state of ["running", "completed", "cancelled"]) assert.equal(parts.diagnosis({ ...failed, state }), null);
  },
  "what is not seen is not said to be well"() {
    const node = { name: "a01", partition: "p", gpus: 8, held: 0, state: "up", reason: "", suspect: null, jobs: [] };
    const see = (change) => {
      store.cluster = { nodes: [node], queue: { pending: 0, running: 0 }, now_s, trouble: null, caller: { user: "root", role: "operator" }, ...change };
      return text_of(cluster);
    };
    store.link = "live";
    assert.match(see({}), /Nothing: all nodes are up, no job is slow or hung/);
    assert.match(see({ trouble: "no answer" }), /Not known: the cluster is not seen/);
    assert.match(see({ nodes: [] }), /Not known: the cluster is not seen/);
    store.jobs.set("1", { id: "1", state: "running", user: "ann", health: null });
    assert.match(see({}), /All nodes are up. Whether jobs are slow or hung is not known/);
    store.link = "lost";
    assert.match(see({}), /Not known: the cluster is not seen/);
    store.jobs.clear();
  },
  "a decision that expired needs attention until it is planned anew"() {
    const action = (id, state) => ({ id, kind: "drain_node", state, call: { nodes: [{ node: "a01", gpus: [] }] }, why: ["4 ECC errors"], steps: [{ when_s: now_s - 3600, by: "schedmate" }] });
    store.link = "live";
    store.actions.set(8, action(8, "expired"));
    assert.match(text_of(cluster), /Needs attentionDrain a01 expired nobody decided in time: 4 ECC errors/);
    store.actions.set(9, action(9, "waiting"));
    assert.doesNotMatch(text_of(cluster), /expired/);
    store.actions.clear();
  },
  "what a person asked for is by that person"() {
    const by = (...all) => action_row({ id: 1, kind: "submit", state: "verified", call: { user: "ann" }, steps: all.map((each) => ({ by: each, when_s: now_s })) }).childNodes.at(-1).textContent;
    assert.equal(by("ann (uid 1000)", "schedmate", "schedmate"), "ann (uid 1000)");
    assert.equal(by("schedmate", "root (uid 0)", "schedmate"), "root (uid 0)");
    assert.equal(by("schedmate", "schedmate"), "schedmate");
  },
  "actions are found by what they do, to what, why and by whom"() {
    const action = { id: 17, kind: "drain_node", state: "verified", call: { nodes: [{ node: "n3", gpus: [] }] }, why: ["Xid 79", "4 ECC errors"], steps: [{ by: "olga@site", note: "seen drained" }] };
    for (const text of ["", "n3", "DRAIN", "17", "ecc", "olga n3", "seen verified"]) assert.ok(is_found(action, text), text);
    for (const text of ["n4", "olga n4", "18", "ann"]) assert.ok(!is_found(action, text), text);
    assert.ok(is_found({ id: 1, kind: "submit" }, "submit"));
  },
  "the list of actions has the newest, and a way to the others"() {
    const each = (id) => [id, { id, kind: "start", state: "verified", call: { job: `j${id}` }, steps: [{ by: "schedmate", when_s: now_s }] }];
    const show = (...ids) => {
      store.actions.clear();
      for (const id of ids) store.actions.set(...each(id));
      return text_of(actions);
    };
    store.actions_known = true;
    assert.match(show(7, 8), /2 actions.*Show older actions/);
    assert.doesNotMatch(show(1, 2), /Show older/);
    assert.match(show(...Array.from({ length: 201 }, (_, i) => i + 1)), /the newest 200 of 201.*Show older actions/);
    store.actions.clear();
    assert.doesNotMatch(text_of(actions), /Show older/);
    store.actions_known = false;
  },
  "a search of actions stands in its box when one comes back to it"() {
    const boxes = (node) => (node.attributes.type === "search" ? [node] : node.childNodes.flatMap(boxes));
    const box = () => {
      const root = new Node("main");
      actions.open(root, {});
      actions.close();
      return boxes(root)[0];
    };
    box().oninput({ target: { value: "n3" } });
    const again = box();
    assert.equal(again.value, "n3");
    again.oninput({ target: { value: "" } });
    assert.equal(box().value, "");
  },
  async "older actions come on request, as many pages as it takes, and stay"() {
    const asked = [];
    const page = (ids, next) => ({ actions: ids.map((id) => ({ id, kind: "start", state: "verified" })), next });
    const pages = { 2000: page([], 1000), 1000: page([999, 998], 998), 998: page([1], null) };
    globalThis.sessionStorage = { getItem: () => null };
    globalThis.fetch = async (url) => {
      asked.push(Number(new URL(url).searchParams.get("cursor")));
      return { ok: true, json: async () => pages[asked.at(-1)] };
    };
    store.actions.set(2001, {}).set(2000, {});
    await read_older_actions();
    assert.deepEqual(asked, [2000, 1000]);
    assert.deepEqual([...store.actions.keys()], [2001, 2000, 999, 998]);
    assert.deepEqual([store.actions_kept, store.oldest_action], [4002, 2000]);
    await read_older_actions();
    await read_older_actions();
    assert.deepEqual([asked, store.actions.has(1)], [[2000, 1000, 998], true]);
    store.actions.clear();
  },
  "the ledger says when the daemon is gone"() {
    store.ledger = null;
    assert.match(text_of(ledger), /Reading/);
    store.link = "lost";
    assert.match(text_of(ledger), /The daemon does not answer/);
    store.problems.set("ledger", { status: 0, text: "the daemon did not answer in time" });
    assert.match(text_of(ledger), /did not answer in time/);
  },
  "times name their zone"() {
    assert.match(words.zone(now_s), /^(CEST|GMT\+2)$/);
    assert.match(words.exactly(now_s), /14:26:40 (CEST|GMT\+2) \(2020-09-13T12:26:40Z\)$/);
  },
};
for (const [name, test] of Object.entries(tests)) {
  try {
    await test();
  } catch (error) {
    console.error(`FAILED: ${name}\n${error.message}`);
    process.exitCode = 1;
  }
}
console.log(`${Object.keys(tests).length} tests`);
