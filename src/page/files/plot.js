// SPDX-License-Identifier: Apache-2.0
// Lines over time (uPlot), and what needs no plotting library: expectations on a time line, and past
// runs on a scale. Each figure has its words and, to be opened, its values as a table.
import { h } from "./dom.js";
import { axis_times, brief, count, duration, exactly, is_known, short } from "./words.js";

const probe = document.createElement("i");
probe.hidden = true;
document.documentElement.append(probe);
export function colour(name) {
  probe.style.color = `var(${name})`;
  return getComputedStyle(probe).color;
}

// --- lines ------------------------------------------------------------------------------------
const charts = new Set();

function tooltip(spec) {
  const box = h("div", { class: "tip" });
  return {
    hooks: {
      init: (chart) => {
        chart.over.append(box);
        chart.over.addEventListener("mouseleave", () => { box.style.display = "none"; });
      },
      setCursor: (chart) => {
        const { idx, left, top } = chart.cursor;
        box.style.display = idx === null || idx === undefined || left < 0 ? "none" : "block";
        if (box.style.display === "none") return;
        box.replaceChildren(h("b", {}, spec.x(chart.data[0][idx])), ...spec.lines.map((line, at) => {
          const value = chart.data[at + 1][idx];
          return h("div", {}, h("span", { vars: { color: `var(${line.colour})` } }, line.label),
            value === null || value === undefined ? "-" : line.text(value));
        }));
        const right = left > chart.over.clientWidth / 2;
        box.style.left = right ? "auto" : `${left + 14}px`;
        box.style.right = right ? `${chart.over.clientWidth - left + 14}px` : "auto";
        box.style.top = `${Math.max(0, Math.min(top, chart.over.clientHeight - box.clientHeight))}px`;
      },
    },
  };
}

function options_of(spec, width, height) {
  const axis = {
    stroke: colour("--soft"), font: "11px system-ui, sans-serif",
    grid: { stroke: colour("--rule"), width: 1 }, ticks: { show: false },
  };
  const steps = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800, 604800];
  return {
    width, height, padding: [6, spec.ticks ? 20 : 10, 0, 0],  // room for a date at the end
    legend: { show: false },
    cursor: { points: { size: 6 }, drag: { x: false, y: false } },
    scales: { x: { time: false }, y: { range: (chart, low, high) => [spec.from ?? Math.min(low, 0), spec.to ?? Math.max(high * 1.05, 1e-9)] } },
    axes: [
      { ...axis, size: 26, space: 80, incrs: spec.incrs || steps, values: (chart, all) => (spec.ticks || axis_times)(all) },
      { ...axis, size: 46, values: (chart, all) => all.map(spec.value || short) },
    ],
    series: [{}, ...spec.lines.map((line) => ({
      label: line.label, stroke: colour(line.colour), width: 1.6, dash: line.dash, points: { show: false }, spanGaps: spec.joined,
      fill: line.fill ? colour(line.fill) : undefined, paths: line.steps ? uPlot.paths.stepped({ align: 1 }) : undefined,
    }))],
    plugins: [tooltip(spec)],
  };
}

function draw(box, spec) {
  const width = Math.floor(box.clientWidth), height = Math.floor(box.clientHeight);
  if (width < 60 || height < 40) return;
  const shape = `${spec.lines.map((line) => line.label + line.colour).join()} ${spec.from} ${spec.to}`;
  if (box.chart && box.shape === shape) {
    if (box.chart.width !== width || box.chart.height !== height) box.chart.setSize({ width, height });
    box.chart.setData(spec.data);
    return;
  }
  box.chart?.destroy();
  box.shape = shape;
  box.chart = new uPlot(options_of(spec, width, height), spec.data, box);
  box.again = () => {
    box.chart.destroy();
    box.shape = "";
    draw(box, spec);
  };
  if (!box.watched) {
    box.watched = new ResizeObserver(() => box.isConnected && box.spec && draw(box, box.spec));
    box.watched.observe(box);
    charts.add(box);
  }
}

/// Colours have changed.
export function redraw() {
  for (const box of charts) {
    if (box.isConnected) box.again();
    else {
      box.watched.disconnect();
      box.chart?.destroy();
      charts.delete(box);
    }
  }
}

/// A figure of lines. spec: key, title, says (in words, for those who cannot see it), data (uPlot's),
/// lines [{label, colour, fill, dash, steps, text}], x (a value of the first row as text), ticks (those on
/// the axis, else times), joined (a line goes on over what it has no value of).
export function figure(spec) {
  const rows = spec.data[0].length, step = Math.max(1, Math.ceil(rows / 50));
  return h("figure", { "data-key": spec.key },
    h("figcaption", {}, spec.title, h("span", { class: "keys" }, spec.lines.map((line) =>
      h("span", {}, h("i", { class: line.dash ? "swatch dash" : "swatch", vars: { color: `var(${line.colour})` } }), line.label)))),
    h("div", { class: "plot", role: "img", "aria-label": spec.says, own: (box) => { box.spec = spec; draw(box, spec); } }),
    h("details", { class: "values" }, h("summary", {}, "As a table"),
      h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `${spec.title}, values` }, h("table", {},
        h("thead", {}, h("tr", {}, h("th", { scope: "col" }, spec.across || "Time"),
          spec.lines.map((line) => h("th", { scope: "col" }, line.label)))),
        h("tbody", {}, spec.data[0].map((x, at) => at % step === 0 && h("tr", {}, h("th", { scope: "row" }, spec.x(x)),
          spec.lines.map((line, i) => {
            const value = spec.data[i + 1][at];
            return h("td", {}, value === null || value === undefined ? "-" : line.text(value));
          }))))))));
}

/// GPUs in use and jobs that wait.
export function history_figures(samples) {
  const at = samples.map((each) => each.at_s);
  const most = Math.max(1, ...samples.map((each) => each.gpus));
  const common = { x: exactly };
  const last = samples.at(-1);
  return [
    figure({
      ...common, key: "use", title: "GPUs in use", from: 0, to: most,
      says: `GPUs in use over time: ${count(last.gpus_used)} of ${count(last.gpus)} at the end`,
      data: [at, samples.map((each) => each.gpus_used), samples.map((each) => each.gpus)],
      lines: [{ label: "in use", colour: "--s0", fill: "--s0-fill", steps: true, text: count },
        { label: "there", colour: "--soft", dash: [4, 4], steps: true, text: count }],
    }),
    figure({
      ...common, key: "queue", title: "Jobs that wait",
      says: `Jobs that wait over time: ${count(last.waiting)} at the end`,
      data: [at, samples.map((each) => each.waiting)],
      lines: [{ label: "waiting", colour: "--s4", fill: "--s4-fill", steps: true, text: count }],
    }),
  ];
}

// --- expectations on a line -------------------------------------------------------------------
/// The scale of all lines in a list: near things large, far things small. 0 to 1.
export function scale_to(horizon_s) {
  const softness_s = Math.max(600, horizon_s / 12), all = Math.log1p(horizon_s / softness_s);
  return (seconds) => Math.min(1, Math.max(0, Math.log1p(Math.max(0, seconds) / softness_s) / all));
}
const marks = [600, 3600, 3 * 3600, 6 * 3600, 12 * 3600, 86400, 3 * 86400, 7 * 86400, 30 * 86400];
export function ticks(horizon_s) {
  const scale = scale_to(horizon_s);
  let last = 0;
  return marks.filter((s) => {
    const fits = scale(s) - last >= 0.14 && scale(s) < 0.97;
    if (fits) last = scale(s);
    return fits;
  });
}
export function horizon_of(jobs, now_s) {
  let far = 3600;
  for (const { eta } of jobs) far = Math.max(far, (eta?.end_s?.p90 ?? eta?.end_s?.p50 ?? eta?.end_s?.p10 ?? now_s) - now_s);
  return Math.min(far, 60 * 86400);
}

const at = (share) => `${(100 * share).toFixed(2)}%`;
const span = (name, from, to) => h("i", { class: name, vars: { left: at(from), width: `max(2px, ${at(Math.max(0, to - from))})` } });

/// Where its start and end are expected: boxes of 80 %, strokes in the middle. What is not known lies
/// beyond the line.
export function time_line(job, now_s, horizon_s) {
  const scale = scale_to(horizon_s), eta = job.eta;
  const parts = ticks(horizon_s).map((s) => h("i", { class: "tick", vars: { left: at(scale(s)) } }));
  if (eta?.end_s) {
    const place = (quantiles) => ["p10", "p50", "p90"].map((name) => scale((quantiles[name] ?? Infinity) - now_s));
    const boxes = (name, quantiles) => {
      const [low, mid, high] = place(quantiles);
      return is_known(quantiles.p10) && [span(`range ${name}`, low, high), is_known(quantiles.p50) && span(`mid ${name}`, mid, mid)];
    };
    const start = job.state === "pending" ? eta.start_s : null;
    parts.push(span("runs", start ? place(start)[1] : 0, place(eta.end_s)[1]), boxes("end", eta.end_s), start && boxes("start", start));
  }
  return h("span", { class: "timeline", "aria-hidden": "true" }, parts);
}
export function axis(horizon_s) {
  const scale = scale_to(horizon_s);
  return h("span", { class: "timeline axis", "aria-hidden": "true" }, h("b", { vars: { left: "0" } }, "now"),
    ticks(horizon_s).map((s) => h("b", { vars: { left: at(scale(s)) } }, brief(s))));
}

// --- past runs --------------------------------------------------------------------------------
const steps = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 3 * 3600, 4 * 3600, 6 * 3600, 8 * 3600, 12 * 3600,
  86400, 2 * 86400, 3 * 86400, 5 * 86400, 7 * 86400, 10 * 86400, 20 * 86400, 30 * 86400];
/// This run among the runs it is compared with, by how long they took.
export function past_runs(runs, expectation, elapsed_s, is_over) {
  const lengths = runs.map((run) => run.duration_s).concat(expectation ? [expectation.p10, expectation.p90] : [],
    elapsed_s ? [elapsed_s] : []).filter((s) => s > 0);
  if (lengths.length === 0) return null;
  const low = Math.min(...lengths) / 1.3, high = Math.max(...lengths) * 1.3;
  const x = (s) => 8 + 584 * (Math.log(Math.max(s, low) / low) / Math.log(high / low));
  let left = -Infinity;
  const marks_of = steps.filter((s) => {
    const fits = s > low && s < high && x(s) - left > 54 && x(s) < 580;
    if (fits) left = x(s);
    return fits;
  });
  const middle = expectation ? `expected ${duration(expectation.p50)}, ${duration(expectation.p10)} to ${duration(expectation.p90)}` : "no expectation";
  return h("svg", { viewBox: "0 0 600 84", class: "runs-scale", role: "img",
    "aria-label": `${runs.length} past runs by length; ${middle}${elapsed_s ? `; this run ${is_over ? "took" : "so far"} ${duration(elapsed_s)}` : ""}` },
  marks_of.map((s) => [h("line", { x1: x(s), x2: x(s), y1: 14, y2: 64, class: "grid" }), h("text", { x: x(s), y: 80 }, brief(s))]),
  expectation && h("rect", { x: x(expectation.p10), width: Math.max(2, x(expectation.p90) - x(expectation.p10)), y: 14, height: 50, class: "band" }),
  expectation && h("line", { x1: x(expectation.p50), x2: x(expectation.p50), y1: 14, y2: 64, class: "middle" }),
  runs.filter((run) => run.duration_s > 0).map((run, i) => h("circle", { cx: x(run.duration_s), cy: 24 + 10 * (i % 4), r: 4,
    class: run.state === "completed" ? "run" : "run other" }, h("title", {}, `${run.job_id || "a run"}: ${duration(run.duration_s)}, ${run.state || ""}`))),
  elapsed_s && h("line", { x1: x(elapsed_s), x2: x(elapsed_s), y1: 8, y2: 66, class: "here" }),
  elapsed_s && h("text", { x: Math.min(560, Math.max(40, x(elapsed_s))), y: 7, class: "here" }, is_over ? "this run" : "so far"));
}
