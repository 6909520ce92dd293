// The card of the node under the pointer: its name at once, then labels, degree and nearest nodes.
// On touch screens a tap shows the card, and the card links to the node.

import { get } from "./api.js";
import { el, fill, nodeLink, plural, shown } from "./dom.js";

const WAIT = 120; // milliseconds of rest before details are requested
const NEAREST = 3;

export class HoverCard {
  constructor(stage, type, names) {
    Object.assign(this, { stage, type, names, known: new Map(), node: null });
    this.root = el("div", { class: "tip", role: "status", hidden: true });
  }

  show(node, event, { pinned = false } = {}) {
    if (this.node === node && !pinned) return;
    this.node = node;
    clearTimeout(this.timer);
    const box = this.stage.getBoundingClientRect();
    const at = [event.clientX - box.left, event.clientY - box.top];
    this.draw(node, pinned, at);
    if (this.known.has(node)) return;
    this.timer = setTimeout(async () => {
      try {
        const [page, near] = await Promise.all([
          get("node", { type: this.type, id: node }), get("similar", { type: this.type, id: node, k: NEAREST })]);
        this.known.set(node, { page, near: near.answers });
        if (this.node === node) this.draw(node, pinned, at);
      } catch { /* the name is enough */ }
    }, pinned ? 0 : WAIT);
  }

  draw(node, pinned, [x, y]) {
    const name = this.names.at(node);
    const known = this.known.get(node);
    fill(this.root,
      pinned ? nodeLink({ type: this.type, id: node, name }) : el("strong", { dir: "auto" }, shown(name)),
      known ? [
        el("p", {}, plural(known.page.degree, "hyperedge"),
          known.page.labels.map((label) => [" · ", el("span", { dir: "auto" }, label)])),
        known.near.length > 0 && el("p", { class: "near" }, "Nearest"),
        el("ul", {}, known.near.map((a) => el("li", {},
          el("span", { dir: "auto" }, shown(a.node.name)), el("span", { class: "number" }, a.cosine.toFixed(3))))),
      ] : el("p", {}, "…"));
    this.root.dataset.whole = String(Boolean(known));
    this.root.classList.toggle("pinned", pinned);
    this.root.hidden = false;
    const { clientWidth, clientHeight } = this.stage;
    const { offsetWidth, offsetHeight } = this.root;
    const left = x + 14 + offsetWidth + 8 > clientWidth ? x - 14 - offsetWidth : x + 14;
    this.root.style.left = `${Math.max(8, Math.min(left, clientWidth - offsetWidth - 8))}px`;
    this.root.style.top = `${Math.max(8, Math.min(y - 20, clientHeight - offsetHeight - 8))}px`;
  }

  hide() {
    clearTimeout(this.timer);
    this.node = null;
    this.root.hidden = true;
  }
}
