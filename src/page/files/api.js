// SPDX-License-Identifier: Apache-2.0
// The daemon's API: questions, its stream of events, and what is said when something is wrong. The
// token is in this tab's sessionStorage and nowhere else.
const place = "schedmate.token";
const base = new URL("api/v1/", document.baseURI);

export const token = {
  get: () => sessionStorage.getItem(place),
  set: (text) => sessionStorage.setItem(place, text),
  clear: () => sessionStorage.removeItem(place),
};

/// What went wrong, in words: `message`, and `mend`: what can be done.
export class Problem extends Error {
  constructor(status, message, mend = "", wait_s = 0) {
    super(message);
    Object.assign(this, { status, mend, wait_s });
  }
  get text() {
    return this.mend ? `${this.message}: ${this.mend}` : this.message;
  }
}

const plain = {
  401: ["a token is needed, or this one is not known any more", "ask an operator for one"],
  403: ["your role may not do this", "ask an operator of this cluster"],
  404: ["it is not there, or it is not yours to see", ""],
  429: ["too many requests come from here", "the page tries again by itself"],
  503: ["the daemon is not ready", "the page tries again by itself"],
};

async function problem_of(response) {
  let told = {};
  try {
    told = await response.json();
  } catch { /* not JSON: what the status says must do */ }
  const [message, mend] = plain[response.status] || [`the daemon answered ${response.status}`, ""];
  const word = (text, other) => (typeof text === "string" && text ? text : other);
  const told_mend = response.status === 401 ? "" : told.mend; // which is for programs
  return new Problem(response.status, word(told.message, message), word(told_mend, mend),
    Math.min(60, Number(response.headers.get("Retry-After")) || 0));
}

function headers(more = {}) {
  const held = token.get();
  return held ? { ...more, Authorization: `Bearer ${held}` } : more;
}

async function send(path, options) {
  let response;
  try {
    response = await fetch(new URL(path, base), { cache: "no-store", credentials: "omit", ...options });
  } catch (error) {
    if (error.name === "TimeoutError") throw new Problem(0, "the daemon did not answer in time");
    throw new Problem(0, "the daemon does not answer");
  }
  if (!response.ok) throw await problem_of(response);
  return response;
}

/// The document at a path below /api/v1. Throws a Problem; status 0: there was no answer.
export async function ask(path, method = "GET") {
  const response = await send(path, { method, headers: headers(), signal: AbortSignal.timeout(60000) });
  try {
    return await response.json();
  } catch {
    throw new Problem(0, "the answer broke off, or is no JSON");
  }
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/// Follows the daemon until the page is closed. `told`: on_event(kind, data), on_full() (read
/// everything again), on_link(state, problem): live, polling, lost or refused.
export class Follower {
  constructor(told) {
    this.told = told;
    this.last = null;
    this.fails = 0;
    this.polls = false;
    this.stopped = false;
    this.wake = () => {};
  }
  /// At once: somebody gave a token, or pressed the button.
  again() {
    this.fails = 0;
    this.wake();
  }
  forget() {
    this.last = null;
    this.abort?.abort();
    this.again();
  }

  async run() {
    for (;;) {
      try {
        if (this.polls) await this.poll();
        else await this.stream();
        this.fails = 0;
      } catch (problem) {
        this.fails += 1;
        const refused = problem.status === 401 || problem.status === 403;
        this.told.on_link(refused ? "refused" : "lost", problem);
        const wait = refused ? 600000 : Math.max(1000 * (problem.wait_s || 0), Math.min(5000, 400 * 2 ** this.fails));
        await Promise.race([pause(wait), new Promise((resolve) => { this.wake = resolve; })]);
      }
    }
  }

  heard(event) {
    if (event.id) this.last = event.id;
    if (event.kind === "full") this.told.on_full();
    else if (event.kind) {
      try {
        this.told.on_event(event.kind, JSON.parse(event.data));
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
      }
    }
  }

  /// Until it ends. Where nothing comes through (a proxy that keeps it back), deltas are asked for.
  async stream() {
    const quiet = { first: 6000, later: 40000 };
    this.abort = new AbortController();
    const { signal } = this.abort;
    let timer = setTimeout(() => this.abort.abort(), quiet.first);
    const fresh = this.last === null;
    let any = false;
    try {
      const more = fresh ? {} : { "Last-Event-ID": String(this.last) };
      const response = await send("events", { headers: headers(more), signal });
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      if (!fresh) this.told.on_link("live");  // there may be nothing to say until the heartbeat
      let rest = "";
      for (;;) {
        if (any || !fresh) {
          clearTimeout(timer);
          timer = setTimeout(() => this.abort.abort(), quiet.later);
        }
        const { value, done } = await reader.read();
        if (done) throw new Problem(0, "the daemon ended the connection");
        any = true;
        this.fails = 0;
        this.told.on_link("live");
        const parts = (rest + value).split("\n\n");
        rest = parts.pop();
        for (const part of parts) this.heard(parsed(part));
      }
    } catch (problem) {
      if (signal.aborted && fresh && !any && this.last === null) {
        this.polls = true;
        return;
      }
      if (problem instanceof Problem) throw problem;
      throw new Problem(0, "the daemon does not answer any more");
    } finally {
      clearTimeout(timer);
      this.abort.abort();
    }
  }

  async poll() {
    const until = Date.now() + 300000;
    while (Date.now() < until) {
      const delta = await ask(`changes?since=${this.last ?? 0}`);
      this.told.on_link("polling");
      if (delta.full) this.told.on_full();
      for (const { kind, data } of delta.changes) this.told.on_event(kind, data);
      this.last = delta.last;
      await pause(1000);
    }
    this.polls = false;
    this.last = null;
  }
}

function parsed(text) {
  const event = { id: 0, kind: "", data: "" };
  for (const line of text.split("\n")) {
    const [, name, value] = /^([a-z]+): ?(.*)$/.exec(line) || [];
    if (name === "id") event.id = value;
    if (name === "event") event.kind = value;
    if (name === "data") event.data += value;
  }
  return event;
}
