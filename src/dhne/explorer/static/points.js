// The arrays of the map of one node type: points, names and colours, as sent by the server.

import { getBytes } from "./api.js";

const decoder = new TextDecoder();

export class Names {
  constructor(buffer, n) {
    this.starts = new Uint32Array(buffer, 0, n + 1);
    this.bytes = new Uint8Array(buffer, 4 * (n + 1));
  }

  at(i) {
    return decoder.decode(this.bytes.subarray(this.starts[i], this.starts[i + 1]));
  }

  // The ids of nodes by name; unknown names are left out.
  find(wanted) {
    const left = new Set(wanted);
    const found = [];
    for (let i = 0; i < this.starts.length - 1 && left.size; i++) if (left.delete(this.at(i))) found.push(i);
    return found;
  }
}

export async function loadPoints(type, layout, n) {
  const buffer = await getBytes("map/points", { type, layout });
  return { x: new Float32Array(buffer, 0, n), y: new Float32Array(buffer, 4 * n, n) };
}

export async function loadNames(type, n) {
  return new Names(await getBytes("map/names", { type }), n);
}

export const DEGREE_STEPS = 10;

// Nodes of one colour are drawn together, which is much faster than one colour per point. Large
// groups come first, so that small ones are drawn on top: [{ code, ids }].
function groups(codes) {
  const sizes = [];
  for (const code of codes) sizes[code] = (sizes[code] ?? 0) + 1;
  const found = [];
  sizes.forEach((size, code) => { found[code] = { code, ids: new Uint32Array(size), next: 0 }; });
  codes.forEach((code, i) => { found[code].ids[found[code].next++] = i; });
  return found.filter(Boolean).sort((a, b) => b.ids.length - a.ids.length);
}

// Steps of equal width on a logarithmic scale, from the smallest degree to the largest.
export async function loadDegrees(type, { smallest_degree: smallest, largest_degree: largest }) {
  const values = new Uint32Array(await getBytes("map/colours", { type, by: "degree" }));
  const low = Math.log1p(smallest);
  const scale = DEGREE_STEPS / (Math.log1p(largest) - low || 1);
  const codes = new Uint8Array(values.length);
  for (let i = 0; i < codes.length; i++) codes[i] = Math.min(DEGREE_STEPS - 1, scale * (Math.log1p(values[i]) - low));
  return { values, groups: groups(codes) };
}

// A label's code is its index in the list; `others` means any other label, `others + 1` none.
export async function loadLabels(type, others) {
  const values = new Uint8Array(await getBytes("map/colours", { type, by: "label" }));
  return { values, groups: groups(values.map((code) => (code === 255 ? others + 1 : Math.min(code, others)))) };
}

export function gather(values, ids) {
  const found = new Float32Array(ids.length);
  for (let k = 0; k < ids.length; k++) found[k] = values[ids[k]];
  return found;
}
