// The map of a node type, with search, colours, layouts and selection.

import { remember } from "./address.js";
import { get, once } from "./api.js";
import { combobox } from "./combobox.js";
import { count, el, fill, nodeHref, plural } from "./dom.js";
import { HoverCard } from "./hover-card.js";
import { degreeColours, drawLegend, labelColours } from "./legend.js";
import { LayoutChoice } from "./map-layouts.js";
import { NameLabels } from "./map-names.js";
import { MapPlot } from "./map-plot.js";
import { plotly } from "./plots.js";
import { loadDegrees, loadLabels, loadNames, loadPoints } from "./points.js";
import { Selection } from "./selection.js";

const FOUND = 200;
const REMEMBERED = 50; // selected nodes whose names are kept in the address

export async function showMap(content, [type], parameters) {
  const types = (await once("types")).node_types;
  const largest = types.reduce((a, b) => (b.nodes > a.nodes ? b : a));
  const view = new MapView(types, type || largest.type);
  await view.start(content, parameters);
  return () => view.leave();
}

class MapView {
  constructor(types, type) {
    Object.assign(this, { types, type, alive: true, asked: 0 });
    this.state = { layout: "pca", colour: "degree", label: null, find: "", nodes: [] };
  }

  async start(content, parameters) {
    this.info = await get("map", { type: this.type });
    const n = this.info.nodes;
    this.restore(parameters);
    const names = loadNames(this.type, n);
    this.build(content, await names);
    // Plotly last: its compilation blocks all other requests
    const [points, , Plotly] = await Promise.all([loadPoints(this.type, "pca", n), this.loadColours(), plotly()]);
    if (!this.alive) return;
    this.labels = new NameLabels(this.names, (await this.degrees).values);
    this.stage.append(this.labels.root);
    this.plot = new MapPlot(this.stage.querySelector(".plot"), Plotly, n, {
      hover: (node, event) => this.card.show(node, event),
      leave: () => { if (!this.card.root.classList.contains("pinned")) this.card.hide(); },
      click: (node, event) => this.open(node, event),
      select: (nodes) => this.select(nodes),
      moved: () => this.moved(),
    });
    await this.plot.draw(points, this.groups, this.paint(), this.layout.chosen === "pca" ? this.given : undefined);
    this.stage.dataset.ready = "true";
    this.onTheme = () => { this.showLegend(); this.plot.recolour(this.paint()); };
    document.addEventListener("themechange", this.onTheme);
    if (this.state.layout !== "pca") await this.layout.choose(this.state.layout);
    await this.reselect();
  }

  leave() {
    this.alive = false;
    document.removeEventListener("themechange", this.onTheme);
    this.layout?.leave();
    this.card?.hide();
    this.plot?.purge();
  }

  // -- the address ----------------------------------------------------------------------------------

  restore(parameters) {
    const { labels } = this.info;
    const colour = parameters.get("colour") ?? (labels ? "label" : "degree");
    const label = labels?.findIndex((l) => l.name === parameters.get("label")) ?? -1;
    const numbers = (parameters.get("view") ?? "").split(",").map(Number);
    if (numbers.length === 4 && numbers.every(Number.isFinite)) {
      this.given = { x: numbers.slice(0, 2), y: numbers.slice(2) };
    }
    Object.assign(this.state, {
      layout: parameters.get("layout") === "umap" ? "umap" : "pca",
      colour: colour === "label" && labels ? "label" : "degree",
      label: label >= 0 ? label : null,
      find: parameters.get("find") ?? "",
      nodes: parameters.getAll("node"),
    });
  }

  remember() {
    if (!this.alive || !this.plot?.whole) return;
    const { layout, colour, label, find, nodes } = this.state;
    const { x, y } = this.plot.range;
    remember(["map", this.type], [
      ["layout", layout === "pca" ? "" : layout],
      ["colour", colour === (this.info.labels ? "label" : "degree") ? "" : colour],
      ["label", label === null ? "" : this.info.labels[label]?.name],
      ["find", find],
      ...nodes.map((name) => ["node", name]),
      ["view", this.plot.isWhole ? "" : [...x, ...y].map((v) => Number(v.toPrecision(5))).join(",")],
    ]);
  }

  // The selection in the address; a link to one node centres it.
  async reselect() {
    const { nodes, find } = this.state;
    if (nodes.length) {
      const ids = this.names.find(nodes);
      if (ids.length === 1 && !this.given) await this.plot.centre(ids[0]);
      if (ids.length) await this.pick(ids.length === 1 ? "Found" : `${plural(ids.length, "node")} selected`, ids);
      else this.selection.say(`No ${this.type} is called ${nodes[0]}.`);
    } else if (find) await this.search(find);
  }

  // -- controls around the plot ---------------------------------------------------------------------

  build(content, names) {
    this.names = names;
    const { info, type } = this;
    this.legend = el("div", { class: "card" });
    this.selection = new Selection(type, names, () => this.clear());
    this.layout = new LayoutChoice(type, info.layouts, (name) => this.show(name));
    this.layout.select.addEventListener("change", () => { this.state.layout = this.layout.chosen; this.remember(); });
    this.stage = el("div", {
      class: "stage", tabIndex: 0, role: "application", onkeydown: (event) => this.key(event),
      onmouseleave: () => this.card.hide(),
      "aria-label": `Map of ${plural(info.nodes, "node")} of type ${type}. Arrow keys move it, plus and minus zoom, 0 shows all. Search by name to reach a node.`,
    }, el("div", { class: "plot" }), this.tools(), this.layout.status);
    this.card = new HoverCard(this.stage, type, names);
    this.stage.append(this.card.root);
    const search = combobox({
      type, label: "Search by name", placeholder: "part of a name", value: this.state.find,
      onChoose: (node) => { if (this.plot) this.point(node.id); },
      onType: (text) => this.search(text),
    });
    const select = (id, label, options, onchange) => el("div", { class: "field" },
      el("label", { htmlFor: id }, label), el("select", { id, onchange: (e) => onchange(e.target.value) }, options));
    const option = (value, text, selected, disabled = false) => el("option", { value, selected, disabled }, text);
    const by = this.state.colour;
    fill(content, el("div", { class: "map" },
      el("h1", { class: "hidden" }, `Map of ${type}`),
      el("div", { class: "map-bar" },
        select("type", "Nodes", this.types.map((t) => option(t.type, `${t.type} (${count(t.nodes)})`, t.type === type)),
          (value) => { location.hash = `#/map/${encodeURIComponent(value)}`; }),
        select("by", "Colour", [option("degree", "by degree", by === "degree"),
          option("label", info.labels ? "by label" : "by label (there are none)", by === "label", !info.labels)],
        (value) => this.changeColour(value)),
        this.layout.field, search.root),
      el("div", { class: "map-body" }, this.stage,
        el("aside", { "aria-label": "Legend and selection" }, this.legend, this.selection.root))));
    this.showLegend();
  }

  tools() {
    const tool = (name, text, hint) => el("button", {
      type: "button", title: hint, "aria-pressed": String(name === "pan"), "data-tool": name, onclick: () => this.use(name),
    }, text);
    const act = (text, hint, action) => el("button", { type: "button", title: hint, "aria-label": hint, onclick: action }, text);
    return el("div", { class: "tools", role: "toolbar", "aria-label": "Map tools" },
      tool("pan", "Move", "Drag to move the map"), tool("lasso", "Lasso", "Draw around nodes to list them"),
      act("+", "Zoom in", () => this.plot?.zoom(0.6)), act("−", "Zoom out", () => this.plot?.zoom(1 / 0.6)),
      act("All", "Show all nodes", () => this.plot?.showAll()));
  }

  use(tool) {
    for (const button of this.stage.querySelectorAll("[data-tool]")) {
      button.setAttribute("aria-pressed", String(button.dataset.tool === tool));
    }
    this.plot?.use(tool);
  }

  key(event) {
    if (event.target !== this.stage || event.ctrlKey || event.metaKey || event.altKey || !this.plot) return;
    const { plot } = this;
    const keys = {
      ArrowLeft: () => plot.move(-0.15, 0), ArrowRight: () => plot.move(0.15, 0),
      ArrowUp: () => plot.move(0, 0.15), ArrowDown: () => plot.move(0, -0.15),
      "+": () => plot.zoom(0.6), "=": () => plot.zoom(0.6), "-": () => plot.zoom(1 / 0.6), 0: () => plot.showAll(),
    };
    if (!(event.key in keys)) return;
    event.preventDefault();
    keys[event.key]();
  }

  moved() {
    this.labels.update(this.plot);
    this.remember();
  }

  // -- colours and layouts --------------------------------------------------------------------------

  get groups() {
    return this.colours[this.state.colour].groups;
  }

  async loadColours() {
    this.colours ??= {};
    const by = this.state.colour;
    this.degrees ??= loadDegrees(this.type, this.info);
    this.colours[by] ??= await (by === "degree" ? this.degrees : loadLabels(this.type, this.info.labels.length));
  }

  paint() {
    const { colour, label } = this.state;
    const colours = colour === "degree" ? degreeColours() : labelColours(this.info.labels, label);
    return this.groups.map((group) => colours[group.code]);
  }

  showLegend() {
    drawLegend(this.legend, this.info, this.state.colour, this.state.label, (code) => {
      this.state.label = code;
      this.showLegend();
      this.plot?.recolour(this.paint());
      this.remember();
    });
  }

  async changeColour(by) {
    Object.assign(this.state, { colour: by, label: null });
    await this.loadColours();
    this.showLegend();
    if (this.plot) await this.plot.draw(this.plot.points, this.groups, this.paint(), this.plot.range);
  }

  async show(layout) {
    const points = await loadPoints(this.type, layout, this.info.nodes);
    if (!this.alive || layout !== this.layout.chosen) return;
    await this.plot.draw(points, this.groups, this.paint(), this.given);
    this.given = undefined; // the viewport in the address was for that selection
    this.stage.dataset.layout = layout;
  }

  // -- nodes ----------------------------------------------------------------------------------------

  // With a mouse the card is already visible, so a click opens the node; a tap shows the card first.
  open(node, event) {
    if (matchMedia("(hover: none)").matches) this.card.show(node, event, { pinned: true });
    else location.hash = nodeHref({ type: this.type, id: node, name: this.names.at(node) });
  }

  async pick(title, nodes, { total = nodes.length, mark = nodes } = {}) {
    this.state.nodes = nodes.length <= REMEMBERED && !this.state.find ? nodes.map((id) => this.names.at(id)) : [];
    this.selection.show(title, nodes, total);
    await this.plot.mark(mark);
    this.stage.dataset.marked = String(mark.length);
    this.remember();
  }

  select(nodes) {
    this.state.find = "";
    if (nodes.length) this.pick(`${plural(nodes.length, "node")} selected`, nodes, { mark: [] });
    else this.clear();
  }

  // A chosen node: centred, and any search in progress is dropped.
  async point(node) {
    this.asked += 1;
    this.state.find = "";
    await this.plot.centre(node);
    await this.pick("Found", [node]);
  }

  async search(text) {
    const mine = ++this.asked;
    const wanted = text.trim();
    if (!wanted) { await this.clear(); return; }
    const found = await get("search", { type: this.type, text, limit: FOUND });
    if (mine !== this.asked || !this.plot) return;
    this.state.find = wanted;
    const title = `${plural(found.total, "name contains", "names contain")} “${wanted}”`;
    await this.pick(title, found.nodes.map((node) => node.id), { total: found.total });
    if (!found.total) this.selection.say(`No ${this.type} has “${wanted}” in its name.`);
  }

  async clear() {
    this.state.find = "";
    if (!this.plot) return;
    await this.pick(null, []);
    await this.plot.unselect();
  }
}
