// What the colours of the map mean. A label can be pressed to see only its nodes in colour.

import { count, el, fill } from "./dom.js";
import { DEGREES, PALETTE, colour } from "./plots.js";

// One colour a code: the labels, then "others", then "none".
export function labelColours(labels, chosen) {
  const codes = [...labels.map((_, i) => PALETTE[i % PALETTE.length]), colour("faint"), colour("fainter")];
  return codes.map((c, i) => (chosen === null || chosen === i ? c : colour("fainter")));
}

// Steps of one colour each, so that code i is shown in exactly colours[i].
export function steps(colours) {
  const n = colours.length;
  return colours.flatMap((c, i) => [[i / n, c], [(i + 1) / n, c]]);
}

export const gradient = () => DEGREES().map((c, i, all) => [i / (all.length - 1), c]);

export function drawLegend(place, info, by, chosen, onChoose) {
  if (by === "degree") {
    const strip = el("div", { class: "gradient", "aria-hidden": "true" });
    strip.style.background = `linear-gradient(to right, ${DEGREES().join(",")})`;
    fill(place, el("p", { class: "legend-title" }, "Hyperedges of a node"), strip,
      el("p", { class: "ends" }, el("span", {}, "0"), el("span", {}, count(info.largest_degree))));
    return;
  }
  const colours = labelColours(info.labels, null);
  const entry = (text, nodes, code) => {
    const dot = el("span", { class: "dot", "aria-hidden": "true" });
    dot.style.background = colours[code];
    return el("li", {}, el("button", {
      type: "button", class: "legend-entry", "aria-pressed": String(chosen === code),
      onclick: () => onChoose(chosen === code ? null : code),
    }, dot, el("span", { class: "legend-name", dir: "auto" }, text), nodes !== null && el("span", { class: "hint" }, count(nodes))));
  };
  fill(place, el("p", { class: "legend-title" }, "Labels"), el("ul", { class: "legend" },
    info.labels.map((label, i) => entry(label.name, label.nodes, i)),
    info.more_labels > 0 && entry(`${count(info.more_labels)} others`, null, info.labels.length)));
}
