// The training curves: one small chart a measure.

import { once } from "./api.js";
import { el, empty, fill } from "./dom.js";
import { CONFIG, colour, layout, plotly } from "./plots.js";

const ASIDE = new Set(["seconds", "edges_per_second", "learning_rate"]);

function text(value) {
  if (typeof value !== "number") return "—";
  const size = Math.abs(value);
  if (size >= 1000) return Math.round(value).toLocaleString("en");
  return size >= 1e-3 || size === 0 ? String(Number(value.toPrecision(4))) : value.toExponential(2);
}

export async function showTraining(content) {
  const history = await once("history");
  if (!history.measures.length) {
    fill(content, el("div", { class: "page" }, el("h1", {}, "Training"),
      empty("This run kept no history of its training.")));
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
    const root = el("section", { class: "card chart-card" },
      el("h2", {}, measure.replaceAll("_", " ").replace(/\bauc\b/, "AUC")),
      el("p", { class: "last" }, text(shown.at(-1)), el("span", { class: "hint" }, " at the end")), figure);
    return { measure, values, figure, root };
  });
  fill(content, el("div", { class: "page" },
    el("h1", {}, "Training"),
    el("p", { class: "lead" }, `${history.records.length} ${history.records.length === 1 ? "epoch" : "epochs"}`),
    el("div", { class: "charts" }, charts.map((chart) => chart.root))));
  const Plotly = await plotly();
  const draw = () => {
    for (const { values, figure } of charts) {
      const axis = { gridcolor: colour("line"), zeroline: false, fixedrange: true, automargin: true };
      Plotly.react(figure, [{
        x: epochs, y: values, type: "scatter", mode: epochs.length > 60 ? "lines" : "lines+markers",
        line: { color: colour("accent"), width: 2 }, marker: { size: 5 },
        hovertemplate: "epoch %{x}: %{y:.5~g}<extra></extra>",
      }], layout({
        height: 190, margin: { l: 44, r: 10, t: 8, b: 32 }, hovermode: "x",
        xaxis: { ...axis, title: { text: "epoch", standoff: 4 }, nticks: 8, tickformat: "d" },
        yaxis: { ...axis, nticks: 5 },
        hoverlabel: { bgcolor: colour("raised"), bordercolor: colour("line"), font: { color: colour("text") } },
      }), { ...CONFIG, scrollZoom: false });
    }
  };
  draw();
  document.addEventListener("themechange", draw);
  return () => {
    document.removeEventListener("themechange", draw);
    for (const { figure } of charts) Plotly.purge(figure);
  };
}
