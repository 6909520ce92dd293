// Plotly is by far the largest file. Where the first view draws, it is fetched and compiled beside
// everything else; otherwise a view that draws asks for it.
(() => {
  const { plotly } = document.currentScript.dataset;
  let loading;
  window.loadPlotly = () => {
    loading ??= new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = plotly;
      script.onload = () => resolve(window.Plotly);
      script.onerror = () => { loading = undefined; reject(new Error("Plotly could not be loaded.")); };
      document.head.append(script);
    });
    return loading;
  };
  if (!/^#\/(node|tuples|run)/.test(location.hash)) window.loadPlotly().catch(() => { /* asked for again */ });
})();
