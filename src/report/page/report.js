// Draws the four figures of the report from the JSON in #data. Everything else on the page is plain
// HTML and stands without this script.
(() => {
  "use strict";
  const data = JSON.parse(document.getElementById("data").textContent);
  const root = document.documentElement;
  const hidden = new Set();
  let charts = [];

  const asked = new URLSearchParams(location.search).get("theme");
  if (asked === "dark" || asked === "light") root.style.colorScheme = asked;

  // --- numbers for people -------------------------------------------------------------------
  const units = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
  const short = (v) => String(Number(v.toPrecision(3)));
  const duration = (s) => {
    const [size, unit] = units.find(([u]) => s >= u) || units[3];
    return `${short(s / size)} ${unit}`;
  };
  const percent = (v) => `${(100 * v).toFixed(1)} %`;
  const count = (v) => (v >= 100 ? Math.round(v).toLocaleString("en") : short(v));
  const day = (v) => `day ${v.toFixed(2)}`;

  const figures = {
    jct: { log: true, x: duration, y: percent },
    queue: { log: true, x: (v) => (v <= 1 ? "at most 1 s" : duration(v)), y: percent },
    utilisation: { log: false, x: day, y: percent },
    queued: { log: false, x: day, y: count },
  };
  const ticks = [1, 10, 60, 600, 3600, 6 * 3600, 86400, 10 * 86400, 100 * 86400, 1000 * 86400];
  const days = [1 / 24, 1 / 12, 1 / 4, 1 / 2, 1, 2, 5, 10, 20, 50, 100, 200, 500];

  // --- colours: the page's own custom properties, resolved by the browser -------------------
  const probe = document.createElement("i");
  document.body.append(probe);
  const colour = (name) => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
  const line = (i) => ({ stroke: colour(`--s${i % 9}`), dash: i % 9 > 4 ? [7, 4] : [] });

  // --- tooltip: every visible line's value under the cursor, largest first ------------------
  function tooltip(spec) {
    const box = document.createElement("div");
    box.className = "tip";
    const fill = (u) => {
      const { idx, left, top } = u.cursor;
      const rows = idx == null ? [] : u.series
        .map((s, i) => ({ s, i, v: i > 0 && s.show ? u.data[i][idx] : null }))
        .filter((row) => row.v != null)
        .sort((a, b) => b.v - a.v);
      box.style.display = rows.length && left >= 0 ? "block" : "none";
      if (!rows.length) return;
      const head = document.createElement("b");
      head.textContent = spec.x(u.data[0][idx]);
      box.replaceChildren(head, ...rows.map(({ s, i, v }) => {
        const row = document.createElement("div");
        const name = document.createElement("span");
        name.textContent = s.label;
        name.style.color = colour(`--s${(i - 1) % 9}`);
        row.append(name, spec.y(v));
        return row;
      }));
      const right = left > u.over.clientWidth / 2;
      box.style.left = right ? "auto" : `${left + 14}px`;
      box.style.right = right ? `${u.over.clientWidth - left + 14}px` : "auto";
      box.style.top = `${Math.max(0, Math.min(top, u.over.clientHeight - box.clientHeight))}px`;
    };
    return {
      hooks: {
        init: (u) => {
          u.over.append(box);
          u.over.addEventListener("mouseleave", () => { box.style.display = "none"; });
        },
        setCursor: fill,
      },
    };
  }

  // --- figures ------------------------------------------------------------------------------
  function draw(name, element) {
    const spec = figures[name];
    const { x, y } = data[name];
    const axis = {
      stroke: colour("--soft"),
      font: "12px system-ui, sans-serif",
      grid: { stroke: colour("--rule"), width: 1 },
      ticks: { show: false },
      border: { show: true, stroke: colour("--rule"), width: 1 },
    };
    const share = name !== "queued";
    const top = (u, low, high) => [0, share ? 1 : Math.max(1, high * 1.05)];
    const across = spec.log
      ? { splits: () => ticks, filter: (u, all) => all, values: (u, all) => all.map(duration) }
      : { incrs: days, values: (u, all) => all.map((v) => `${short(v)} d`) };
    const options = {
      width: element.clientWidth,
      height: element.clientHeight,
      padding: [8, 14, 0, 0],
      legend: { show: false },
      focus: { alpha: 0.25 },
      cursor: {
        focus: { prox: 24 }, points: { size: 7 }, sync: { key: spec.log ? "cdf" : "time" },
        drag: { x: true, y: false },
      },
      scales: {
        x: { time: false, distr: spec.log ? 3 : 1, range: (u, low, high) => [low, high] },
        y: { range: top },
      },
      axes: [
        { ...axis, ...across, size: 34 },
        { ...axis, size: 52, values: (u, all) => all.map(share ? (v) => `${Math.round(100 * v)} %`
                                                               : count) },
      ],
      series: [{}, ...data.labels.map((label, i) => ({
        label, ...line(i), width: spec.log ? 1.8 : 1.4, points: { show: false },
        show: !hidden.has(i),
      }))],
      plugins: [tooltip(spec)],
    };
    element.replaceChildren();
    return new uPlot(options, [x, ...y], element);
  }

  function redraw() {
    charts.forEach((chart) => chart.destroy());
    charts = [...document.querySelectorAll(".plot")].map((e) => draw(e.dataset.figure, e));
  }

  // --- legend and theme ---------------------------------------------------------------------
  const legend = document.getElementById("legend");
  data.labels.forEach((label, i) => {
    const button = document.createElement("button");
    const swatch = document.createElement("span");
    swatch.className = i % 9 > 4 ? "swatch dash" : "swatch";
    swatch.style.color = `var(--s${i % 9})`;
    button.append(swatch, label);
    button.setAttribute("aria-pressed", "true");
    button.addEventListener("click", () => {
      const show = hidden.delete(i);
      if (!show) hidden.add(i);
      button.setAttribute("aria-pressed", String(show));
      charts.forEach((chart) => chart.setSeries(i + 1, { show }));
    });
    legend.append(button);
  });

  const dark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.style.colorScheme || (dark.matches ? "dark" : "light")) === "dark";
  const toggle = document.getElementById("theme");
  const name = () => { toggle.textContent = isDark() ? "Light" : "Dark"; };
  toggle.addEventListener("click", () => {
    root.style.colorScheme = isDark() ? "light" : "dark";
    name();
    redraw();
  });
  dark.addEventListener("change", () => { name(); redraw(); });
  toggle.hidden = false;
  name();

  // Paper is light, whatever the screen is.
  let onScreen = "";
  addEventListener("beforeprint", () => {
    onScreen = root.style.colorScheme;
    root.style.colorScheme = "light";
    redraw();
  });
  addEventListener("afterprint", () => {
    root.style.colorScheme = onScreen;
    redraw();
  });
  redraw();
  new ResizeObserver(() => charts.forEach((chart) => {
    const box = chart.root.parentElement;
    if (box.clientWidth !== chart.width) {
      chart.setSize({ width: box.clientWidth, height: box.clientHeight });
    }
  })).observe(document.querySelector(".figures"));
})();
