// The arrays of one node type's map: points, names and colours, as the server sends them.

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
}

export async function loadPoints(type, layout, n) {
  const buffer = await getBytes("map/points", { type, layout });
  return { x: new Float32Array(buffer, 0, n), y: new Float32Array(buffer, 4 * n, n) };
}

export async function loadNames(type, n) {
  return new Names(await getBytes("map/names", { type }), n);
}

export async function loadDegrees(type) {
  return Float32Array.from(new Uint32Array(await getBytes("map/colours", { type, by: "degree" })), Math.log1p);
}

// The code of each node's label: its place in the list, `others` for the rest, `others + 1` for none.
export async function loadLabels(type, others) {
  const codes = new Uint8Array(await getBytes("map/colours", { type, by: "label" }));
  return Float32Array.from(codes, (code) => (code === 255 ? others + 1 : Math.min(code, others)));
}
