// The layout of a map. The choice is kept: while UMAP is being computed, the map shows its progress,
// and then the result.

import { get, post } from "./api.js";
import { el, fill } from "./dom.js";

const NAMES = { pca: "PCA", umap: "UMAP" };
const INTERVAL = 700; // milliseconds between two requests for progress

export class LayoutChoice {
  // onReady(layout) is called when the chosen layout can be shown.
  constructor(type, layouts, onReady) {
    Object.assign(this, { type, layouts, onReady, chosen: "pca" });
    this.select = el("select", { id: "layout", onchange: (event) => this.choose(event.target.value) });
    this.field = el("div", { class: "field" }, el("label", { htmlFor: "layout" }, "Layout"), this.select);
    this.status = el("div", { class: "progress", role: "status", hidden: true });
    this.show();
  }

  get state() {
    return this.layouts.find((l) => l.layout === this.chosen);
  }

  async choose(name) {
    if (!this.layouts.some((l) => l.layout === name && l.state !== "not available")) return;
    this.chosen = name;
    clearTimeout(this.timer);
    try {
      if (["not computed", "failed"].includes(this.state.state)) {
        this.note({ stage: "starting" });
        Object.assign(this.state, await post("map/umap", undefined, { type: this.type }));
      }
      await this.follow();
    } catch (error) {
      this.fail(error.message);
    }
  }

  async follow() {
    const { chosen } = this;
    this.show();
    if (this.state.state === "ready") await this.onReady(chosen);
    else if (this.state.state === "computing") {
      this.timer = setTimeout(() => this.look().catch((error) => this.fail(error.message)), INTERVAL);
    }
  }

  async look() {
    const { layouts } = await get("map", { type: this.type });
    if (this.left) return;
    this.layouts = layouts;
    await this.follow();
  }

  leave() {
    this.left = true;
    clearTimeout(this.timer);
  }

  show() {
    fill(this.select, this.layouts.map((l) => el("option", {
      value: l.layout, selected: l.layout === this.chosen, disabled: l.state === "not available",
    }, NAMES[l.layout] + (l.state === "not available" ? ` (${l.reason})` : ""))));
    const { state, stage, progress } = this.state;
    if (state === "computing") this.note({ stage, progress });
    else if (state === "failed") this.fail("UMAP could not be computed.");
    else this.status.hidden = true;
  }

  note({ stage, progress = null }) {
    const share = progress === null ? {} : { value: progress };
    const percent = progress === null ? "" : ` ${Math.round(100 * progress)}%`;
    fill(this.status, el("p", {}, `UMAP: ${stage} …${percent}`),
      el("progress", { max: 1, ...share, "aria-label": "UMAP" }));
    this.status.hidden = false;
  }

  fail(message) {
    fill(this.status, el("p", {}, message),
      el("button", { type: "button", onclick: () => this.choose(this.chosen) }, "Try again"));
    this.status.hidden = false;
  }
}
