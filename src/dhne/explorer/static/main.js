// The shell: which view the address names, the run's name, light and dark, and what went wrong.

import { once } from "./api.js";
import { fill } from "./dom.js";
import { showMap } from "./map.js";
import { showNode } from "./node.js";
import { showRun } from "./run.js";
import { showTraining } from "./training.js";
import { showTuples } from "./tuples.js";

const VIEWS = {
  map: { title: "Map", show: showMap },
  node: { title: "Node", show: showNode },
  tuples: { title: "Tuples", show: showTuples },
  training: { title: "Training", show: showTraining },
  run: { title: "Run", show: showRun },
};

const content = document.getElementById("content");
const alertBox = document.getElementById("alert");
let leave;
let turn = 0;

export function complain(error) {
  alertBox.textContent = error ? error.message : "";
  alertBox.hidden = !error;
}

// #/node/movie/12?a=b → { view: "node", parts: ["movie", "12"], parameters }
function place() {
  const [path, search = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [view, ...parts] = path.split("/").map((part) => {
    try { return decodeURIComponent(part); } catch { return part; }
  });
  return { view: view in VIEWS ? view : "map", parts, parameters: new URLSearchParams(search) };
}

async function go(first) {
  if (location.hash === "#content") return;
  const mine = ++turn;
  const { view, parts, parameters } = place();
  leave?.();
  leave = undefined;
  complain(null);
  for (const link of document.querySelectorAll("[data-view]")) {
    if (link.dataset.view === view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  fill(content);
  content.dataset.view = view;
  content.setAttribute("aria-busy", "true");
  document.title = `${VIEWS[view].title} · dhne explorer`;
  try {
    const left = await VIEWS[view].show(content, parts, parameters);
    if (mine === turn) leave = left;
    else left?.();
  } catch (error) {
    if (mine === turn) complain(error);
  }
  if (mine === turn) {
    content.setAttribute("aria-busy", "false");
    if (!first) content.focus({ preventScroll: true });
    scrollTo(0, 0);
  }
}

function showTheme() {
  const dark = document.documentElement.dataset.theme === "dark";
  const button = document.getElementById("theme");
  button.textContent = dark ? "Light" : "Dark";
  button.setAttribute("aria-label", dark ? "Use light colours" : "Use dark colours");
  button.setAttribute("aria-pressed", String(dark));
}

document.getElementById("theme").addEventListener("click", () => window.toggleTheme());
document.addEventListener("themechange", showTheme);
addEventListener("hashchange", () => go(false));
addEventListener("unhandledrejection", (event) => complain(event.reason));
showTheme();
once("run").then((run) => { document.getElementById("run-name").textContent = run.name; }, complain);
go(true);
