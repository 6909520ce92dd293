// The reliability diagram: of the held-out tuples with about the same probability, how many are
// hyperedges? On the diagonal, predicted and observed shares agree.

import { once } from "./api.js";
import { count, el, empty, plural, table } from "./dom.js";
import { CONFIG, colour, layout } from "./plots.js";

const percent = (share) => `${(100 * share).toFixed(1)}%`;

// { root, figure, draw }: the card, and how to draw into it once Plotly is there.
export async function reliabilityCard() {
  const { bins, held_out: heldOut, negatives, error } = await once("reliability");
  const figure = el("div", { class: "reliability-chart", role: "img" });
  const root = el("section", { class: "card reliability" }, el("h2", {}, "Reliability of the probabilities"));
  if (!bins.length) {
    root.append(empty("Nothing was held out to check probabilities with.",
      "Train with --validation 0.05, or call model.calibrate(held_out)."));
    return { root, figure, draw: () => {} };
  }
  figure.setAttribute("aria-label", `Reliability diagram with ${plural(bins.length, "bin")}; the table has the same numbers`);
  root.append(
    el("p", { class: "hint" }, `${plural(heldOut, "held-out hyperedge")}, with ${Number(negatives.toPrecision(3))} negatives each. `
      + "On the diagonal, 70% of the tuples with a probability of 70% are hyperedges."),
    el("p", { class: "last" }, percent(error), el("span", { class: "hint" }, " expected calibration error (ece)")),
    el("div", { class: "reliability-parts" }, figure,
      table("Reliability by bin", [
        { text: "probability", class: "right" }, { text: "are hyperedges", class: "right" }, { text: "tuples", class: "right" },
      ], bins.map((bin) => el("tr", {}, [percent(bin.predicted), percent(bin.observed), count(bin.tuples)].map((text) =>
        el("td", { class: "right" }, text)))))));
  return { root, figure, draw: (Plotly) => draw(Plotly, figure, bins) };
}

function draw(Plotly, figure, bins) {
  const largest = Math.max(...bins.map((bin) => bin.tuples));
  const axis = {
    gridcolor: colour("line"), zeroline: false, fixedrange: true, automargin: true, range: [-0.04, 1.04],
    tickvals: [0, 0.25, 0.5, 0.75, 1], tickformat: ".0%",
  };
  Plotly.react(figure, [
    { x: [0, 1], y: [0, 1], mode: "lines", line: { color: colour("faint"), width: 1, dash: "dash" }, hoverinfo: "skip" },
    {
      x: bins.map((bin) => bin.predicted), y: bins.map((bin) => bin.observed), customdata: bins.map((bin) => bin.tuples),
      mode: "lines+markers", line: { color: colour("accent"), width: 2 },
      marker: { color: colour("accent"), size: bins.map((bin) => 6 + 12 * Math.sqrt(bin.tuples / largest)) },
      hovertemplate: "probability %{x:.1%}: %{y:.1%} of %{customdata:,} tuples are hyperedges<extra></extra>",
    },
  ], layout({
    height: 320, margin: { l: 50, r: 10, t: 8, b: 40 }, hovermode: "closest",
    xaxis: { ...axis, title: { text: "probability", standoff: 6 } },
    yaxis: { ...axis, title: { text: "share of hyperedges", standoff: 6 } },
    hoverlabel: { bgcolor: colour("raised"), bordercolor: colour("line"), font: { color: colour("text") } },
  }), { ...CONFIG, scrollZoom: false });
}
