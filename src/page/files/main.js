// SPDX-License-Identifier: Apache-2.0
// Which view is shown, the line at the top, and the door: token, loss and return of the daemon.
import { ask, Problem, token } from "./api.js";
import { view as actions } from "./actions.js";
import { view as cluster } from "./cluster.js";
import { view as job } from "./job.js";
import { view as jobs } from "./jobs.js";
import { view as ledger } from "./ledger.js";
import { redraw } from "./plot.js";
import { begin_anew, look_at, on_change, start, store, try_again } from "./store.js";
import * as words from "./words.js";

const views = { cluster, jobs, actions, ledger };
const by_id = (id) => document.getElementById(id);
let current = null;

// --- views ------------------------------------------------------------------------------------
function route() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [name, ...rest] = path.split("/");
  let id = rest.join("/");
  try {
    id = decodeURIComponent(id);
  } catch { /* as it stands */ }
  const view = name === "jobs" && id ? job : views[name] || cluster;
  return { view, id, query: new URLSearchParams(query), key: `${view.name} ${id}` };
}

function go() {
  const next = route();
  if (current?.key === next.key && next.view !== jobs) return;
  const is_first = current === null;
  const stays = current?.view === next.view && next.view === actions;
  current?.view.close?.();
  const main = by_id("main");
  if (!stays) main.replaceChildren();
  main.className = `view-${next.view.name}`;
  current = next;
  const names = { cluster: "Cluster", jobs: "Jobs", job: `Job ${next.id}`, actions: "Actions", ledger: "Ledger" };
  document.title = `${names[next.view.name]} - SchedMate`;
  for (const link of document.querySelectorAll("header nav a")) {
    const is_here = link.hash === `#/${next.view === job ? "jobs" : next.view.name}`;
    if (is_here) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  look_at(next.view.name);
  next.view.open(main, next);
  if (!is_first && !stays) {
    scrollTo(0, 0);
    main.focus({ preventScroll: true });
  }
}

// --- the line at the top ----------------------------------------------------------------------
const link_words = { connecting: "connecting", live: "live", polling: "live", lost: "no connection", refused: "not signed in" };
let said_lost = 0;

function top() {
  const { cluster: told, link } = store;
  by_id("cluster-name").textContent = told?.name ?? "";
  const now_s = told && store.now_s();
  by_id("clock").textContent = now_s ? `${words.instant(now_s, 0)} ${words.zone(now_s)}` : "";
  by_id("clock").title = now_s ? `The cluster's clock: ${words.exactly(now_s)}` : "";
  const line = by_id("link");
  if (line.textContent !== link_words[link]) line.textContent = link_words[link];
  line.className = `link ${link}`;
  const who = told?.caller;
  by_id("who").textContent = who ? `${who.user || "?"}, ${who.role}` : "";
  by_id("sign-out").hidden = !token.get();
  const waiting = told?.actions_waiting || 0;
  by_id("waiting").hidden = waiting === 0;
  by_id("waiting-count").textContent = waiting;
  notice();
}

function notice() {
  const box = by_id("notice");
  let text = "";
  if (store.link === "lost") {
    said_lost ||= store.heard;
    const when = said_lost ? `What you see is as it was at ${new Date(said_lost).toLocaleTimeString("en-GB")}.` : "";
    const why = store.problems.get("events");
    text = `${why?.status ? why.text : "The daemon does not answer"}. ${when} The page goes on by itself when it is back.`;
  } else {
    said_lost = 0;
    for (const name of ["cluster", "jobs"]) {
      const problem = store.problems.get(name);
      if (problem && problem.status !== 401 && problem.status !== 0) text = `${problem.text}.`;
    }
    if (!text && store.cluster?.trouble) text = `The daemon does not see the cluster (${store.cluster.trouble}): what stands here is old.`;
    if (!text && store.cluster?.stopped) text = `SchedMate does nothing but show the cluster: ${store.cluster.stopped}.`;
    if (!text && store.cluster?.breaker_open) text = "The breaker is open: SchedMate plans nothing that disturbs anybody. See Actions.";
  }
  if (box.textContent !== text) box.textContent = text;
  box.hidden = text === "";
  box.classList.toggle("stale", store.link === "lost");
  document.body.classList.toggle("stale", store.link === "lost");
}

// --- the token --------------------------------------------------------------------------------
const dialog = by_id("token-dialog");
let let_in = true;
function ask_for_token(problem) {
  if (dialog.open) return;
  let_in = false;
  const had = token.get() !== null;
  by_id("token-why").textContent = had ? "The token of this tab is not accepted any more." : "This door of SchedMate needs a token.";
  by_id("token-problem").textContent = had && problem ? `${problem.text}.` : "";
  by_id("token").value = "";
  dialog.showModal();
}
dialog.addEventListener("cancel", (event) => event.preventDefault());
dialog.addEventListener("close", () => { if (!let_in) dialog.showModal(); });
by_id("token-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const text = by_id("token").value.trim();
  if (!/^[\x21-\x7e]{1,200}$/.test(text)) {
    by_id("token-problem").textContent = "A token has letters, digits and _ alone: smt_ and 64 more.";
    return;
  }
  token.set(text);
  by_id("token-problem").textContent = "";
  try {
    await ask("cluster");
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.status === 401 || error.status === 403 || error.status === 0) {
      if (error.status === 401) token.clear();
      by_id("token-problem").textContent = `${error.text}.`;
      by_id("token").select();
      return;
    }
  }
  by_id("token").value = "";
  let_in = true;
  dialog.close();
  begin_anew();
  current?.view.anew?.();
});
by_id("sign-out").addEventListener("click", () => {
  token.clear();
  begin_anew();
  location.hash = "#/cluster";
  ask_for_token();
});

// --- light and dark ---------------------------------------------------------------------------
const dark = matchMedia("(prefers-color-scheme: dark)");
const is_dark = () => (document.documentElement.style.colorScheme || (dark.matches ? "dark" : "light")) === "dark";
function theme() {
  by_id("theme").textContent = is_dark() ? "Light" : "Dark";
  redraw();
}
by_id("theme").addEventListener("click", () => {
  document.documentElement.style.colorScheme = is_dark() ? "light" : "dark";
  theme();
});
dark.addEventListener("change", theme);

// --- begin ------------------------------------------------------------------------------------
on_change(() => {
  top();
  look_at(current.view.name);
  current.view.update();
});
addEventListener("hashchange", go);
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();  // the address names the view
  by_id("main").focus();
});
addEventListener("online", try_again);
theme();
go();
top();
start(ask_for_token);
setInterval(top, 1000);
