// Why a tuple has its score: where it ranks, what each part adds, what its nodes share, and the
// known hyperedges most like it.

import { post } from "./api.js";
import { count, el, fill, loading, nodeLink, plural, problem, table } from "./dom.js";
import { bar, heading, scaleOf, track } from "./measures.js";

const WHOLE = { low: 0, high: 1 };
const PAIRS = 10; // shown at first; tuples of many nodes have very many pairs

const amount = (value) => (Number.isInteger(value) ? count(value) : number(value));
const number = (value) => String(Number(value.toPrecision(4)));
const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`;
const percent = (share) => `${(100 * share).toFixed(share > 0.99 && share < 1 ? 1 : 0)}%`;

// The section is returned at once and filled when the answer is there.
export function explanation(question) {
  const root = el("section", { class: "explanation", "aria-label": "Why this score" }, loading("Explaining …"));
  post("explain", question).then((found) => fill(root, parts(found)), (error) => fill(root, problem(error)));
  return root;
}

function parts(found) {
  const adds = [...found.parts, ...found.pairs].map((part) => Math.abs(part.adds ?? 0));
  const most = Math.max(1e-9, Math.abs(found.products_add ?? 0), ...adds);
  return [
    el("h2", {}, "Why this score"),
    el("div", { class: "columns" },
      el("div", {}, el("h3", {}, "Compared with other tuples"), standing(found)),
      el("div", {}, el("h3", {}, "What each node adds"), nodes(found, most))),
    el("h3", {}, "What the nodes share"), pairs(found, most),
    el("h3", {}, "Most similar known hyperedges"), nearest(found),
  ];
}

function standing(found) {
  const calibrated = found.held_out
    ? `calibrated on ${plural(found.held_out, "held-out hyperedge")}` : "not calibrated: nothing was held out";
  const row = (share, text, note) => el("div", { class: "standing" }, track(share, WHOLE),
    el("strong", {}, percent(share)), el("span", {}, text, note && el("span", { class: "hint" }, ` (${note})`)));
  return [
    found.above_known !== null && row(found.above_known, "of known hyperedges score lower"),
    found.above_random !== null && row(found.above_random, "of random tuples score lower"),
    row(found.probability, `probability among ${number(found.negatives)} random tuples per hyperedge`, calibrated),
  ];
}

// A bar to the right of the middle for what raises the score, to the left for what lowers it.
function effect(value, most) {
  const inner = el("span", { class: value < 0 ? "lowers" : "raises" });
  inner.style.width = `${(50 * Math.abs(value) / most).toFixed(1)}%`;
  return el("span", { class: "measure" }, el("span", { class: "effect", "aria-hidden": "true" }, inner),
    el("span", { class: "number" }, signed(value)));
}

function nodes(found, most) {
  const rows = found.parts.map((part) => el("tr", {},
    el("td", { class: "name" }, nodeLink(part.node), " ", el("span", { class: "hint" }, part.position)),
    el("td", { class: "right" }, amount(part.hyperedges)), el("td", {}, effect(part.adds, most))));
  const products = found.products_add !== null && el("tr", {},
    el("td", { class: "name" }, "products of the nodes’ own vectors"), el("td"), el("td", {}, effect(found.products_add, most)));
  return [
    table("What each node adds", ["node", { text: "hyperedges", class: "right" }, "adds to the logit"], [rows, products]),
    el("p", { class: "hint" }, `The logit is ${signed(found.logit)}. Each node is compared with an average node in its place; `
      + "the parts need not add up to the logit."),
  ];
}

function pairs(found, most) {
  const order = [...found.pairs].sort((a, b) => Math.abs(b.adds ?? b.together) - Math.abs(a.adds ?? a.together));
  const root = el("div", { class: "pairs" }, order.slice(0, PAIRS).map((pair) => describe(pair, most)));
  if (order.length <= PAIRS) return root;
  const more = el("button", {
    type: "button", class: "quiet",
    onclick: () => { more.remove(); root.append(...order.slice(PAIRS).map((pair) => describe(pair, most))); },
  }, `Show ${plural(order.length - PAIRS, "more pair")}`);
  return [root, more];
}

function describe({ nodes: [a, b], together, adds, shared, paths }, most) {
  return el("div", { class: "pair" },
    el("p", { class: "pair-head" }, el("span", {}, nodeLink(a), " and ", nodeLink(b)), adds !== null && effect(adds, most)),
    el("p", {}, together
      ? `Together in ${together === 1 ? "1 hyperedge" : `${amount(together)} hyperedges`}.` : "Never in a hyperedge together."),
    shared.length > 0 && el("p", {}, "Both were seen with ", shared.map((n, i) => [i > 0 && ", ", nodeLink(n)]), "."),
    paths.length > 0 && el("ul", { class: "paths", "aria-label": "Paths between them" }, paths.map((path) =>
      el("li", {}, [a, ...path, b].map((n, i) => [i > 0 && el("span", { class: "hint" }, " – "), nodeLink(n)])))),
    !together && !shared.length && !paths.length && el("p", { class: "hint" }, "No common neighbours and no path between them."));
}

function nearest({ nearest: found, parts: own }) {
  if (!found.length) return el("p", { class: "hint" }, "There is no other hyperedge of this type.");
  const scale = scaleOf(found.map((n) => n.cosine));
  return table("Most similar known hyperedges",
    [...own.map((part) => part.position), heading("mean cosine", scale), { text: "similarity", class: "right" }],
    found.map((n) => el("tr", {}, n.nodes.map((node) => el("td", { class: "name" }, nodeLink(node))),
      el("td", {}, bar(n.cosine, scale)), el("td", { class: "right" }, n.similarity.toFixed(4)))), { stack: true });
}
