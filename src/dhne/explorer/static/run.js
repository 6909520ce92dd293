// The run: origin, options, contents and settings.

import { once } from "./api.js";
import { count, el, fill, plural, table } from "./dom.js";

function show(value) {
  if (value === null || value === undefined) return el("span", { class: "hint" }, "—");
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.length ? value.join(", ") : "none";
  if (typeof value === "object") return JSON.stringify(value);
  if (typeof value !== "number") return String(value);
  return Number.isInteger(value) ? count(value) : String(Number(value.toPrecision(5)));
}

function duration(seconds) {
  if (seconds === null) return null;
  const [h, m] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  if (h) return `${count(h)} h ${m} min`;
  return m ? `${m} min ${Math.round(seconds % 60)} s` : `${Number(seconds.toPrecision(2))} s`;
}

// The names or files of the data, then the other options of the source.
function origin(run) {
  const { names = [], ...rest } = run.source ?? {};
  const said = Object.entries(rest).filter(([, v]) => v !== null && v !== false && !(Array.isArray(v) && !v.length));
  return {
    source: names.length ? names : null, ...Object.fromEntries(said),
    saved: run.saved === null ? null : new Date(1000 * run.saved).toLocaleString(undefined, { dateStyle: "long", timeStyle: "short" }),
    training: run.seconds === null ? null : `${duration(run.seconds)} for ${plural(run.epochs, "epoch")}`,
    version: `dhne ${run.version}`,
  };
}

function definitions(entries) {
  return el("dl", { class: "settings" }, Object.entries(entries).map(([key, value]) =>
    el("div", {}, el("dt", {}, key.replaceAll("_", " ")), el("dd", {}, show(value)))));
}

export async function showRun(content) {
  const [run, types] = await Promise.all([once("run"), once("types")]);
  const figures = [
    [count(run.nodes), "nodes"], [count(run.hyperedges), "hyperedges"],
    [count(types.node_types.length), types.node_types.length === 1 ? "node type" : "node types"],
    [count(run.epochs), "epochs"],
  ];
  const others = Object.fromEntries(
    Object.entries(run.params).filter(([key]) => !(key in run.settings)));
  fill(content, el("div", { class: "page" },
    el("h1", {}, run.name),
    el("p", { class: "lead" }, run.method),
    el("ul", { class: "figures" }, figures.map(([n, what]) =>
      el("li", {}, el("strong", {}, n), el("span", {}, what)))),
    el("div", { class: "columns" },
      el("section", { class: "card" }, el("h2", {}, "Origin"), definitions(origin(run))),
      el("section", { class: "card" }, el("h2", {}, "Options"), definitions(others)),
      el("section", { class: "card" }, el("h2", {}, "Nodes"),
        table("Node types", ["type", { text: "nodes", class: "right" }, { text: "dimensions", class: "right" }, "labels"],
          types.node_types.map((t) => el("tr", {},
            el("th", { scope: "row" }, el("a", { href: `#/map/${encodeURIComponent(t.type)}` }, t.type)),
            el("td", { class: "right" }, count(t.nodes)), el("td", { class: "right" }, count(t.dimensions)),
            el("td", {}, t.labelled ? "yes" : "no"))))),
      el("section", { class: "card" }, el("h2", {}, "Hyperedges"),
        table("Edge types", ["positions", "order", { text: "hyperedges", class: "right" }],
          types.edge_types.map((e) => el("tr", {},
            el("th", { scope: "row" }, e.types.join(" × ")),
            el("td", {}, e.ordered ? "matters" : "does not matter"),
            el("td", { class: "right" }, count(e.hyperedges)))))),
      el("section", { class: "card wide several" }, el("h2", {}, "Settings"), definitions(run.settings)))));
}
