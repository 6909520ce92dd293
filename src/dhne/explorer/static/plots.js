// Plotly, loaded by the first view that draws, and the colours of the page for it. Names from the data
// are never passed to Plotly, which would interpret some as markup: legends, titles and hover cards
// are elements of the page.

let loading;

export function plotly() {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = document.getElementById("plotly").href;
    script.onload = () => resolve(window.Plotly);
    script.onerror = () => { loading = undefined; reject(new Error("Plotly could not be loaded.")); };
    document.head.append(script);
  });
  return loading;
}

export const PALETTE = [
  "#3f7fd0", "#e8743b", "#2fa36b", "#d6498f", "#8a63d2",
  "#c9a227", "#17a2b8", "#b0573e", "#7a9a01", "#e05c5c",
];

export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

export const DEGREES = () => (document.documentElement.dataset.theme === "dark"
  ? ["#31407f", "#2f7fb8", "#35b79b", "#a5d84f", "#fdf06a"]
  : ["#c3d3f5", "#7fa8e8", "#4a7bd0", "#3a4fa8", "#2b1d66"]);

export const CONFIG = { displayModeBar: false, responsive: true, scrollZoom: true, doubleClick: false };

export function layout(extra = {}) {
  return {
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: "system-ui, sans-serif", size: 12, color: colour("text-soft") },
    margin: { l: 0, r: 0, t: 0, b: 0 },
    showlegend: false,
    ...extra,
  };
}
