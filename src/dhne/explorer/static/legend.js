// The legend of the map's colours. Pressing a label shows only its nodes in colour.

import { count, el, fill } from "./dom.js";
import { DEGREES, PALETTE, colour } from "./plots.js";
import { DEGREE_STEPS } from "./points.js";

// One colour per code: the labels, then "others", then "none".
export function labelColours(labels, chosen) {
  const codes = [...labels.map((_, i) => PALETTE[i % PALETTE.length]), colour("faint"), colour("fainter")];
  return codes.map((c, i) => (chosen === null || chosen === i ? c : colour("fainter")));
}

const channels = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

// One colour per degree step, interpolated between the given ones.
export function degreeColours() {
  const stops = DEGREES().map(channels);
  return Array.from({ length: DEGREE_STEPS }, (_, i) => {
    const place = (i / (DEGREE_STEPS - 1)) * (stops.length - 1);
    const at = Math.min(stops.length - 2, Math.floor(place));
    const mixed = stops[at].map((c, k) => Math.round(c + (place - at) * (stops[at + 1][k] - c)));
    return `rgb(${mixed.join(",")})`;
  });
}

export function drawLegend(place, info, by, chosen, onChoose) {
  if (by === "degree") {
    const { smallest_degree: low, largest_degree: high } = info;
    const strip = el("div", { class: "gradient", "aria-hidden": "true" });
    const colours = low === high ? [DEGREES()[0], DEGREES()[0]] : DEGREES();
    strip.style.background = `linear-gradient(to right, ${colours.join(",")})`;
    const middle = Math.round(Math.sqrt((low + 1) * (high + 1)) - 1);
    const ends = [...new Set([low, middle, high])];
    fill(place, el("p", { class: "legend-title" }, "Hyperedges of a node"), strip,
      el("p", { class: "ends" }, ends.map((n) => el("span", {}, count(n)))));
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
