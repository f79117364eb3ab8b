# SPDX-License-Identifier: Apache-2.0
"""A real Chromium, as the tests of the page drive it."""
import os
import pathlib
import shutil
import sys
import time

CHECKS = (pathlib.Path(__file__).parent / "checks.js").read_text()
AXE = pathlib.Path(os.environ.get("SCHEDMATE_AXE") or pathlib.Path(__file__).resolve().parents[2] / "build/axe/axe.min.js")

SIZES = {"narrow": (360, 740), "usual": (1280, 900), "wide": (3840, 2160)}


def fail(what):
    raise SystemExit(f"FAILED: {what}")


def expect(what, holds, more=""):
    if not holds:
        fail(f"{what} {more}")
    print("ok:", what, flush=True)


class Browser:
    def __init__(self, folder):
        chromium = shutil.which("chromium") or shutil.which("chromium-browser")
        driver = shutil.which("chromedriver")
        try:
            from selenium import webdriver
            from selenium.webdriver.chrome.options import Options
            from selenium.webdriver.chrome.service import Service
        except ImportError:
            webdriver = None
        if not (chromium and driver and webdriver):
            print("skipped: needs chromium, chromium-driver and python3-selenium (scripts/deps.sh browser)")
            sys.exit(77)
        if not AXE.exists():
            print(f"skipped: axe: {AXE} is not there (scripts/deps.sh browser fetches it)", flush=True)
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        options = Options()
        options.binary_location = chromium
        for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
                     "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions"):
            options.add_argument(word)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(service=Service(driver), options=options)
        self.driver.set_script_timeout(30)
        self.driver.set_page_load_timeout(60)
        # Without the focus, a page is told of none.
        self.driver.execute_cdp_cmd("Emulation.setFocusEmulationEnabled", {"enabled": True})

    def close(self):
        self.driver.quit()

    def size(self, width, height):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})

    def colours(self, scheme):
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})

    def open(self, address):
        self.driver.get("about:blank")
        self.driver.get(address)

    def go(self, route):
        self.run("location.hash = arguments[0]", route)

    def run(self, script, *words):
        return self.driver.execute_script(script, *words)

    def until(self, script, what, seconds=20, *words):
        """Until the expression is true; gives how long that took."""
        began = time.time()
        while time.time() - began < seconds:
            if self.run(f"return Boolean({script})", *words):
                return time.time() - began
            time.sleep(0.03)
        self.picture("failed")
        fail(f"not in {seconds} s: {what}; the page says: {self.text()[:600]}")

    def text(self, selector="body"):
        return self.run("return document.querySelector(arguments[0])?.innerText ?? ''", selector)

    def has(self, text, seconds=20, selector="main"):
        return self.until("(document.querySelector(arguments[1])?.innerText ?? '').includes(arguments[0])", f"'{text}' in {selector}", seconds, text, selector)

    def settled(self):
        """All parts of the view have been read."""
        self.until("document.getElementById('who').textContent && !/reading|not read yet/i.test(document.querySelector('main').innerText)", "all is read")

    def keys(self, *names):
        from selenium.webdriver.common.action_chains import ActionChains
        from selenium.webdriver.common.keys import Keys
        chain = ActionChains(self.driver, duration=0)
        for name in names:
            chain.send_keys(getattr(Keys, name, name))
        chain.perform()

    def click(self, selector, text=None):
        hit = self.run("const all = [...document.querySelectorAll(arguments[0])].filter((e) => e.checkVisibility() && (!arguments[1] || e.textContent.trim() === arguments[1]));"
                       "all[0]?.click(); return all.length > 0", selector, text)
        if not hit:
            self.picture("failed")
            fail(f"nothing to click: {selector} {text}")

    def picture(self, name):
        self.driver.save_screenshot(str(self.folder / f"{name}.png"))

    def wrong(self, before=""):
        return self.run(f"{before};{CHECKS}")

    def axe(self):
        """What axe-core finds, where it is here."""
        if not AXE.exists():
            return []
        # What fades in has its colours at the end.
        self.driver.execute_async_script("const done = arguments[0]; const all = document.getAnimations().filter((a) => a.effect.getComputedTiming().endTime < 1e6); Promise.allSettled(all.map((a) => a.finished)).then(() => done());")
        self.run(AXE.read_text())
        found = self.driver.execute_async_script("const done = arguments[0]; axe.run(document, {resultTypes: ['violations']}).then((r) => done(r.violations), (e) => done([{id: String(e), nodes: []}]))")
        return [f"{each['id']}: {'; '.join(str(node['target']) + ' ' + (node.get('failureSummary') or '')[:160] for node in each['nodes'][:3])}" for each in found]

    def complaints(self, *allowed):
        """Messages of the console, but for the statuses that the test itself brings about."""
        return [each["message"][:300] for each in self.driver.get_log("browser") if not any(f"status of {status}" in each["message"] for status in allowed)
                and not ("ERR_CONNECTION" in each["message"] and "gone" in allowed) and not ("ERR_INCOMPLETE" in each["message"] and "gone" in allowed)]
