// Light or dark, set before the first paint: the stored choice, or else the system's preference.
(() => {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const chosen = () => {
    try { return localStorage.getItem("dhne-theme"); } catch { return null; }
  };
  const apply = () => {
    const dark = (chosen() ?? (system.matches ? "dark" : "light")) === "dark";
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    document.dispatchEvent(new CustomEvent("themechange"));
  };
  window.toggleTheme = () => {
    const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    try { localStorage.setItem("dhne-theme", next); } catch { /* it then lasts for this page */ }
    document.documentElement.dataset.theme = next;
    document.dispatchEvent(new CustomEvent("themechange"));
  };
  system.addEventListener("change", apply);
  apply();
})();
