// The selected nodes: listed, copied, saved as CSV, and what they have in common.

import { address } from "./address.js";
import { post, postForText } from "./api.js";
import { count, el, empty, fill, loading, nodeLink, plural, problem } from "./dom.js";

const LISTED = 200;
const MOST = 100000; // nodes in one request

export class Selection {
  constructor(type, names, onClear) {
    Object.assign(this, { type, names, onClear, nodes: [], open: false });
    this.root = el("section", { class: "card selection", "aria-label": "Selection" });
    this.show();
  }

  node(id) {
    return { type: this.type, id, name: this.names.at(id) };
  }

  say(text) {
    this.nodes = [];
    fill(this.root, empty(text));
  }

  // `total` includes nodes that are not listed.
  show(title, nodes = [], total = nodes.length) {
    this.nodes = nodes;
    if (!title) {
      fill(this.root, empty("Nothing is selected.", "Search by name, or draw around nodes with the lasso."));
      return;
    }
    const rest = total - Math.min(nodes.length, LISTED);
    this.told = el("p", { class: "hint", role: "status" });
    fill(this.root,
      el("div", { class: "card-head" }, el("h2", {}, title),
        el("button", { type: "button", class: "quiet", onclick: this.onClear }, "Clear")),
      this.actions(), this.told, nodes.length > 1 && this.sharing(),
      el("ul", { class: "nodes" }, nodes.slice(0, LISTED).map((id) => el("li", {}, nodeLink(this.node(id))))),
      rest > 0 && el("p", { class: "hint" }, `and ${count(rest)} more`));
  }

  actions() {
    const { nodes } = this;
    const [a, b] = nodes.map((id) => this.names.at(id));
    const act = (text, title, onclick) => el("button", { type: "button", class: "quiet", title, onclick }, text);
    return el("p", { class: "actions" },
      act("Copy names", "One name per line", () => this.copy()),
      nodes.length <= MOST && act("CSV", "A table of type, name, degree and labels", () => this.save()),
      nodes.length === 2 && el("a", {
        class: "button quiet", href: address(["compare"], [["type", this.type], ["a", a], ["with", this.type], ["b", b]]),
      }, "Compare"));
  }

  async copy() {
    try {
      await navigator.clipboard.writeText(this.nodes.map((id) => this.names.at(id)).join("\n"));
      this.told.textContent = `${plural(this.nodes.length, "name")} copied`;
    } catch {
      this.told.textContent = "The browser does not allow copying; use CSV.";
    }
  }

  async save() {
    const text = await postForText("selection/csv", { type: this.type, ids: Array.from(this.nodes) });
    const url = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
    el("a", { href: url, download: `${this.type}.csv` }).click();
    URL.revokeObjectURL(url);
    this.told.textContent = `${plural(this.nodes.length, "node")} saved`;
  }

  // Requested when opened; stays open from one selection to the next.
  sharing() {
    const place = el("div", {}, loading());
    const { nodes } = this;
    const ask = async () => {
      if (nodes.length > MOST) { fill(place, empty(`Available for up to ${count(MOST)} nodes.`)); return; }
      try {
        fill(place, this.shared(await post("selection", { type: this.type, ids: Array.from(nodes) })));
      } catch (error) { fill(place, problem(error)); }
    };
    const details = el("details", { class: "sharing", open: this.open }, el("summary", {}, "What they share"), place);
    details.addEventListener("toggle", () => { this.open = details.open; if (details.open) ask(); });
    return details;
  }

  shared({ nodes, labels, shared }) {
    const row = (what, selected, all) => el("li", {}, what,
      el("span", { class: "number", title: `${count(selected)} of the selected nodes, ${count(all)} of all` },
        `${Math.round((100 * selected) / nodes)}%`));
    const part = (title, rows) => rows.length > 0 && [el("h3", {}, title), el("ul", { class: "shares" }, rows)];
    return [
      part("Labels", labels.map((l) => row(el("span", { dir: "auto" }, l.name), l.selected, l.all))),
      shared.map((s) => part(s.type, s.nodes.map((n) => row(nodeLink(n.node), n.selected, n.all)))),
      el("p", { class: "hint" }, "Share of the selection; most distinctive first."),
    ];
  }
}
