#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page in a real browser, of the real daemon on a replay: real_test.py SCHEDMATED TRACE FOLDER"""
import json
import re
import signal
import sys
import time
import urllib.error
import urllib.request

from browser import SIZES, Browser, expect
from real_site import PageSite


def get(address, headers=None):
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers or {}), timeout=30) as answer:
            return answer.status, dict(answer.headers), answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, dict(error.headers), error.read().decode()


def served(site):
    status, headers, text = get(site.address)
    expect("the page is served without a token", status == 200 and headers["Content-Type"].startswith("text/html"))
    expect("under a strict policy", "default-src 'none'" in headers["Content-Security-Policy"] and "unsafe" not in headers["Content-Security-Policy"] and headers["Cache-Control"] == "no-store")
    files = set(re.findall(r'(?:src|href)="page/([^"]+)"', text))
    size, seen = len(text.encode()), set()
    while files - seen:
        name = min(files - seen)
        seen.add(name)
        status, headers, text = get(f"{site.address}page/{name}")
        expect(f"/page/{name} is there", status == 200 and ("javascript" if name.endswith(".js") else "css") in headers["Content-Type"])
        size += len(text.encode())
        files |= set(re.findall(r'from "\./([^"]+)"', text))
    expect(f"all of it has {size} bytes", size <= 300_000)
    for name in ("none.js", "..%2fpage.css", "%2e%2e", "index.html%00"):
        expect(f"/page/{name} is nothing", get(f"{site.address}page/{name}")[0] in (400, 404))


def sign_in(browser, site, role, route="#/cluster"):
    browser.open(site.address)
    browser.run("sessionStorage.clear()")
    browser.open(site.address + route)
    browser.until("document.getElementById('token-dialog').open", "it asks who is there")
    browser.keys(site.tokens[role], "ENTER")
    browser.until("!document.getElementById('token-dialog').open", "it lets in")
    browser.has(role, 10, "header")


EVENTS = 20


def followed(browser, site):
    """Live changes within two seconds, on the browser's clock: from the event in a stream of the test's own to the page;
    four at most of each reading of the cluster."""
    browser.driver.get_log("browser")
    sign_in(browser, site, "operator", "#/jobs")
    browser.until("document.querySelectorAll('table.jobs tbody:not(.gap) tr').length > 0", "jobs are listed", 30)
    took = browser.driver.execute_async_script("""
      const [count, done] = arguments, told = new Map(), heard = [], box = document.getElementById("search");
      const a_while = () => new Promise((next) => setTimeout(next, 10));
      const listen = async () => {
        const answer = await fetch("api/v1/events", { headers: { Authorization: `Bearer ${sessionStorage.getItem("schedmate.token")}` } });
        const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
        for (let text = ""; ; ) {
          const parts = (text + (await reader.read()).value).split("\\n\\n");
          text = parts.pop();
          for (const [, data] of parts.map((each) => /event: job\\ndata: (.*)/.exec(each)).filter(Boolean)) {
            const job = JSON.parse(data);
            told.set(job.id, job.state);
            heard.push({ id: job.id, at: performance.now() });
          }
          heard.splice(0, heard.length - 4);
        }
      };
      const follow = async () => {
        const took = [];
        while (took.length < count) {
          while (!heard.length) await a_while();
          const { id, at } = heard.pop();
          box.value = `id:${id}`;
          box.dispatchEvent(new Event("input"));
          while (!document.querySelector(`table.jobs tr[data-key="${id}"] .word.${told.get(id)}`)) await a_while();
          took.push((performance.now() - at) / 1000);
        }
        return took;
      };
      Promise.race([listen(), follow()]).then(done, (error) => done(String(error)));""", EVENTS)
    expect(f"what {EVENTS} events of jobs tell is measured", isinstance(took, list) and len(took) == EVENTS, took)
    middle, longest = sorted(took)[EVENTS // 2], max(took)
    expect(f"of {EVENTS} events what they tell is on view after {middle:.2f} s, at the longest {longest:.2f} s", longest < 2)
    expect("the console is silent", not (said := browser.complaints(401, 501)), said)


def job_of(site, state):
    """One that stays so for long: the last to be foreseen to end."""
    jobs = site.ask("GET", f"/api/v1/jobs?state={state}")[1]["jobs"]
    return "#/jobs/" + max(jobs, key=lambda each: (each["eta"] or {}).get("end_s", {}).get("p50") or 0)["id"]


def look(browser, name, route, words):
    """At three sizes, light and dark."""
    browser.go(route)
    for scheme in ("light", "dark"):
        browser.colours(scheme)
        for size, shape in SIZES.items():
            browser.size(*shape)
            browser.has(words)
            browser.settled()
            time.sleep(0.1)
            wrong = browser.wrong() + browser.axe()
            browser.picture(f"real_{name}_{size}_{scheme}")
            expect(f"{name}, {size}, {scheme}: nothing is wrong", not wrong, wrong)
    browser.colours("light")
    browser.size(*SIZES["usual"])
    expect(f"{name}: the console is silent", not (said := browser.complaints(401)), said)


def every_view(browser, site, busy):
    sign_in(browser, site, "operator")
    action = site.ask("GET", "/api/v1/actions?state=waiting&limit=1")[1]["actions"][0]
    look(browser, "waiting", f"#/jobs/{action['call']['job']}", "its start waits for an operator")
    look(browser, "actions", f"#/actions/{action['id']}", "What came of it")
    # A cluster that starts jobs itself, days later.
    sign_in(browser, busy, "operator")
    look(browser, "cluster", "#/cluster", "Over time")
    look(browser, "jobs", "#/jobs", "jobs")
    look(browser, "running", job_of(busy, "running"), "Started")
    look(browser, "failed", job_of(busy, "failed"), "Attempts")
    look(browser, "ledger", "#/ledger", "How it is counted")
    sign_in(browser, site, "operator")


def decided(browser, site):
    sign_in(browser, site, "operator", "#/actions")
    browser.has("Waiting for you", 30)
    number = browser.run("return document.querySelector('.alarm tbody tr').dataset.key")
    browser.click(f".alarm tr[data-key='{number}'] button", "Approve")
    browser.until("document.getElementById('confirm').open", "it asks before")
    browser.click("#confirm-yes")
    site.wait(lambda: site.ask("GET", f"/api/v1/actions/{number}")[1]["state"] == "verified", "it is carried out")
    by = [step["by"] for step in site.ask("GET", f"/api/v1/actions/{number}")[1]["steps"] if step["state"] == "approved"]
    expect(f"action {number} was approved from the page, on record by {by}", by == ["token operator"])
    browser.until("![...document.querySelectorAll('.alarm tbody tr')].some((each) => each.dataset.key === arguments[0])", "it waits no more", 5, number)


def gone_and_back(browser, site, each):
    browser.go("#/cluster")
    browser.has("Needs attention")
    each.send_signal(signal.SIGKILL)
    each.wait()
    took = browser.has("no connection", 10, "#link")
    expect(f"killed: the page says so after {took:.2f} s", took < 3)
    browser.has("as it was at", 5, "#notice")
    expect("and keeps what it knew", browser.run("return document.querySelectorAll('.node').length") > 50)
    again = site.start()
    site.wait(site.answers, "it answers again")
    took = browser.until("document.getElementById('link').textContent === 'live'", "it is back", 15)
    browser.until("document.getElementById('notice').hidden", f"the notice goes; the page went on by itself after {took:.2f} s", 60)
    return again


def seen_by_role(browser, site):
    owner = site.ask("GET", "/api/v1/jobs?limit=1")[1]["jobs"][0]["user"]
    for role in ("owner", "viewer"):
        sign_in(browser, site, role, "#/jobs")
        time.sleep(1)
        browser.has("of others wait or run", 20)
        expect(f"{role}: no job of others is named", browser.run("return document.querySelectorAll('table.jobs tbody:not(.gap) tr').length") == 0 and owner not in browser.text("main"))
        browser.go("#/cluster")
        browser.has("jobs of others", 20)
        expect(f"{role}: the map names nobody", owner not in browser.text("main"))
    site.write_tokens(but=("viewer",))
    browser.until("document.getElementById('token-dialog').open", "a revoked token ends it", 15)
    browser.complaints()


def from_folder(site, daemon):
    """--ui-dir."""
    folder = site.folder / "ui"
    folder.mkdir()
    (folder / "index.html").write_text("mine")
    each = site.start_with("--ui-dir", folder)
    site.wait(site.answers, "it answers")
    expect("--ui-dir serves that folder", get(site.address)[2] == "mine")
    status, _, text = get(site.address + "page/page.css")
    expect("and says what is missing there", status == 400 and "page.css" in json.loads(text)["message"], text)
    each.terminate()
    each.wait()


def main():
    daemon, trace, folder = sys.argv[1:4]
    browser = Browser(folder)
    site = PageSite(daemon, trace, 20_000, 'speed = 600\n[order]\npolicy = "backfill_easy"\n[mode]\norder = "approve"\n')
    busy = PageSite(daemon, trace, 20_000, 'speed = 5000\npolicy = "backfill_easy"\n[order]\npolicy = "schedmate"\n')
    try:
        busy_daemon = busy.start()
        each = site.start()
        for one in (busy, site):
            one.wait(one.answers, "it answers")
        served(site)
        browser.size(1280, 900)
        browser.open(site.address)
        followed(browser, busy)
        decided(browser, site)
        every_view(browser, site, busy)
        each = gone_and_back(browser, site, each)
        seen_by_role(browser, site)
        each.terminate()
        each.wait()
        from_folder(site, daemon)
        busy_daemon.terminate()
        busy_daemon.wait()
    finally:
        browser.close()
        site.end()
        busy.end()


main()
