// One node: its nearest nodes in the embedding, its neighbours in the network, its hyperedges.

import { address } from "./address.js";
import { get, once } from "./api.js";
import { count, el, empty, fill, loading, nodeHref, nodeLink, plural, problem, shown, table } from "./dom.js";
import { bar, heading, scaleOf } from "./measures.js";

const PAGE = 15;

// A paged list; `load(offset)` returns { total, heads, rows }.
function pager(caption, load, nothing, options) {
  const place = el("div", {}, loading());
  let offset = 0;
  let turn = 0;
  async function show() {
    const mine = ++turn;
    try {
      const { total, heads, rows } = await load(offset);
      if (mine !== turn) return;
      const move = (by) => () => { offset += by; show(); };
      fill(place, total ? table(caption, heads, rows, options) : empty(nothing),
        total > PAGE && el("div", { class: "pages" },
          el("button", { type: "button", class: "quiet", disabled: offset === 0, onclick: move(-PAGE) }, "← Previous"),
          el("span", { class: "hint" }, `${count(offset + 1)}–${count(Math.min(offset + PAGE, total))} of ${count(total)}`),
          el("button", { type: "button", class: "quiet", disabled: offset + PAGE >= total, onclick: move(PAGE) }, "Next →")));
    } catch (error) {
      if (mine === turn) fill(place, problem(error));
    }
  }
  return { place, show, restart: () => { offset = 0; return show(); } };
}

function choice(id, label, options, onchange) {
  return el("div", { class: "field inline" }, el("label", { htmlFor: id }, label),
    el("select", { id, onchange: (event) => onchange(event.target.value) },
      options.map(([value, text]) => el("option", { value }, text))));
}

export async function showNode(content, [type, name], parameters) {
  const which = parameters.has("id") ? { id: parameters.get("id") } : { name };
  if (type === undefined || (which.id ?? which.name) === undefined) throw new Error("This address does not name a node.");
  const [page, types] = await Promise.all([get("node", { type, ...which }), once("types")]);
  const { node } = page;
  const { id } = node;
  history.replaceState(null, "", nodeHref(node));
  document.title = `${node.name} · dhne explorer`;

  const near = el("div", {}, loading());
  const showNear = async () => {
    const found = await get("similar", { type, id, k: PAGE });
    const scale = scaleOf(found.answers.map((a) => a.cosine));
    fill(near, found.answers.length
      ? table("Nearest nodes", [type, heading("cosine", scale)], found.answers.map((a) =>
        el("tr", {}, el("td", { class: "name" }, nodeLink(a.node)), el("td", {}, bar(a.cosine, scale)))))
      : empty(`There is no other ${type}.`));
  };

  page.neighbours.sort((a, b) => b.nodes - a.nodes);
  let of = page.neighbours[0]?.type;
  const neighbours = pager("Neighbours", async (offset) => {
    const found = await get("node/neighbours", { type, id, of, offset, limit: PAGE });
    const heads = ["node", { text: "hyperedges", class: "right" }];
    return { total: found.total, heads, rows: found.neighbours.map((n) => el("tr", {},
      el("td", { class: "name" }, nodeLink(n.node)), el("td", { class: "right" }, count(n.hyperedges)))) };
  }, "It is in no hyperedge.");

  let edge = page.hyperedges[0]?.edge_type;
  let order = "best";
  const edges = el("div");
  const showEdges = () => {
    const list = pager("Hyperedges", async (offset) => {
      const found = await get("node/hyperedges", { type, id, edge_type: edge, order, offset, limit: PAGE });
      const scale = scaleOf(found.hyperedges.map((e) => e.similarity));
      const heads = [...types.edge_types[edge].types, { text: "weight", class: "right" }, heading("similarity", scale)];
      return { total: found.total, heads, rows: found.hyperedges.map((e) => el("tr", {},
        e.nodes.map((n) => el("td", { class: "name" },
          n.type === type && n.id === id ? el("strong", { dir: "auto" }, n.name) : nodeLink(n))),
        el("td", { class: "right" }, String(Number(e.weight.toPrecision(4)))), el("td", {}, bar(e.similarity, scale)))) };
    }, "It is in no hyperedge.", { stack: true });
    fill(edges, list.place);
    return list.show();
  };

  const position = edge === undefined ? -1 : types.edge_types[edge].types.indexOf(type);
  const tuple = address(["tuples"], [["edge", edge ?? 0], [`p${position}`, node.name]]);
  fill(content, el("div", { class: "page" },
    el("p", { class: "crumb" }, el("a", { href: `#/map/${encodeURIComponent(type)}` }, type)),
    el("h1", { dir: "auto" }, shown(node.name)),
    el("p", { class: "lead" }, `in ${plural(page.degree, "hyperedge")}`,
      page.labels.map((label) => el("span", { class: "badge", dir: "auto" }, label))),
    el("p", { class: "actions" },
      el("a", { class: "button", href: address(["map", type], [["node", node.name]]) }, "Show on the map"),
      position >= 0 && el("a", { class: "button", href: tuple }, "Build a tuple"),
      el("a", { class: "button", href: address(["compare"], [["type", type], ["a", node.name]]) }, "Compare")),
    el("div", { class: "columns" },
      el("section", { class: "card" }, el("h2", {}, "Nearest in the embedding"), near),
      el("section", { class: "card" },
        el("div", { class: "card-head" }, el("h2", {}, "Neighbours in the network"),
          page.neighbours.length > 0 && choice("of", "of type",
            page.neighbours.map((n) => [n.type, `${n.type} (${count(n.nodes)})`]),
            (value) => { of = value; neighbours.restart(); })),
        of === undefined ? empty("It is in no hyperedge.") : neighbours.place),
      el("section", { class: "card wide" },
        el("div", { class: "card-head" }, el("h2", {}, "Hyperedges"),
          page.hyperedges.length > 1 && choice("edge", "kind",
            page.hyperedges.map((e) => [e.edge_type, `${types.edge_types[e.edge_type].types.join(" × ")} (${count(e.hyperedges)})`]),
            (value) => { edge = Number(value); showEdges(); }),
          edge !== undefined && choice("order", "order",
            [["best", "most similar first"], ["worst", "least similar first"], ["stored", "as in the data"]],
            (value) => { order = value; showEdges(); })),
        edge === undefined ? empty("It is in no hyperedge.") : edges))));
  await Promise.all([showNear(), of !== undefined && neighbours.show(), edge !== undefined && showEdges()]);
}
