// A text field that suggests nodes of one type, or of all types (type: null), with arrow keys, Enter
// and Escape.

import { get } from "./api.js";
import { count, el, fill, shown } from "./dom.js";

let numbers = 0;

export function combobox({ type, label, placeholder, value = "", onChoose, onType }) {
  const id = `combobox-${++numbers}`;
  const list = el("ul", { id: `${id}-list`, role: "listbox", class: "suggestions", hidden: true });
  list.setAttribute("aria-label", `${label}: suggestions`);
  const input = el("input", {
    id, type: "text", value, placeholder, autocomplete: "off", spellcheck: false, role: "combobox",
    "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": list.id,
  });
  const status = el("span", { class: "hidden", role: "status" });
  const root = el("div", { class: "field combobox" },
    el("label", { htmlFor: id }, label), input, list, status);
  let nodes = [];
  let active = -1;
  let asking;

  function close() {
    list.hidden = true;
    active = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  }

  function choose(node) {
    input.value = node.name;
    close();
    onChoose?.(node);
  }

  function mark(index) {
    active = nodes.length ? (index + nodes.length) % nodes.length : -1;
    [...list.children].forEach((item, i) => item.setAttribute("aria-selected", String(i === active)));
    if (active < 0) return;
    input.setAttribute("aria-activedescendant", list.children[active].id);
    list.children[active].scrollIntoView({ block: "nearest" });
  }

  async function suggest() {
    asking?.abort();
    asking = new AbortController();
    try {
      const which = type === null ? {} : { type };
      const found = await get("search", { ...which, text: input.value, limit: 12 }, asking.signal);
      if (document.activeElement !== input) return;
      nodes = found.nodes;
      fill(list, nodes.map((node, i) => el("li", {
        id: `${id}-${i}`, role: "option", dir: "auto", "aria-selected": "false",
        onmousedown: (event) => { event.preventDefault(); choose(node); },
      }, shown(node.name), type === null && [" ", el("span", { class: "hint" }, node.type)])));
      if (!nodes.length) fill(list, el("li", { class: "hint" }, `No matching ${type ?? "node"}`));
      else if (found.total > nodes.length) {
        list.append(el("li", { class: "hint" }, `and ${count(found.total - nodes.length)} more: type on`));
      }
      status.textContent = `${count(found.total)} found`;
      list.hidden = false;
      input.setAttribute("aria-expanded", "true");
      active = -1;
    } catch (error) {
      if (error.name !== "AbortError") close();
    }
  }

  // Keys act on the suggestions for the current text, and wait for them if necessary.
  let pending = Promise.resolve();
  let waiting = 0;
  const ask = () => { waiting += 1; pending = suggest().finally(() => { waiting -= 1; }); };
  input.addEventListener("input", () => { onType?.(input.value); ask(); });
  input.addEventListener("focus", () => { input.select(); ask(); });
  input.addEventListener("blur", () => { asking?.abort(); close(); });
  input.addEventListener("keydown", async (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const down = event.key === "ArrowDown";
      if (list.hidden && !waiting) ask();
      await pending;
      mark(down ? active + 1 : Math.max(active, 0) - 1);
    } else if (event.key === "Enter" && (waiting || !list.hidden)) {
      event.preventDefault();
      await pending;
      const typed = nodes.find((node) => node.name === input.value);
      const node = active >= 0 ? nodes[active] : typed ?? (nodes.length === 1 ? nodes[0] : null);
      if (node) { choose(node); return; }
      close();
      input.dispatchEvent(new Event("change"));
    } else if (event.key === "Escape" && !list.hidden) {
      event.preventDefault();
      close();
    }
  });
  return { root, input };
}
