// The shell: navigation, the run's name, search, light and dark, error messages.

import { read } from "./address.js";
import { once } from "./api.js";
import { combobox } from "./combobox.js";
import { showComparison } from "./compare.js";
import { empty, fill, loading, nodeHref } from "./dom.js";
import { showMap } from "./map.js";
import { showNode } from "./node.js";
import { showRun } from "./run.js";
import { showTraining } from "./training.js";
import { showTuples } from "./tuples.js";

const VIEWS = {
  map: { title: "Map", show: showMap },
  node: { title: "Node", show: showNode },
  tuples: { title: "Tuples", show: showTuples },
  compare: { title: "Compare", show: showComparison },
  training: { title: "Training", show: showTraining },
  run: { title: "Run", show: showRun },
};

const content = document.getElementById("content");
const alertBox = document.getElementById("alert");
let leave;
let turn = 0;

function complain(error) {
  alertBox.textContent = error ? error.message : "";
  alertBox.hidden = !error;
}

async function go(first) {
  if (location.hash === "#content") return;
  const mine = ++turn;
  const { view: named, parts, parameters } = read();
  const view = named in VIEWS ? named : "map";
  leave?.();
  leave = undefined;
  complain(null);
  for (const link of document.querySelectorAll("[data-view]")) {
    if (link.dataset.view === view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  fill(content, loading());
  content.dataset.view = view;
  content.setAttribute("aria-busy", "true");
  document.title = `${VIEWS[view].title} · dhne explorer`;
  try {
    const left = await VIEWS[view].show(content, parts, parameters);
    if (mine === turn) leave = left;
    else left?.();
  } catch (error) {
    if (mine === turn) {
      complain(error);
      if (content.querySelector(":scope > .loading")) {
        fill(content, empty("There is nothing to show here.", "Search for a node above, or choose a view."));
      }
    }
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

function addSearch() {
  const search = combobox({
    type: null, label: "Search all nodes", placeholder: "Search all nodes",
    onChoose: (node) => { search.input.value = ""; location.hash = nodeHref(node); },
  });
  document.getElementById("search").append(search.root);
}

document.getElementById("theme").addEventListener("click", () => window.toggleTheme());
document.addEventListener("themechange", showTheme);
addEventListener("hashchange", () => go(false));
addEventListener("unhandledrejection", (event) => complain(event.reason));
showTheme();
addSearch();
once("run").then((run) => { document.getElementById("run-name").textContent = run.name; }, complain);
go(true);
