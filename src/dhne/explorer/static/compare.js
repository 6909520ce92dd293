// Two nodes side by side: how close they are, what they share, and where they meet.

import { address, remember } from "./address.js";
import { get, once } from "./api.js";
import { combobox } from "./combobox.js";
import { count, el, empty, fill, loading, nodeLink, plural, problem, shown, table } from "./dom.js";

const SIDES = ["First node", "Second node"];

export async function showComparison(content, parts, parameters) {
  const types = await once("types");
  const result = el("div", { "aria-live": "polite" });
  const chosen = [null, null];
  let turn = 0;

  const boxes = SIDES.map((label, side) => combobox({
    type: null, label, placeholder: "part of a name",
    onChoose: (node) => { chosen[side] = node; ask(); },
  }));

  async function ask() {
    const mine = ++turn;
    const [a, b] = chosen;
    remember(["compare"], [["type", a?.type], ["a", a?.name], ["with", b?.type], ["b", b?.name]]);
    boxes.forEach((box, side) => {
      box.root.querySelector("label").textContent = SIDES[side] + (chosen[side] ? ` (${chosen[side].type})` : "");
    });
    if (!a || !b) {
      fill(result, el("section", { class: "card" },
        empty("Choose two nodes.", "Nodes of the same type show how close they are; nodes of different types, where they meet.")));
      return;
    }
    fill(result, loading());
    try {
      const found = await get("compare", { type: a.type, id: a.id, with_type: b.type, with_id: b.id });
      if (mine === turn) fill(result, comparison(found, types));
    } catch (error) {
      if (mine === turn) fill(result, problem(error));
    }
  }

  fill(content, el("div", { class: "page" }, el("h1", {}, "Compare two nodes"),
    el("p", { class: "lead" }, "How close they are in the embedding, and what they share in the network."),
    el("div", { class: "card builder" }, el("div", { class: "positions" }, boxes.map((box) => box.root))), result));
  await Promise.all([["type", "a"], ["with", "b"]].map(async ([type, name], side) => {
    if (!parameters.has(type) || !parameters.has(name)) return;
    chosen[side] = (await get("node", { type: parameters.get(type), name: parameters.get(name) })).node;
    boxes[side].input.value = chosen[side].name;
  }));
  await ask();
}

function comparison(found, types) {
  const [a, b] = found.nodes;
  return el("div", { class: "columns" },
    found.cosine !== null && el("section", { class: "card" }, el("h2", {}, "In the embedding"),
      el("p", { class: "score" }, found.cosine.toFixed(4)),
      el("p", { class: "hint" }, "cosine of their vectors"),
      el("p", {}, place(b, a)), el("p", {}, place(a, b))),
    el("section", { class: found.cosine === null ? "card wide" : "card" }, el("h2", {}, "Side by side"), sideBySide(a, b)),
    el("section", { class: "card wide" }, el("h2", {}, "Neighbours in the network"),
      found.neighbours.map((n) => neighbours(n, a, b))),
    el("section", { class: "card wide" }, el("h2", {}, "Hyperedges with both"), together(found, types)));
}

const name = (side) => el("bdi", {}, shown(side.node.name));

function place(near, other) {
  return [nodeLink(near.node), ` is the ${near.place === 1 ? "" : `${ordinal(near.place)} `}nearest to `, nodeLink(other.node), "."];
}

function ordinal(n) {
  const last = n % 100 > 10 && n % 100 < 14 ? 0 : n % 10;
  return count(n) + (["th", "st", "nd", "rd"][last] ?? "th");
}

function sideBySide(a, b) {
  const badges = (side, other) => (side.labels.length
    ? side.labels.map((label) => [el("span", { class: other.labels.includes(label) ? "badge" : "badge plain", dir: "auto" }, label), " "])
    : el("span", { class: "hint" }, "none"));
  const row = (head, first, second) => el("tr", {}, el("th", { scope: "row" }, head), el("td", {}, first), el("td", {}, second));
  return table("Side by side", ["", { text: shown(a.node.name) }, { text: shown(b.node.name) }], [
    row("type", a.node.type, b.node.type),
    row("labels", badges(a, b), badges(b, a)),
    row("hyperedges", count(a.degree), count(b.degree)),
  ], { fixed: true });
}

// A bar of three parts: neighbours of the first only, common ones, of the second only.
function neighbours({ type, common, only, nodes }, a, b) {
  const whole = only[0] + common + only[1];
  const part = (n, kind) => { const span = el("span", { class: kind }); span.style.flexGrow = String(n); return n > 0 && span; };
  return el("div", { class: "overlap" }, el("h3", {}, type),
    whole === 0 ? el("p", { class: "hint" }, "Neither has a neighbour of this type.") : [
      el("div", { class: "parts", "aria-hidden": "true" }, part(only[0], "first"), part(common, "both"), part(only[1], "second")),
      el("p", { class: "part-names" },
        el("span", {}, `${count(only[0])} only with `, name(a)), el("span", {}, `${count(common)} in common`),
        el("span", {}, `${count(only[1])} only with `, name(b))),
      nodes.length > 0 && el("p", {}, "In common: ", nodes.map((n, i) => [i > 0 && ", ", nodeLink(n)]),
        common > nodes.length && `, and ${count(common - nodes.length)} more`),
    ]);
}

function together({ nodes: [a, b], together: meet }, { edge_types: kinds }) {
  if (!meet.length) return empty("No hyperedge contains both.");
  return meet.map(({ edge_type: number, hyperedges }) => {
    const positions = kinds[number].types;
    const first = positions.indexOf(a.node.type);
    const second = positions.findIndex((t, p) => t === b.node.type && p !== first);
    const tuple = address(["tuples"], [["edge", number], [`p${first}`, a.node.name], [`p${second}`, b.node.name]]);
    return el("p", {}, `${plural(hyperedges, "hyperedge")} of type ${positions.join(" × ")}. `,
      el("a", { href: tuple }, "Build a tuple with both"));
  });
}
