#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page in a real browser, on made documents: made_test.py FOLDER [WHAT...]. Pictures stay in FOLDER, to be looked at."""
import sys
import time

import made
from browser import SIZES, Browser, expect
from made_server import MadeServer


def first(server, state):
    return next(each["id"] for each in server.jobs.values() if each["state"] == state)


def routes(server):
    """Each view, and what must be seen in it."""
    return {"cluster": ("#/cluster", "Needs attention"), "jobs": ("#/jobs", "300 jobs"), "job_waiting": (f"#/jobs/{first(server, 'pending')}", "Why it waits"),
            "job_running": (f"#/jobs/{first(server, 'running')}", "How far and how fast"), "job_failed": (f"#/jobs/{first(server, 'failed')}", "Why it ended"),
            "actions": ("#/actions/41", "What came of it"), "ledger": ("#/ledger", "How it is counted")}


def visit(browser, server, name):
    route, words = routes(server)[name]
    browser.go(route)
    browser.has(words)
    browser.settled()


def every_view(browser):
    server = MadeServer()
    for scheme in ("light", "dark"):
        browser.colours(scheme)
        for size, (width, height) in SIZES.items():
            browser.size(width, height)
            browser.open(server.address)
            for name in routes(server):
                visit(browser, server, name)
                time.sleep(0.15)
                wrong = browser.wrong() + browser.axe()
                browser.picture(f"{name}_{size}_{scheme}")
                expect(f"{name}, {size}, {scheme}: nothing is wrong", not wrong, wrong)
            expect(f"{size}, {scheme}: the console is silent", not (said := browser.complaints()), said)
    dark = browser.run("return getComputedStyle(document.documentElement).backgroundColor")
    expect("dark is dark", sum(int(each) for each in dark[4:-1].split(",")) < 120, dark)
    browser.colours("light")
    server.stop()


def figures(browser):
    """What the daemon knows of a job and of GPU time is on view."""
    server = MadeServer()
    browser.size(*SIZES["usual"])
    browser.open(f"{server.address}#/jobs/{first(server, 'running')}")
    for words in ("18 % of such runs fail", "--time 12:00:00", "9 completed, 2 failed", "0.4 s, as fast", "job 102", "Xid 79 on node03", "batch_size 64 here", "1,000 starts that this daemon has seen 68 %"):
        browser.has(words)
    expect("each mark of the time line is named", browser.run("const left = (each) => [...document.querySelectorAll(`.one-line ${each}`)].map((e) => e.style.left).join(); return left('.tick') !== '' && left('.tick') === left('.axis b:not(:first-child)')"))
    day = browser.run("return document.querySelector('[data-key=gpu] tbody th').textContent")
    expect("the use of its GPUs is at its time", "2020" in day, day)
    browser.go(f"#/jobs/{first(server, 'pending')}")
    browser.has("How long it will run is not known: the past runs differ too much")
    server.jobs[first(server, "pending")]["held_up_by"] = "approval"
    browser.open(f"{server.address}#/jobs?q=id:{first(server, 'pending')}%20state:pending")
    browser.has("needs approval")
    browser.go(f"#/jobs/{first(server, 'pending')}")
    browser.has("Why it waits")
    expect("what waits for approval is not said to start", not browser.run("return document.querySelector('[data-key=eta], .timeline')"))
    browser.go("#/ledger")
    browser.has("repeat avoided")
    plots = browser.run("return [...document.querySelectorAll('.plot')].map(({ chart }) => [chart.scales.x.min, chart.scales.x.max])")
    expect("days are plotted from the first to the last, without the row of older ones", plots == [[made.NOW // 86400 * 86400 + day * 86400 for day in (-12, 0)]] * 2, plots)
    expect("the console is silent", not (said := browser.complaints()), said)
    server.stop()


def checks_can_fail(browser):
    server = MadeServer()
    browser.size(*SIZES["usual"])
    plants = {"without a name": "document.querySelector('nav a').textContent = ''", "foreign code": "window.hacked = 1", "a handler in": "document.body.setAttribute('onx', '1')",
              "link out": "document.querySelector('nav a').setAttribute('href', 'http://x.invalid')", "way to code": "document.querySelector('nav a').setAttribute('href', 'javascript:1')",
              "nothing here makes": "document.body.append(document.createElement('iframe'))", "contrast": "document.querySelector('.brand b').style.color = '#bbb'", "first headings": "document.querySelector('main').append(document.createElement('h1'))",
              "of level 4": "document.querySelector('main').append(document.createElement('h4'))", "without scope": "document.querySelector('.side th').removeAttribute('scope')", "twice": "document.body.append(Object.assign(document.createElement('i'), {id: 'main'}))",
              "wider": "document.querySelector('main').style.width = '3000px'", "wider than its place": "document.querySelector('.side h2').style.width = '900px'", "too small": "Object.assign(document.getElementById('theme').style, {minHeight: '5px', height: '10px', padding: 0})"}
    for what, plant in plants.items():
        browser.open(server.address)
        browser.has("Needs attention")
        browser.settled()
        browser.until("document.querySelector('.side th')", "the table beside it")
        found = browser.wrong(plant)
        expect(f"the checks find what is planted: {what}", any(what in each for each in found), found)
    browser.complaints()
    server.stop()


def wrong_but_looks(browser):
    return [each for each in browser.wrong() if "contrast" not in each and "wider than its place" not in each]


def hostile(browser):
    jobs = made.jobs(60)
    for number, text in enumerate(made.HOSTILE, 900):
        jobs[str(number)] = made.job(number, __import__("random").Random(number), "running", text, text)
    server = MadeServer(jobs, hostile=True)
    browser.size(*SIZES["usual"])
    browser.open(server.address)
    for name, (route, _) in routes(server).items():
        browser.go(route)
        browser.until("document.querySelector('main h1')", name)
        browser.settled()
        time.sleep(0.15)
        wrong = wrong_but_looks(browser)
        expect(f"{name}: hostile texts are texts", not wrong, wrong)
    browser.go("#/cluster")
    browser.until("document.querySelector('.node')", "the map")
    browser.click(".node")
    browser.go(f"#/jobs/{first(server, 'failed')}")
    browser.has("Show the last 200 lines")
    browser.click("button", "Show the last 200 lines")
    browser.until("document.querySelector('pre.log')", "the log")
    for text in ("<img src=x", "javascript:window.hacked=1"):
        browser.go("#/jobs")
        browser.until("document.querySelectorAll('table.jobs tbody tr').length > 10", "rows")
        browser.run("const box = document.getElementById('search'); box.value = arguments[0]; box.dispatchEvent(new Event('input'))", text)
        time.sleep(0.1)
    server.publish("job", made.spoil(made.job(1, __import__("random").Random(3)), __import__("random").Random(5)))
    server.publish("<img src=x onerror=window.hacked=1>", {"id": "<b>"})
    server.publish("job", ["no", "job"])
    server.status["cluster"] = (503, "<img src=x onerror=window.hacked=1>", {})
    browser.go("#/cluster")
    browser.has("<img src=x", selector="#notice")
    for route in ("#/jobs/%3Cimg%20src=x%20onerror=window.hacked=1%3E", "#/<img src=x onerror=window.hacked=1>", "#/jobs?q=<svg onload=window.hacked=1>", "#/actions/<b>", "#/jobs/%E0%A4%A"):
        browser.go(route)
        time.sleep(0.15)
    wrong = wrong_but_looks(browser)
    expect("hostile routes, events, errors and logs are texts", not wrong, wrong)
    expect("no script was refused, as none was tried", not (said := browser.complaints(503, 404, 400)), said)
    server.stop()


def many(browser):
    server = MadeServer(made.jobs(30_000))
    browser.size(*SIZES["usual"])
    browser.open(server.address + "#/jobs")
    took = browser.has("30,000 jobs", 60)
    print(f"30,000 jobs are there after {took:.1f} s")
    rows = "document.querySelectorAll('table.jobs tbody:not(.gap) tr').length"
    expect("few of the rows are elements", browser.run(f"return {rows}") < 80)
    # Typed letter by letter; each must be answered within a fifth of a second, drawing included.
    slow = browser.driver.execute_async_script("""
      const done = arguments[0], box = document.getElementById("search"), times = [];
      (async () => {
        for (const text of ["b", "be", "ber", "bert", "bert user:a", "bert user:an", "bert user:ann state:running", ""]) {
          const began = performance.now();
          box.value = text;
          box.dispatchEvent(new Event("input"));
          await new Promise((next) => requestAnimationFrame(() => setTimeout(next)));
          times.push(Math.round(performance.now() - began));
        }
        done(times);
      })();""")
    print("a letter typed is answered after (ms):", slow)
    expect("the search follows the typing", sorted(slow)[len(slow) // 2] < 200, slow)
    frames = browser.driver.execute_async_script("""
      const done = arguments[0], box = document.querySelector(".jobs-scroll"), times = [];
      (async () => {
        for (let i = 1; i <= 60; i += 1) {
          const began = performance.now();
          box.scrollTop = i * 15000;
          await new Promise((next) => requestAnimationFrame(() => setTimeout(next)));
          times.push(Math.round(performance.now() - began));
        }
        done(times.sort((a, b) => a - b));
      })();""")
    print(f"a step of scrolling takes {frames[30]} ms, at most {frames[-1]} ms")
    expect("it scrolls without lag", frames[54] < 150, frames)
    browser.run("document.querySelector('.jobs-scroll').scrollTop = 1e9")
    browser.until("document.querySelector('table.jobs tbody:not(.gap) tr:last-child')?.getAttribute('aria-rowindex') === '30001'", "the last row")
    expect("each row is told its place", browser.run("return document.querySelector('table.jobs').getAttribute('aria-rowcount')") == "30001")
    browser.run("document.querySelector('.jobs-scroll').scrollTop = 0")
    browser.until("document.querySelector('table.jobs tbody:not(.gap) tr')?.getAttribute('aria-rowindex') === '2'", "the first row")
    browser.run("document.querySelector('table.jobs tbody:not(.gap) a').focus()")
    browser.keys(*["ARROW_DOWN"] * 40)
    at = browser.run("return document.activeElement.closest('tr')?.getAttribute('aria-rowindex')")
    expect("arrows go down the list, past what was drawn", at == "42", at)
    browser.click("table.jobs th button", "GPUs")
    expect("sorted by GPUs", browser.run("return document.querySelector('table.jobs tbody:not(.gap) td.gpus').textContent") == "16")
    browser.click(".chips button", "running")
    browser.until("[...document.querySelectorAll('table.jobs td.state')].every((e) => e.textContent.startsWith('running'))", "the running alone")
    expect("the filter is in the address", "state%3Arunning" in browser.run("return location.hash"))
    expect("the console is silent", not (said := browser.complaints()), said)
    server.stop()


def by_keyboard(browser):
    server = MadeServer()
    browser.size(*SIZES["usual"])
    active = "document.activeElement"
    for name in routes(server):
        browser.open(server.address)
        visit(browser, server, name)
        browser.open(browser.run("return location.href"))
        browser.settled()
        browser.run("window.wanted = () => [...document.querySelectorAll('a, button, input, select, summary')].filter((e) => e.checkVisibility() && e.tabIndex >= 0 && !e.closest('table.jobs tbody'));"
                    "window.reached = new Set(); window.dim = []; document.addEventListener('focusin', (e) => { reached.add(e.target);"
                    "if (getComputedStyle(e.target).outlineStyle === 'none' && e.target.id !== 'main') dim.push(e.target.outerHTML.slice(0, 80)); })")
        count = browser.run("return wanted().length")
        for _ in range(6):
            browser.keys(*["TAB"] * (count // 3 + 10))
            missed = browser.run("return wanted().filter((e) => !reached.has(e)).map((e) => e.outerHTML.slice(0, 100))")
            if not missed:
                break
        expect(f"{name}: Tab reaches all {count} controls", not missed, missed[:3])
        expect(f"{name}: and where it is is seen", not (dim := browser.run("return dim")), dim[:3])
    browser.open(server.address + "#/jobs")
    browser.has("300 jobs")
    browser.keys("TAB")
    browser.until(f"{active}.className === 'skip'", "first comes the way past the top")
    browser.keys("ENTER")
    browser.until(f"{active}.id === 'main'", "which leads to the content")
    browser.driver.refresh()
    browser.has("300 jobs")
    kept_focus(browser, server)
    browser.go("#/cluster")
    browser.until("document.querySelector('.node')", "the map")
    browser.run("document.querySelector('.node').focus()")
    browser.keys("ARROW_RIGHT", "ARROW_DOWN", "ENTER")
    browser.until("document.querySelector('.side section h2')?.textContent.startsWith('Node ')", "a node is opened by keys")
    browser.keys("ARROW_RIGHT")
    tell(browser, server, "a node")
    expect("Tab finds one node of the map, where the arrows led", browser.run(f"const all = document.querySelectorAll('.node[tabindex=\"0\"]'); return all.length === 1 && all[0] === {active}"))
    browser.keys("ESCAPE")
    browser.until("!document.querySelector('.side section h2')?.textContent.startsWith('Node ')", "and closed")
    browser.go("#/actions")
    browser.has("Waiting for you")
    browser.settled()
    browser.run("document.querySelector('.decide button').focus()")
    browser.keys("ENTER")
    browser.until("document.getElementById('confirm').open", "a question comes first")
    browser.keys("ESCAPE")
    browser.until("!document.getElementById('confirm').open", "Escape leaves it")
    expect("and nothing was done", server.posted == [], server.posted)
    # Asked again before the page was told that the first question is closed: both in one task.
    browser.run("document.querySelector('.decide button').click(); document.getElementById('confirm').close(); document.querySelector('.decide button').click()")
    time.sleep(0.3)
    expect("a question asked again at once stays", browser.run("return document.getElementById('confirm').open"))
    browser.keys("ENTER")
    browser.until("document.getElementById('said').textContent.includes('approved')", "what came of it is said")
    expect("approved", server.posted == ["actions/42/approve"], server.posted)
    expect("the console is silent", not (said := browser.complaints()), said)
    server.stop()


def tell(browser, server, name):
    """An event, and that the page has drawn what it says: a job of that name, the next to start."""
    number = max(int(each) for each in server.jobs) + 1
    job = made.job(number, __import__("random").Random(number), "pending", "ann", name)
    job["eta"]["start_s"]["p50"] = made.NOW
    server.jobs[str(number)] = job
    server.publish("job", job)
    browser.until("[...document.querySelectorAll('main a')].some((each) => each.textContent === arguments[0])", f"{name} is on view", 20, name)


def kept_focus(browser, server):
    """What has the focus keeps it while rows come, go and move."""
    browser.go("#/jobs?q=state:running")
    browser.until("[...document.querySelectorAll('table.jobs td.state')].every((e) => e.textContent.startsWith('running'))", "the running alone")
    ids = browser.run("return [...document.querySelectorAll('table.jobs tbody:not(.gap) tr')].map((row) => row.dataset.key)")
    browser.run("document.querySelectorAll('table.jobs tbody:not(.gap) a')[5].focus()")
    for what, change in (("an earlier row goes", {"state": "completed"}), ("it moves", {"submitted_s": made.NOW + 1})):
        job = server.jobs[ids[0 if "goes" in what else 5]]
        job |= change
        server.publish("job", job)
        browser.until("(([id, at]) => document.querySelectorAll('table.jobs tbody:not(.gap) tr')[at]?.dataset.key === id)(arguments[0])", what, 20, [ids[1], 0] if "goes" in what else [ids[5], 0])
        expect(f"{what}: the focus stays", (at := browser.run("return document.activeElement.closest('tr')?.dataset.key")) == ids[5], at)


def live(browser):
    server = MadeServer()
    browser.size(*SIZES["usual"])
    browser.open(server.address + "#/jobs?q=newcomer")
    browser.has("of 300 jobs")
    new = made.job(5001, __import__("random").Random(1), "pending", "ann", "newcomer")
    server.jobs["5001"] = new
    server.publish("job", {key: value for key, value in new.items() if key != "eta"})
    took = browser.has("newcomer", 5, "table.jobs tbody:not(.gap)")
    expect(f"a new job is seen after {took:.2f} s", took < 2)
    browser.go("#/cluster")
    browser.has("Needs attention")
    server.breaker_open = True
    server.publish("action", {"id": 42, "state": "discarded"})
    took = browser.has("breaker is open", 5, "#notice")
    expect(f"the open breaker is seen after {took:.2f} s", took < 2)
    before = browser.text("main")
    port = server.port
    server.stop()
    took = browser.has("no connection", 10, "#link")
    expect(f"that the daemon is gone is seen after {took:.2f} s", took < 3)
    browser.has("What you see is as it was", 5, "#notice")
    time.sleep(1.5)
    expect("and the last state stays", browser.text("main")[:200] == before[:200])
    browser.go("#/jobs?q=newcomer")
    browser.has("newcomer", 5, "table.jobs tbody:not(.gap)")
    server = MadeServer({"7": made.job(7, __import__("random").Random(2), "running", "bo", "newcomer two")}, port=port)
    took = browser.has("newcomer two", 12, "table.jobs tbody:not(.gap)")
    browser.has("live", 5, "#link")
    browser.until("document.getElementById('notice').hidden", f"the notice goes; it came back by itself after {took:.1f} s", 60)
    expect("the console tells of the loss alone", not (said := browser.complaints("gone", 404)), said)
    server.stop()
    # A proxy that keeps the stream back: deltas are asked for.
    server = MadeServer()
    server.mute_events = True
    browser.open(server.address + "#/jobs")
    browser.has("300 jobs", 20)
    expect("without a stream it asks for deltas", browser.text("#link") == "live")
    server.stop()


def doors(browser):
    server = MadeServer()
    server.token = "smt_" + "a" * 64
    browser.size(*SIZES["usual"])
    browser.open(server.address)
    browser.until("document.getElementById('token-dialog').open", "it asks who is there")
    expect("the question is labelled and nothing is wrong", not (wrong := [each for each in browser.wrong() + browser.axe() if "first headings" not in each and "heading-one" not in each and "contrast" not in each]), wrong)
    browser.keys("ESCAPE")
    browser.until("document.getElementById('token-dialog').open", "it cannot be left out")
    browser.run("document.getElementById('token').focus()")
    browser.keys("smt_" + "b" * 64, "ENTER")
    browser.has("not known here", 10, "#token-dialog")
    expect("in words for a person", not browser.run("return document.getElementById('token-dialog').textContent.includes('Bearer')"))
    browser.run("document.getElementById('token').value = ''")
    browser.keys(server.token, "ENTER")
    browser.has("Needs attention")
    expect("the token is in sessionStorage alone", browser.run("return [Object.keys(sessionStorage).length, Object.keys(localStorage).length, document.cookie, document.documentElement.outerHTML.includes('a'.repeat(64))]") == [1, 0, "", False])
    server.token = "smt_" + "c" * 64
    for each in server.listeners:
        each.put(None)
    browser.until("document.getElementById('token-dialog').open", "a revoked token is asked for again")
    browser.has("not accepted any more", 5, "#token-dialog")
    server.token = None
    browser.keys("smt_x", "ENTER")
    browser.has("Needs attention")
    browser.click("#sign-out")
    expect("signed out", browser.run("return sessionStorage.length") == 0)
    server.status = {"jobs": (429, "too many connections of this address", {"Retry-After": "1"})}
    browser.open(server.address + "#/jobs")
    browser.has("too many connections", 10, "#notice")
    server.status = {"cluster": (503, "the cluster has not been read yet", {"Retry-After": "1"})}
    browser.open(server.address)
    browser.has("not been read yet", 10, "#notice")
    server.status = {}
    browser.has("Needs attention", 10)
    browser.until("document.getElementById('notice').hidden", "the notice goes", 10)
    server.missing = {"ledger", "jobs/ID/log"}
    browser.go("#/ledger")
    browser.has("does not answer 'ledger' yet")
    browser.go(f"#/jobs/{first(server, 'running')}")
    browser.has("Show the last")
    browser.click("button", "Show the last 200 lines")
    browser.has("does not answer")
    server.status = {"actions/42/approve": (403, "the role viewer may not use this route", {})}
    browser.go("#/actions")
    browser.has("Waiting for you")
    browser.click("button", "Approve")
    browser.click("#confirm-yes")
    browser.has("the role viewer may not")
    browser.go("#/jobs/none")
    browser.has("no job none")
    for role in ("owner", "viewer"):
        server.role = role
        browser.open(server.address + "#/actions")
        browser.has("Waiting for an operator")
        browser.settled()
        expect(f"{role}: nothing to decide", browser.run("return document.querySelectorAll('.decide').length") == 0 and "Audit chain" not in browser.text())
    browser.go("#/cluster")
    browser.has("of others")
    browser.complaints()
    server.stop()


def main():
    browser = Browser(sys.argv[1])
    try:
        parts = {each.__name__: each for each in (every_view, figures, checks_can_fail, hostile, many, by_keyboard, live, doors)}
        for name in sys.argv[2:] or parts:
            began = time.time()
            parts[name](browser)
            print(f"--- {name}: {time.time() - began:.1f} s", flush=True)
    finally:
        browser.close()


main()
