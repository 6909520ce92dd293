// The points of a map in Plotly: colours, marks, panning and zooming. Names are never passed to it.

import { CONFIG, colour, layout } from "./plots.js";
import { gather } from "./points.js";

// From the smallest to the largest value with a margin, wider at the end where the tools are.
function extent(values, room = 1) {
  let low = Infinity;
  let high = -Infinity;
  for (const v of values) { if (v < low) low = v; if (v > high) high = v; }
  const pad = 0.06 * (high - low) || 1;
  return Number.isFinite(low) ? [low - pad, high + room * pad] : [-1, 1];
}

export class MapPlot {
  // `on` has the functions hover(node, event), leave(), click(node, event), select(nodes), moved().
  constructor(place, Plotly, nodes, on) {
    Object.assign(this, { place, Plotly, nodes, on, tool: "pan", marked: [] });
  }

  // groups: [{ code, ids }] and one colour for each of them
  async draw(points, groups, colours, range) {
    Object.assign(this, { points, groups, colours });
    const axis = { visible: false, zeroline: false, showgrid: false };
    this.whole = { x: extent(points.x), y: extent(points.y, 2.4) };
    const { x, y } = range ?? this.whole;
    await this.Plotly.newPlot(this.place, this.traces(), layout({
      dragmode: this.tool, hovermode: "closest", hoverdistance: 12,
      xaxis: { ...axis, range: [...x] }, yaxis: { ...axis, range: [...y] },
      newselection: { line: { color: colour("accent"), width: 2, dash: "solid" } },
      activeselection: { fillcolor: colour("accent"), opacity: 0.08 },
      // Plotly draws at twice the screen's resolution; with very many points that is slow and invisible
    }), this.nodes > 20000 ? { ...CONFIG, plotGlPixelRatio: Math.max(1, devicePixelRatio) } : CONFIG);
    if (!this.plain && this.place.querySelector(".no-webgl")) {
      this.plain = true; // without WebGL: slower, but it works
      await this.draw(points, groups, colours, range);
      return;
    }
    this.listen();
    this.on.moved();
  }

  traces() {
    const n = this.nodes;
    const size = n > 50000 ? 3 : n > 10000 ? 4 : n > 2000 ? 5.5 : n > 100 ? 7 : 10;
    const type = this.plain ? "scatter" : "scattergl";
    const { x, y } = this.points;
    const all = this.groups.map(({ ids }, i) => ({
      type, mode: "markers", hoverinfo: "none", x: gather(x, ids), y: gather(y, ids), customdata: ids,
      marker: { size, opacity: 0.85, color: this.colours[i], line: { width: 0 } },
      selected: { marker: { opacity: 1 } }, unselected: { marker: { opacity: 0.12 } },
    }));
    const ring = { size: 15, symbol: "circle-open", color: colour("mark"), line: { width: 2.5, color: colour("mark") } };
    return [...all, {
      type, mode: "markers", hoverinfo: "skip", marker: ring,
      x: this.marked.map((i) => x[i]), y: this.marked.map((i) => y[i]),
    }];
  }

  // newPlot drops all listeners, so they are added after each
  listen() {
    const node = (event) => event.points.find((p) => p.curveNumber < this.groups.length)?.customdata;
    const told = (what) => (event) => {
      const found = node(event);
      if (found !== undefined) what(found, event.event);
    };
    this.place.on("plotly_hover", told(this.on.hover));
    this.place.on("plotly_unhover", () => this.on.leave());
    this.place.on("plotly_click", told((found, event) => { if (this.tool === "pan") this.on.click(found, event); }));
    this.place.on("plotly_selected", (event) => {
      if (event) this.on.select(event.points.map((p) => p.customdata).filter((id) => id !== undefined));
    });
    this.place.on("plotly_relayout", () => this.on.moved());
    this.place.on("plotly_relayouting", () => this.on.moved());
  }

  recolour(colours) {
    this.colours = colours;
    this.Plotly.restyle(this.place, { "marker.color": [...colours, colour("mark")] });
    this.Plotly.restyle(this.place, { "marker.line.color": colour("mark") }, [this.groups.length]);
  }

  async mark(nodes) {
    this.marked = nodes;
    await this.Plotly.restyle(this.place, {
      x: [nodes.map((i) => this.points.x[i])], y: [nodes.map((i) => this.points.y[i])],
    }, [this.groups.length]);
  }

  async unselect() {
    // remove the outline first: that makes Plotly select again, which is then undone
    await this.Plotly.relayout(this.place, { selections: [] });
    await this.Plotly.restyle(this.place, { selectedpoints: [null] });
  }

  use(tool) {
    this.tool = tool;
    return this.Plotly.relayout(this.place, { dragmode: tool });
  }

  purge() {
    this.Plotly.purge(this.place);
  }

  // -- the viewport ---------------------------------------------------------------------------------

  get range() {
    const { xaxis, yaxis } = this.place.layout;
    return { x: [...xaxis.range], y: [...yaxis.range] };
  }

  get isWhole() {
    return ["x", "y"].every((axis) => this.range[axis].every((v, i) => Math.abs(v - this.whole[axis][i]) < 1e-9));
  }

  look(change) {
    const { x, y } = this.range;
    return this.Plotly.relayout(this.place, { "xaxis.range": change(x, "x"), "yaxis.range": change(y, "y") });
  }

  zoom(factor) {
    return this.look(([a, b]) => [(a + b) / 2 - factor * (b - a) / 2, (a + b) / 2 + factor * (b - a) / 2]);
  }

  move(dx, dy) {
    return this.look(([a, b], axis) => { const d = (axis === "x" ? dx : dy) * (b - a); return [a + d, b + d]; });
  }

  showAll() {
    return this.look((_, axis) => [...this.whole[axis]]);
  }

  centre(node) {
    return this.look(([a, b], axis) => {
      const at = this.points[axis][node];
      const width = Math.min(b - a, (this.whole[axis][1] - this.whole[axis][0]) / 2);
      return [at - width / 2, at + width / 2];
    });
  }

  // The position of a node within the element, in pixels.
  pixel(node) {
    const { xaxis, yaxis } = this.place._fullLayout;
    return [xaxis._offset + xaxis.d2p(this.points.x[node]), yaxis._offset + yaxis.d2p(this.points.y[node])];
  }
}
