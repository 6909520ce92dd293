// Bars for numbers between -1 and 1. The bars of one list share a scale that begins near the smallest
// number, as the heading says, so that cosines of .95 and .99 differ by half a bar.

import { el } from "./dom.js";

// The next of 1, 2, 5, 10, 20, … times a power of ten.
function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * [1, 2, 5, 10].find((step) => step * power >= value * (1 - 1e-9));
}

// { low, high, digits }: the range of the bars, and how many decimals to show.
export function scaleOf(values) {
  const smallest = Math.min(1, ...values);
  const width = roundUp(Math.max(1e-6, 1.2 * (1 - smallest)));
  const low = width <= 0.5 ? 1 - width : smallest < 0 ? -1 : 0;
  const digits = Math.min(8, Math.max(4, 2 - Math.floor(Math.log10(1 - low))));
  return { low, high: 1, digits };
}

export function scaleNote({ low }) {
  return low === 0 ? "" : `bars from ${Number(low.toPrecision(6))} to 1`;
}

export const heading = (text, scale) => ({ text, note: scaleNote(scale) });

// A value as a bar; `bar` adds the number.
export function track(value, scale) {
  const share = Math.max(0, Math.min(1, (value - scale.low) / (scale.high - scale.low)));
  const root = el("span", { class: "bar", "aria-hidden": "true" }, el("span"));
  root.firstChild.style.width = `${(100 * share).toFixed(1)}%`;
  return root;
}

export function bar(value, scale = { low: 0, high: 1, digits: 4 }) {
  return el("span", { class: "measure" }, track(value, scale), el("span", { class: "number" }, value.toFixed(scale.digits)));
}
