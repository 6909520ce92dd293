// Elements are made here and nowhere else. Text becomes text: no string is ever parsed as markup.

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

export function nodeHref(node) {
  return `#/node/${encodeURIComponent(node.type)}/${node.id}`;
}

export function nodeLink(node) {
  return el("a", { href: nodeHref(node), class: "node-link", dir: "auto" }, node.name || "(empty name)");
}

// A number between 0 and 1 as a bar with the number beside it.
export function bar(value) {
  const share = Math.max(0, Math.min(1, value));
  const track = el("span", { class: "bar", "aria-hidden": "true" }, el("span"));
  track.firstChild.style.width = `${(100 * share).toFixed(1)}%`;
  return el("span", { class: "measure" }, track, el("span", { class: "number" }, value.toFixed(4)));
}

export function empty(text, hint) {
  return el("div", { class: "empty" }, el("p", {}, text), hint && el("p", { class: "hint" }, hint));
}

export function table(caption, heads, rows) {
  return el("div", { class: "scroll", role: "region", "aria-label": caption, tabIndex: 0 },
    el("table", {},
      el("caption", { class: "hidden" }, caption),
      el("thead", {}, el("tr", {}, heads.map((h) => el("th", { scope: "col", class: h.class }, h.text ?? h)))),
      el("tbody", {}, rows)));
}
