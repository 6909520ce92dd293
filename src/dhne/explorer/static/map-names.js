// Names beside the points if there is room: on small maps, or after zooming in. They are elements of
// the page on top of the plot, placed only where they cover no point and no other name.

import { el, fill, shown } from "./dom.js";

const MOST = 40; // visible nodes; with more, names would hide the points
const HEIGHT = 18;
const GAP = 9;
const POINT = 5;

const around = (left, top, width, height) => ({ left, top, right: left + width, bottom: top + height });
const meet = (a, b) => a.left < b.right && a.right > b.left && a.top < b.bottom && a.bottom > b.top;
const within = (a, b) => a.left >= b.left && a.right <= b.right && a.top >= b.top && a.bottom <= b.bottom;

export class NameLabels {
  constructor(names, weights) {
    Object.assign(this, { names, weights, root: el("div", { class: "map-names", "aria-hidden": "true" }) });
  }

  // Schedules a new placement of the names before the next frame.
  update(plot) {
    if (this.asked) return;
    this.asked = requestAnimationFrame(() => { this.asked = undefined; this.place(plot); });
  }

  place(plot) {
    fill(this.root);
    const nodes = this.inSight(plot);
    if (!nodes) return;
    nodes.sort((a, b) => this.weights[b] - this.weights[a]);
    const { clientWidth, clientHeight } = this.root;
    const whole = { left: 0, right: clientWidth, top: 0, bottom: clientHeight };
    const points = nodes.map((node) => plot.pixel(node));
    const taken = points.map(([x, y]) => around(x - POINT, y - POINT, 2 * POINT, 2 * POINT));
    nodes.forEach((node, i) => {
      const [x, y] = points[i];
      const label = el("span", { dir: "auto" }, shown(this.names.at(node)));
      this.root.append(label);
      const width = label.offsetWidth;
      const beside = [
        around(x + GAP, y - HEIGHT / 2, width, HEIGHT), around(x - GAP - width, y - HEIGHT / 2, width, HEIGHT),
        around(x - width / 2, y - GAP - HEIGHT, width, HEIGHT), around(x - width / 2, y + GAP, width, HEIGHT)];
      const free = beside.find((box) => within(box, whole) && !taken.some((t) => meet(t, box)));
      if (!free) { label.remove(); return; }
      taken.push(free);
      label.style.left = `${free.left}px`;
      label.style.top = `${free.top}px`;
    });
  }

  inSight(plot) {
    const { x: [x0, x1], y: [y0, y1] } = plot.range;
    const { x, y } = plot.points;
    const found = [];
    for (let i = 0; i < x.length; i++) {
      if (x[i] < x0 || x[i] > x1 || y[i] < y0 || y[i] > y1) continue;
      if (found.push(i) > MOST) return null;
    }
    return found;
  }
}
