// All elements are created here. Strings become text nodes and are never parsed as markup.

export function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key in element && !key.includes("-") && key !== "list") element[key] = value;
    else element.setAttribute(key, value === true ? "" : value);
  }
  add(element, children);
  return element;
}

export function add(parent, children) {
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    parent.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return parent;
}

export function fill(parent, ...children) {
  parent.replaceChildren();
  return add(parent, children);
}

export const count = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ",");
export const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;

const LONGEST = 1500; // characters of a name in an address; longer names are replaced by the id

// Addresses contain the node's name, so they stay valid when a run is retrained.
export function nodeHref({ type, id, name }) {
  const text = encodeURIComponent(name);
  const at = `#/node/${encodeURIComponent(type)}`;
  return text.length > LONGEST ? `${at}?id=${id}` : `${at}/${text}`;
}

export const shown = (name) => name || "(empty name)";

export function nodeLink(node) {
  return el("a", { href: nodeHref(node), class: "node-link", dir: "auto" }, shown(node.name));
}

export function empty(text, hint) {
  return el("div", { class: "empty" }, el("p", {}, text), hint && el("p", { class: "hint" }, hint));
}

// Shown while loading; it becomes visible only after a moment (style.css).
export function loading(text = "Loading …") {
  return el("p", { class: "loading", role: "status" }, el("span", { class: "spinner", "aria-hidden": "true" }), text);
}

export function problem(error) {
  return el("p", { class: "alert inline", role: "alert" }, error.message);
}

// A table. With `stack`, each row becomes a block of lines on narrow screens, with the heading beside
// each cell, so that no column is lost.
export function table(caption, heads, rows, { stack = false, fixed = false } = {}) {
  const texts = heads.map((h) => h.text ?? h);
  if (stack) {
    for (const row of rows) {
      [...row.children].forEach((cell, i) => {
        cell.dataset.head = texts[i];
        cell.replaceChildren(el("div", {}, [...cell.childNodes]));
      });
    }
  }
  const notes = heads.filter((h) => h.note).map((h) => `${h.text}: ${h.note}`);
  return el("div", { class: "scroll", role: "region", "aria-label": caption, tabIndex: 0 },
    stack && notes.length > 0 && el("p", { class: "hint narrow" }, notes.join("; ")),
    el("table", { class: stack ? "stack" : fixed ? "fixed" : undefined },
      el("caption", { class: "hidden" }, caption),
      el("thead", {}, el("tr", {}, heads.map((h, i) => el("th", { scope: "col", class: h.class },
        texts[i], h.note && el("span", { class: "note" }, h.note))))),
      el("tbody", {}, rows)));
}
