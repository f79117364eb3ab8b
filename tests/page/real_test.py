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

from browser import Browser, expect
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
    browser.run("sessionStorage.clear()")
    browser.open(site.address + route)
    browser.until("document.getElementById('token-dialog').open", "it asks who is there")
    browser.keys(site.tokens[role], "ENTER")
    browser.until("!document.getElementById('token-dialog').open", "it lets in")
    browser.has(role, 10, "header")


def followed(browser, site, each):
    """A live change within two seconds, measured on the machine's clock: from the event to the page."""
    browser.driver.get_log("browser")
    sign_in(browser, site, "operator", "#/jobs")
    browser.until("document.querySelectorAll('table.jobs tbody:not(.gap) tr').length > 0", "jobs are listed", 30)
    # The page's own stream beside one of ours: how long until what was told is on view.
    took = browser.driver.execute_async_script("""
      const done = arguments[0];
      (async () => {
        const answer = await fetch("api/v1/events", { headers: { Authorization: `Bearer ${sessionStorage.getItem("schedmate.token")}` } });
        const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
        let text = "";
        for (;;) {
          text += (await reader.read()).value;
          const told = [...text.matchAll(/event: job\\ndata: (.*)\\n/g)].map((each) => JSON.parse(each[1])).find((job) => job.state === "pending" || job.state === "running");
          if (!told) continue;
          const began = performance.now();
          const box = document.getElementById("search");
          box.value = `id:${told.id}`;
          box.dispatchEvent(new Event("input"));
          for (;;) {
            const row = document.querySelector(`table.jobs tr[data-key="${told.id}"]`);
            if (row) return done((performance.now() - began) / 1000);
            await new Promise((next) => setTimeout(next, 10));
          }
        }
      })().catch((error) => done(String(error)));""")
    expect(f"a job that the daemon tells of is on view after {took} s", isinstance(took, float) and took < 2, took)
    for route, words in (("#/cluster", "Needs attention"), ("#/actions", "Audit chain"), ("#/ledger", "Ledger")):
        browser.go(route)
        browser.has(words)
        time.sleep(0.5)
        wrong = browser.wrong() + browser.axe()
        browser.picture(f"real{route[2:]}")
        expect(f"{route}: nothing is wrong", not wrong, wrong)
    browser.go("#/jobs?q=state:active")
    browser.until("document.querySelector('table.jobs tbody:not(.gap) a')", "a job")
    browser.click("table.jobs tbody:not(.gap) a")
    browser.has("Submitted")
    wrong = browser.wrong()
    expect("one job: nothing is wrong", not wrong, wrong)
    expect("the console is silent", not (said := browser.complaints(401, 501)), said)


def decided(browser, site):
    browser.go("#/actions")
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
    expect(f"back: the page goes on by itself after {took:.2f} s", browser.text("#notice") == "")
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
    try:
        each = site.start()
        site.wait(site.answers, "it answers")
        served(site)
        browser.size(1280, 900)
        browser.open(site.address)
        followed(browser, site, each)
        decided(browser, site)
        each = gone_and_back(browser, site, each)
        seen_by_role(browser, site)
        each.terminate()
        each.wait()
        from_folder(site, daemon)
    finally:
        browser.close()
        site.end()


main()
