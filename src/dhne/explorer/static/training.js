// The training curves, one small chart per measure, and the reliability diagram.

import { remember } from "./address.js";
import { once } from "./api.js";
import { el, empty, fill, plural } from "./dom.js";
import { CONFIG, colour, layout, plotly } from "./plots.js";
import { reliabilityCard } from "./reliability.js";

const ASIDE = new Set(["seconds", "edges_per_second", "learning_rate"]);

function text(value) {
  if (typeof value !== "number") return "—";
  const size = Math.abs(value);
  if (size >= 1000) return Math.round(value).toLocaleString("en");
  return size >= 1e-3 || size === 0 ? String(Number(value.toPrecision(4))) : value.toExponential(2);
}

const isLoss = (measure) => measure.includes("loss") || measure.endsWith("_order");

// Round tick values: 1, 2 and 5 times powers of ten, or equal steps if those are too few.
function logTicks(low, high) {
  const found = [];
  for (let power = 10 ** Math.floor(Math.log10(low)); power <= high; power *= 10) {
    found.push(...[1, 2, 5].map((step) => step * power).filter((v) => v >= low && v <= high));
  }
  if (found.length > 6) return found.filter((v) => Number.isInteger(Math.round(1e6 * Math.log10(v)) / 1e6));
  if (found.length >= 3) return found;
  const raw = (high - low) / 3 || low;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((s) => s * power >= raw);
  return Array.from({ length: 6 }, (_, i) => (Math.ceil(low / step) + i) * step).filter((v) => v <= high);
}

function lossAxis(values) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const pad = 0.06 * Math.log10(high / low) || 0.1;
  const ticks = logTicks(low, high);
  return {
    type: "log", range: [Math.log10(low) - pad, Math.log10(high) + pad], tickvals: ticks, ticktext: ticks.map(text),
  };
}

export async function showTraining(content, parts, parameters) {
  const history = await once("history");
  if (!history.measures.length) {
    fill(content, el("div", { class: "page" }, el("h1", {}, "Training"),
      empty("This run has no training history.")));
    return undefined;
  }
  const epochs = history.records.map((r, i) => r.epoch ?? i + 1);
  const ordered = [...history.measures].sort((a, b) => ASIDE.has(a) - ASIDE.has(b));
  const charts = ordered.map((measure) => {
    const values = history.records.map((r) => r[measure] ?? null);
    const shown = values.filter((v) => v !== null);
    const figure = el("div", { class: "chart", role: "img" });
    figure.setAttribute("aria-label",
      `${measure} by epoch: from ${text(shown[0])} to ${text(shown.at(-1))} over ${shown.length} epochs`);
    const canLog = isLoss(measure) && shown.length > 0 && shown.every((v) => v > 0);
    const root = el("section", { class: "card chart-card", "data-measure": measure },
      el("h2", {}, measure.replaceAll("_", " ").replace(/\bauc\b/, "AUC")),
      el("p", { class: "last" }, text(shown.at(-1)), el("span", { class: "hint" }, " at the end")), figure);
    return { values, shown, figure, root, canLog };
  });
  const reliability = await reliabilityCard();
  let draw = () => {};
  const log = el("input", {
    type: "checkbox", id: "log", checked: parameters.get("scale") !== "linear",
    onchange: () => { remember(["training"], [["scale", log.checked ? "" : "linear"]]); draw(); },
  });
  fill(content, el("div", { class: "page" },
    el("h1", {}, "Training"),
    el("div", { class: "lead" }, plural(history.records.length, "epoch"),
      charts.some((chart) => chart.canLog) && el("div", { class: "field inline" }, log,
        el("label", { htmlFor: "log" }, "Logarithmic axis for losses"))),
    el("div", { class: "charts" }, charts.map((chart) => chart.root)), reliability.root));
  const Plotly = await plotly();
  draw = () => {
    reliability.draw(Plotly);
    for (const { values, shown, figure, canLog } of charts) {
      const axis = { gridcolor: colour("line"), zeroline: false, fixedrange: true, automargin: true };
      Plotly.react(figure, [{
        x: epochs, y: values, type: "scatter", mode: epochs.length > 60 ? "lines" : "lines+markers",
        line: { color: colour("accent"), width: 2 }, marker: { size: 5 },
        hovertemplate: "epoch %{x}: %{y:.5~g}<extra></extra>",
      }], layout({
        height: 190, margin: { l: 44, r: 10, t: 8, b: 32 }, hovermode: "x",
        xaxis: { ...axis, title: { text: "epoch", standoff: 4 }, nticks: 8, tickformat: "d" },
        yaxis: { ...axis, ...(canLog && log.checked ? lossAxis(shown) : { type: "linear", nticks: 5 }) },
        hoverlabel: { bgcolor: colour("raised"), bordercolor: colour("line"), font: { color: colour("text") } },
      }), { ...CONFIG, scrollZoom: false });
    }
  };
  draw();
  document.addEventListener("themechange", draw);
  return () => {
    document.removeEventListener("themechange", draw);
    for (const { figure } of [...charts, reliability]) Plotly.purge(figure);
  };
}
