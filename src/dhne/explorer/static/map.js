// The map: every node of a type in the plane. Plotly draws the points; all words around them are ours.

import { get, once, post } from "./api.js";
import { combobox } from "./combobox.js";
import { count, el, empty, fill, nodeHref, nodeLink, plural } from "./dom.js";
import { degreeColours, drawLegend, labelColours } from "./legend.js";
import { CONFIG, colour, layout, plotly } from "./plots.js";
import { gather, loadDegrees, loadLabels, loadNames, loadPoints } from "./points.js";

const LISTED = 200;
const LAYOUTS = { pca: "Principal components", umap: "UMAP" };

function option(value, text, selected, disabled = false) {
  return el("option", { value, selected, disabled }, text);
}

export async function showMap(content, [type], parameters) {
  const types = (await once("types")).node_types;
  const largest = types.reduce((a, b) => (b.nodes > a.nodes ? b : a));
  return new MapView(content, types).start(type || largest.type, parameters);
}

class MapView {
  constructor(content, types) {
    Object.assign(this, { content, types, by: "degree", shown: "pca", chosen: null, marked: [] });
    this.alive = true;
  }

  async start(type, parameters) {
    this.type = type;
    this.info = await get("map", { type });
    if (this.info.labels) this.by = "label";
    this.build();
    const n = this.info.nodes;
    // Plotly last: while it is compiled, nothing else can be asked for
    const [points, names, , Plotly] = await Promise.all(
      [loadPoints(type, "pca", n), loadNames(type, n), this.loadColours(), plotly()]);
    if (!this.alive) return undefined;
    Object.assign(this, { Plotly, points, names });
    await this.draw();
    this.onTheme = () => { this.showLegend(); this.recolour(); };
    document.addEventListener("themechange", this.onTheme);
    const node = Number(parameters.get("node") ?? NaN);
    if (Number.isInteger(node) && node >= 0 && node < n) await this.point(node);
    return () => this.leave();
  }

  leave() {
    this.alive = false;
    document.removeEventListener("themechange", this.onTheme);
    clearTimeout(this.poll);
    if (this.Plotly) this.Plotly.purge(this.plot);
  }

  async loadColours() {
    this.colours ??= {};
    const labels = this.info.labels?.length ?? 0;
    this.colours[this.by] ??= await (this.by === "degree"
      ? loadDegrees(this.type, this.info.largest_degree) : loadLabels(this.type, labels));
  }

  // -- what is around the points ------------------------------------------------------------------

  build() {
    const { info } = this;
    this.plot = el("div", { class: "plot" });
    this.tip = el("div", { class: "tip", role: "status", hidden: true });
    this.legend = el("div", { class: "card" });
    this.list = el("div", { class: "card selection", "aria-live": "polite" });
    this.stage = el("div", {
      class: "stage", tabIndex: 0, role: "application", onkeydown: (event) => this.key(event),
      onmouseleave: () => { this.tip.hidden = true; },
      "aria-label": `Map of ${plural(info.nodes, "node")} of type ${this.type}. Arrow keys move it, plus and minus zoom, 0 shows all. Search by name to reach a node.`,
    }, this.plot, this.tools(), this.tip);
    const search = combobox({
      type: this.type, label: "Search by name", placeholder: "a name, or a part of one",
      onChoose: (node) => { if (this.Plotly) this.point(node.id); },
      onType: (text) => this.search(text),
    });
    const select = (id, label, options, onchange) => el("div", { class: "field" },
      el("label", { htmlFor: id }, label), el("select", { id, onchange: (e) => onchange(e.target.value) }, options));
    this.layoutField = select("layout", "Layout", [], (value) => this.changeLayout(value));
    fill(this.content, el("div", { class: "map" },
      el("h1", { class: "hidden" }, `Map of ${this.type}`),
      el("div", { class: "map-bar" },
        select("type", "Nodes", this.types.map((t) => option(t.type, `${t.type} (${count(t.nodes)})`, t.type === this.type)),
          (value) => { location.hash = `#/map/${encodeURIComponent(value)}`; }),
        select("by", "Colour", [option("degree", "by degree", this.by === "degree"),
          option("label", info.labels ? "by label" : "by label (there are none)", this.by === "label", !info.labels)],
        (value) => this.changeColour(value)),
        this.layoutField, search.root),
      el("div", { class: "map-body" }, this.stage, el("aside", { "aria-label": "Legend and selection" }, this.legend, this.list))));
    this.showLayouts();
    this.showLegend();
    this.showList();
  }

  tools() {
    const tool = (name, text, hint) => el("button", {
      type: "button", title: hint, "aria-pressed": String(name === "pan"), "data-tool": name, onclick: () => this.use(name),
    }, text);
    const act = (text, hint, action) => el("button", { type: "button", title: hint, "aria-label": hint, onclick: action }, text);
    return el("div", { class: "tools", role: "toolbar", "aria-label": "Map tools" },
      tool("pan", "Move", "Drag to move the map"), tool("lasso", "Lasso", "Draw around nodes to list them"),
      act("+", "Zoom in", () => this.zoom(0.6)), act("−", "Zoom out", () => this.zoom(1 / 0.6)),
      act("All", "Show all nodes", () => this.showAll()));
  }

  showLegend() {
    drawLegend(this.legend, this.info, this.by, this.chosen, (code) => {
      this.chosen = code;
      this.showLegend();
      this.recolour();
    });
  }

  showLayouts() {
    const states = { ready: "", computing: " (computing …)", "not computed": " (compute)", failed: " (failed; try again)" };
    fill(this.layoutField.querySelector("select"), this.info.layouts.map((l) =>
      option(l.layout, LAYOUTS[l.layout] + (states[l.state] ?? ` (${l.reason})`), l.layout === this.shown, l.state === "not available")));
  }

  showList(title, nodes = [], total = nodes.length) {
    if (!title) {
      fill(this.list, empty("Nothing is selected.", "Search by name, or draw around nodes with the lasso."));
      return;
    }
    fill(this.list, el("div", { class: "card-head" }, el("h2", {}, title),
      el("button", { type: "button", class: "quiet", onclick: () => this.clear() }, "Clear")),
    el("ul", { class: "nodes" }, nodes.slice(0, LISTED).map((id) =>
      el("li", {}, nodeLink({ type: this.type, id, name: this.names.at(id) })))),
    total > LISTED && el("p", { class: "hint" }, `and ${count(total - Math.min(nodes.length, LISTED))} more`));
  }

  // -- the points -----------------------------------------------------------------------------------

  get groups() {
    return this.colours[this.by];
  }

  paint() {
    const colours = this.by === "degree" ? degreeColours() : labelColours(this.info.labels, this.chosen);
    return this.groups.map((group) => colours[group.code]);
  }

  traces() {
    const n = this.info.nodes;
    const size = n > 50000 ? 3 : n > 10000 ? 4 : n > 2000 ? 5.5 : 7;
    const type = this.plain ? "scatter" : "scattergl";
    const { x, y } = this.points;
    const colours = this.paint();
    const all = this.groups.map(({ ids }, i) => ({
      type, mode: "markers", hoverinfo: "none", x: gather(x, ids), y: gather(y, ids), customdata: ids,
      marker: { size, opacity: 0.85, color: colours[i], line: { width: 0 } },
      selected: { marker: { opacity: 1 } }, unselected: { marker: { opacity: 0.12 } },
    }));
    const ring = { size: 15, symbol: "circle-open", color: colour("mark"), line: { width: 2.5, color: colour("mark") } };
    return [...all, {
      type, mode: "markers", hoverinfo: "skip", marker: ring,
      x: this.marked.map((i) => x[i]), y: this.marked.map((i) => y[i]),
    }];
  }

  extent(values) {
    let low = Infinity;
    let high = -Infinity;
    for (const v of values) { if (v < low) low = v; if (v > high) high = v; }
    const pad = 0.06 * (high - low) || 1;
    return Number.isFinite(low) ? [low - pad, high + pad] : [-1, 1];
  }

  async draw() {
    const axis = { visible: false, zeroline: false, showgrid: false };
    this.ranges = { x: this.extent(this.points.x), y: this.extent(this.points.y) };
    await this.Plotly.newPlot(this.plot, this.traces(), layout({
      dragmode: this.tool ?? "pan", hovermode: "closest", hoverdistance: 12,
      xaxis: { ...axis, range: [...this.ranges.x] }, yaxis: { ...axis, range: [...this.ranges.y] },
      newselection: { line: { color: colour("accent"), width: 2, dash: "solid" } },
      activeselection: { fillcolor: colour("accent"), opacity: 0.08 },
      // Plotly draws at twice the screen's resolution; of very many points that is not seen, only felt
    }), this.info.nodes > 20000 ? { ...CONFIG, plotGlPixelRatio: Math.max(1, devicePixelRatio) } : CONFIG);
    if (!this.plain && this.plot.querySelector(".no-webgl")) {
      this.plain = true; // no WebGL here: slower, but there
      await this.draw();
      return;
    }
    this.listen();
    this.stage.dataset.ready = "true";
  }

  recolour() {
    this.Plotly.restyle(this.plot, { "marker.color": [...this.paint(), colour("mark")] });
    this.Plotly.restyle(this.plot, { "marker.line.color": colour("mark") }, [this.groups.length]);
  }

  // newPlot forgets who listened, so this follows each
  listen() {
    this.plot.on("plotly_hover", (event) => this.hover(event));
    this.plot.on("plotly_unhover", () => { this.tip.hidden = true; });
    this.plot.on("plotly_click", (event) => {
      const hit = event.points.find((p) => p.curveNumber < this.groups.length);
      if (hit && (this.tool ?? "pan") === "pan") location.hash = nodeHref({ type: this.type, id: hit.customdata });
    });
    this.plot.on("plotly_selected", (event) => {
      if (!event) return;
      const nodes = event.points.map((p) => p.customdata).filter((id) => id !== undefined);
      if (nodes.length) this.showList(`${plural(nodes.length, "node")} selected`, nodes);
      else this.showList();
    });
  }

  hover(event) {
    const hit = event.points.find((p) => p.curveNumber < this.groups.length);
    if (!hit) return;
    this.tip.textContent = this.names.at(hit.customdata) || "(empty name)";
    const box = this.stage.getBoundingClientRect();
    const x = event.event.clientX - box.left;
    this.tip.hidden = false;
    const left = Math.min(x + 14, box.width - this.tip.offsetWidth - 8);
    this.tip.style.left = `${Math.max(8, left)}px`;
    this.tip.style.top = `${Math.max(8, event.event.clientY - box.top - 36)}px`;
  }

  // -- what one can do --------------------------------------------------------------------------------

  use(tool) {
    this.tool = tool;
    for (const button of this.stage.querySelectorAll("[data-tool]")) {
      button.setAttribute("aria-pressed", String(button.dataset.tool === tool));
    }
    this.Plotly?.relayout(this.plot, { dragmode: tool });
  }

  view(change) {
    if (!this.Plotly) return undefined;
    const { xaxis, yaxis } = this.plot.layout;
    return this.Plotly.relayout(this.plot, {
      "xaxis.range": change([...xaxis.range], "x"), "yaxis.range": change([...yaxis.range], "y"),
    });
  }

  zoom(factor) {
    this.view(([a, b]) => [(a + b) / 2 - factor * (b - a) / 2, (a + b) / 2 + factor * (b - a) / 2]);
  }

  move(dx, dy) {
    this.view(([a, b], axis) => { const d = (axis === "x" ? dx : dy) * (b - a); return [a + d, b + d]; });
  }

  showAll() {
    this.view((_, axis) => [...this.ranges[axis]]);
  }

  key(event) {
    if (event.target !== this.stage || event.ctrlKey || event.metaKey || event.altKey) return;
    const keys = {
      ArrowLeft: () => this.move(-0.15, 0), ArrowRight: () => this.move(0.15, 0),
      ArrowUp: () => this.move(0, 0.15), ArrowDown: () => this.move(0, -0.15),
      "+": () => this.zoom(0.6), "=": () => this.zoom(0.6), "-": () => this.zoom(1 / 0.6), 0: () => this.showAll(),
    };
    if (!(event.key in keys)) return;
    event.preventDefault();
    keys[event.key]();
  }

  async mark(nodes) {
    this.marked = nodes;
    await this.Plotly.restyle(this.plot, {
      x: [nodes.map((i) => this.points.x[i])], y: [nodes.map((i) => this.points.y[i])],
    }, [this.groups.length]);
    this.stage.dataset.marked = String(nodes.length);
  }

  // A node that was chosen: shown in the middle, and a search that is still under way is forgotten.
  async point(node) {
    this.asked = (this.asked ?? 0) + 1;
    this.showList("Found", [node]);
    const at = { x: this.points.x[node], y: this.points.y[node] };
    await this.view(([a, b], axis) => {
      const width = Math.min(b - a, (this.ranges[axis][1] - this.ranges[axis][0]) / 2);
      return [at[axis] - width / 2, at[axis] + width / 2];
    });
    await this.mark([node]);
  }

  async search(text) {
    const mine = this.asked = (this.asked ?? 0) + 1;
    if (!text.trim()) { this.clear(); return; }
    const found = await get("search", { type: this.type, text, limit: LISTED });
    if (mine !== this.asked || !this.Plotly) return;
    const nodes = found.nodes.map((node) => node.id);
    if (nodes.length) this.showList(`${plural(found.total, "name holds", "names hold")} “${text.trim()}”`, nodes, found.total);
    else fill(this.list, empty(`No ${this.type} has “${text.trim()}” in its name.`));
    await this.mark(nodes);
  }

  async clear() {
    this.showList();
    await this.mark([]);
    // the outline first: taking it away makes Plotly select anew, which then is undone
    await this.Plotly.relayout(this.plot, { selections: [] });
    await this.Plotly.restyle(this.plot, { selectedpoints: [null] });
  }

  async changeColour(by) {
    this.by = by;
    this.chosen = null;
    await this.loadColours();
    this.showLegend();
    await this.draw();
  }

  async changeLayout(name) {
    const asked = this.info.layouts.find((l) => l.layout === name);
    if (asked.state !== "ready") {
      const now = await post("map/umap", undefined, { type: this.type });
      Object.assign(asked, now);
      this.showLayouts();
      if (now.state === "computing") this.watch(name);
      return;
    }
    this.shown = name;
    this.showLayouts();
    this.points = await loadPoints(this.type, name, this.info.nodes);
    if (this.alive) await this.draw();
  }

  watch(name) {
    this.poll = setTimeout(async () => {
      const info = await get("map", { type: this.type });
      if (!this.alive) return;
      this.info.layouts = info.layouts;
      this.showLayouts();
      const state = info.layouts.find((l) => l.layout === name).state;
      if (state === "computing") this.watch(name);
      else if (state === "ready") this.changeLayout(name);
    }, 1000);
  }
}
