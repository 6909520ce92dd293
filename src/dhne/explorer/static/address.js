// The state of the page is kept in its address, with nodes by name, so that links reproduce a view.

const decode = (part) => { try { return decodeURIComponent(part); } catch { return part; } };

// #/node/movie/Heat?a=b → { view: "node", parts: ["movie", "Heat"], parameters }
export function read() {
  const [path, ...search] = location.hash.replace(/^#\/?/, "").split("?");
  const [view, ...parts] = path.split("/").map(decode);
  return { view, parts, parameters: new URLSearchParams(search.join("?")) };
}

// Parameters are pairs; those without a value are left out.
export function address(path, parameters = []) {
  const given = parameters.filter(([, value]) => value !== null && value !== undefined && value !== "");
  const search = new URLSearchParams(given).toString();
  return `#/${path.map(encodeURIComponent).join("/")}${search ? `?${search}` : ""}`;
}

// Changes the address without navigating: going back leaves the view instead of undoing a change.
export function remember(path, parameters) {
  history.replaceState(null, "", address(path, parameters));
}
