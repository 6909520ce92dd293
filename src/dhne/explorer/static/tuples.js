// The tuple builder: a score if every position is named, completions if one or two are open.

import { remember } from "./address.js";
import { once, post } from "./api.js";
import { combobox } from "./combobox.js";
import { el, empty, fill, loading, nodeLink, plural, problem, table } from "./dom.js";
import { explanation } from "./explain.js";
import { bar, heading, scaleOf, track } from "./measures.js";

const COUNTS = [10, 25, 50, 100];

export async function showTuples(content, parts, parameters) {
  const types = await once("types");
  const state = {
    edge: Math.min(Number(parameters.get("edge") ?? 0) || 0, types.edge_types.length - 1),
    names: [], k: Number(parameters.get("k")) || 10, known: parameters.get("known") === "drop" ? "drop" : "keep",
  };
  if (!types.edge_types.length) {
    fill(content, empty("This network has no hyperedges, so no tuples can be built."));
    return;
  }
  const at = (p) => parameters.get(`p${p}`);
  state.names = types.edge_types[state.edge].types.map((_, p) => at(p));

  const form = el("form", { class: "card builder", "aria-label": "A tuple" });
  const result = el("section", { class: "card", "aria-live": "polite", "aria-label": "Result" });
  let turn = 0;

  function keep() {
    remember(["tuples"], [["edge", state.edge], ["k", state.k === COUNTS[0] ? "" : state.k],
      ["known", state.known === "keep" ? "" : state.known], ...state.names.map((name, p) => [`p${p}`, name])]);
  }

  function build() {
    const edge = types.edge_types[state.edge];
    const select = types.edge_types.length > 1 && el("div", { class: "field" },
      el("label", { htmlFor: "edge-type" }, "Edge type"),
      el("select", {
        id: "edge-type",
        onchange: (event) => {
          state.edge = Number(event.target.value);
          state.names = types.edge_types[state.edge].types.map(() => null);
          build();
          answer();
        },
      }, types.edge_types.map((e, i) =>
        el("option", { value: i, selected: i === state.edge }, e.types.join(" × ")))));
    const fields = edge.types.map((type, p) => {
      const repeats = edge.types.filter((t) => t === type).length > 1;
      const label = repeats ? `${type} ${edge.types.slice(0, p + 1).filter((t) => t === type).length}` : type;
      const box = combobox({
        type, label, placeholder: "open", value: state.names[p] ?? "",
        onChoose: (node) => { state.names[p] = node.name; answer(); },
        onType: (text) => { if (!text) { state.names[p] = null; answer(); } },
      });
      box.input.addEventListener("change", () => { state.names[p] = box.input.value || null; answer(); });
      const clear = el("button", {
        type: "button", class: "quiet clear", "aria-label": `Leave ${label} open`, title: "Leave open",
        onclick: () => { box.input.value = ""; state.names[p] = null; answer(); },
      }, "×");
      box.root.append(clear);
      return box.root;
    });
    const k = el("select", { id: "k", onchange: (e) => { state.k = Number(e.target.value); answer(); } },
      COUNTS.map((n) => el("option", { value: n, selected: n === state.k }, n)));
    const known = el("input", {
      type: "checkbox", id: "new-only", checked: state.known === "drop",
      onchange: (e) => { state.known = e.target.checked ? "drop" : "keep"; answer(); },
    });
    fill(form, select, el("div", { class: "positions" }, fields),
      el("div", { class: "options" },
        el("div", { class: "field inline" }, el("label", { htmlFor: "k" }, "Answers"), k),
        el("div", { class: "field inline" }, known, el("label", { htmlFor: "new-only" }, "New ones only")),
        el("button", { type: "submit" }, "Ask")));
  }

  async function answer() {
    const mine = ++turn;
    keep();
    const open = state.names.filter((name) => name === null).length;
    if (open === state.names.length || open > 2) {
      fill(result, empty(
        state.names.length > 2 ? "Name some nodes, and leave one or two positions open." : "Name a node, and leave the other open.",
        "Name every position to score the whole tuple."));
      return;
    }
    result.setAttribute("aria-busy", "true");
    if (!result.querySelector("table, .score")) fill(result, loading("Asking …"));
    try {
      const shown = open === 0 ? await score() : await rank();
      if (mine === turn) fill(result, shown);
    } catch (error) {
      if (mine === turn) fill(result, problem(error));
    }
    if (mine === turn) result.setAttribute("aria-busy", "false");
  }

  async function score() {
    const question = { edge_type: state.edge, names: [...state.names] };
    const found = await post("score", question);
    return [
      el("h2", {}, "Similarity"),
      el("p", { class: "score" }, found.similarity.toFixed(4)),
      track(found.similarity, { low: 0, high: 1 }),
      el("p", {}, found.nodes.map((node, i) => [i > 0 && " · ", nodeLink(node)])),
      el("p", { class: "hint" }, found.known
        ? "The run was trained on this hyperedge." : "The run was not trained on this tuple."),
      explanation(question),
    ];
  }

  async function rank() {
    const question = { edge_type: state.edge, names: state.names, k: state.k, known: state.known };
    const found = await post("rank", question);
    const positions = types.edge_types[state.edge].types;
    if (!found.answers.length) return empty("No candidates remain.");
    const scale = scaleOf(found.answers.map((a) => a.similarity));
    const seen = found.answers.filter((a) => a.known).length;
    return [
      el("h2", {}, "Best completions"),
      el("p", { class: "hint" }, seen
        ? `${plural(seen, "of them is a hyperedge", "of them are hyperedges")} that the run was trained on.`
        : "None of them is a hyperedge that the run was trained on."),
      table("Best completions", [{ text: "#", class: "right" }, ...found.open.map((p) => positions[p]), heading("similarity", scale)],
        found.answers.map((a, i) => el("tr", { class: a.known ? "known" : "" },
          el("td", { class: "right rank" }, i + 1),
          found.open.map((p, i) => el("td", { class: "name" }, nodeLink(a.nodes[p]),
            a.known && i === found.open.length - 1 && [" ", el("span", { class: "badge" }, "known")])),
          el("td", {}, bar(a.similarity, scale)))), { stack: found.open.length > 1 }),
    ];
  }

  form.addEventListener("submit", (event) => { event.preventDefault(); answer(); });
  fill(content, el("div", { class: "page" }, el("h1", {}, "Build a tuple"),
    el("p", { class: "lead" }, "Name every position to get a score, or leave one or two open to find the best completions."),
    form, result));
  build();
  await answer();
}
