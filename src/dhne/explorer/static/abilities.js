// Places that are kept for questions which not every run can answer. A place stays hidden until the
// run lists the ability (/api/run) and somebody has registered how to fill it:
//
//   fillers.explain = async (place, tuple) => fill(place, …);
//
// "explain": why a tuple has its score, on the tuple page; "probability": the reliability diagram,
// on the training page; "sets": who else belongs to a selection, on the map.

import { once } from "./api.js";
import { el } from "./dom.js";

export const fillers = {};

export function reserve(ability, subject) {
  const place = el("section", { class: "reserved", "data-ability": ability, hidden: true });
  const filler = fillers[ability];
  if (filler) {
    once("run").then(async (run) => {
      if (!run.abilities.includes(ability)) return;
      place.hidden = false;
      await filler(place, subject);
    });
  }
  return place;
}
