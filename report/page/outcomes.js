// Every program that the search evaluated, those that it rejected, too.

/** Why a program is not in the network (docs/formats/report.md). */
const REASONS = {
  worse: {name: "worse", one: "worse than the program that it came from, and no repair"},
  no_better: {name: "no better", one: "no better than the program that it came from"},
  curtailed: {name: "given up", one: "given up: its other trainings could make it neither neutral nor a repair"},
  not_among_best: {name: "not among the best", one: "neutral, but other programs of the same parent are better or come before it"},
  diverged: {name: "diverged", one: "a training diverged: a metric is not a number"},
  failed: {name: "failed", one: "ran out of time or memory, or its process died"},
  invalid: {name: "invalid", one: "Keras would refuse it"},
};

/** Like a program of the network, but `rejected` with a `reason`. `value`: mean of the trainings that it has. */
const rejected = (report.evaluated?.rejected ?? []).map(one => ({
  ...one, role: "rejected", size: null, difference: null, fault_types: [], parameters: "", alternative: false, isFixed: false,
  changedKeys: Object.keys(one.changes), changeText: changeText(one.changes), value: one.mean ?? mean(one.metrics),
}));

/** In the order of their evaluation, `evaluation` from 1. A program that has no value is in no picture. */
const outcomes = [...[...programs.values()].map(program => ({...program, value: program.mean ?? mean(program.metrics)})), ...rejected]
    .map(program => ({...program, evaluation: program.id + 1}))
    .sort((a, b) => a.evaluation - b.evaluation);

/** A program's value of a hyperparameter. */
function valueOf(program, key) {
  return Object.hasOwn(program.changes, key) ? program.changes[key] : own(report.start, key) ?? null;
}

/** What a program's metric is, in words; of one that was given up the mean of its trainings so far. */
function outcomeText(program) {
  if (program.value === null) return program.reason ? REASONS[program.reason].name : metricOf(program);
  const part = program.role === "rejected" && program.mean === null ? `, mean of ${plural(program.metrics.length, "training")}` : "";
  return `${shown(program.value)}${part}`;
}

/** "#12, rejected: given up; mae 3.2" */
function outcomeLines(program) {
  const what = program.role === "rejected" ? `rejected: ${REASONS[program.reason].name}` : ROLES[program.role].name;
  return [`${program.id === 0 ? "buggy program" : `program ${program.id}`}, evaluation ${program.evaluation}`,
          ...(program.id === 0 ? [] : [what]), `${network.metric} ${outcomeText(program)}`, program.changeText].filter(Boolean);
}

/** A scale for metrics: those of the network, the level and the known fix fit; what is far worse is drawn at the edge. Returns
 * {place, marks, beyond(value)}. */
function metricAxis(from, to, ticks = 5) {
  const kept = [...programs.values()].map(program => program.mean).filter(Number.isFinite);
  const others = outcomes.map(program => program.value).filter(Number.isFinite).sort((a, b) => a - b);
  const inner = [...kept, ...network.fixed_metrics.filter(Number.isFinite), ...(network.ground_truth === null ? [] : [network.ground_truth])];
  const all = inner.length ? inner : others.length ? others : [0, 1];
  let low = Math.min(...all), high = Math.max(...all);
  const room = (high - low || Math.abs(high) || 1) * 0.5;
  // Rejected programs widen it, but not by more than half of what the network takes.
  if (others.length) [low, high] = [Math.max(Math.min(low, others[0]), low - room), Math.min(Math.max(high, others.at(-1)), high + room)];
  if (all.length && Math.min(...all) > 0) low = Math.max(low, Math.min(...all) * 0.5);
  const {place, marks} = axis([low, high], from, to, {ticks});
  const first = marks[0], last = marks.at(-1);
  const [worst, best] = [Math.min(first.value, last.value), Math.max(first.value, last.value)];
  return {
    marks, beyond: value => value < worst || value > best,
    place: value => place(Math.min(best, Math.max(worst, value))),
  };
}

/** Dots of many programs as one path, which stays quick with thousands. */
function dots(points, attributes) {
  return points.length === 0 ? null : svg("path", {...attributes, d: points.map(([x, y]) => `M${x.toFixed(1)} ${y.toFixed(1)}h0`).join("")});
}

/** Marks of programs at places: rejected and neutral ones as dots, repairs and the buggy program in their shapes above them.
 * `entries`: {program, x, y}. */
function outcomeMarks(entries, r = 4) {
  const at = role => entries.filter(({program}) => program.role === role).map(({x, y}) => [x, y]);
  const shaped = role => {
    const those = entries.filter(({program}) => program.role === role);
    return those.length > 1500 ? [dots(those.map(({x, y}) => [x, y]), {class: `many ${role}`})]
        : those.map(({x, y}) => svgShape(role, x, y, r));
  };
  return [dots(at("rejected"), {class: "many rejected"}), dots(at("neutral"), {class: "many neutral-rim"}), dots(at("neutral"), {class: "many neutral"}),
          ...shaped("on_par"), ...shaped("significantly_better"), ...shaped("buggy")];
}

function rejectedMark() {
  return svg("svg", {class: "mark", viewBox: "0 0 14 14", "aria-hidden": "true"}, svg("path", {class: "many rejected", d: "M7 7h0"}));
}

function outcomeLegend() {
  const roles = new Set(outcomes.map(program => program.role));
  return html("ul", {class: "legend"},
              Object.entries(ROLES).filter(([role]) => roles.has(role)).map(([role, {name}]) => html("li", {}, mark(role), name)),
              roles.has("rejected") ? html("li", {}, rejectedMark(), "rejected") : null);
}

/** A new section of the page, before another one. Returns the element for what is in it. */
function addSection(id, title, before = "provenance") {
  const section = html("section", {id, "aria-labelledby": `${id}-heading`}, html("h2", {id: `${id}-heading`}, title));
  byName(before).before(section);
  return section;
}

/** Says what is at the pointer, or at the place that the arrow keys have reached. `entries`: {x, y, lines, program}, sorted by x. */
function pointAt(box, picture, entries, {width, height, label}) {
  if (entries.length === 0) return;
  const tip = html("div", {class: "tip", hidden: true}), ring = svg("circle", {class: "ring", r: 7});
  let place = null;
  picture.append(ring);
  box.append(tip);
  const look = at => {
    place = at;
    ring.style.display = at === null ? "none" : "";
    tip.hidden = at === null;
    if (at === null) return;
    const {x, y, lines} = entries[at];
    ring.setAttribute("cx", x);
    ring.setAttribute("cy", y);
    tip.replaceChildren(...lines.map(line => html("div", {}, line)));
    tip.style.insetInlineStart = x < width / 2 ? `${x / width * 100 + 2}%` : "auto";
    tip.style.insetInlineEnd = x < width / 2 ? "auto" : `${(1 - x / width) * 100 + 2}%`;
    tip.style.top = y < height / 2 ? `${y / height * 100}%` : "12px";
    picture.setAttribute("aria-valuenow", at + 1);
    picture.setAttribute("aria-valuetext", lines.join("; "));
  };
  const nearest = event => {
    const area = picture.getBoundingClientRect(), scale = width / area.width;
    const [x, y] = [(event.clientX - area.left) * scale, (event.clientY - area.top) * scale];
    let best = 0, least = Infinity;
    entries.forEach((entry, i) => {
      const distance = (entry.x - x) ** 2 + (entry.y - y) ** 2;
      if (distance < least) [best, least] = [i, distance];
    });
    return best;
  };
  for (const [name, value] of Object.entries({tabindex: "0", role: "slider", "aria-label": label, "aria-valuemin": 1, "aria-valuemax": entries.length,
                                              "aria-valuenow": 1, "aria-valuetext": entries[0].lines.join("; ")})) picture.setAttribute(name, value);
  picture.addEventListener("pointermove", event => look(nearest(event)));
  picture.addEventListener("pointerleave", () => look(null));
  picture.addEventListener("blur", () => look(null));
  picture.addEventListener("click", event => choose(entries[nearest(event)].program));
  picture.addEventListener("keydown", event => {
    const far = Math.max(1, Math.round(entries.length / 10)), now = place ?? -1;
    const to = {ArrowRight: now + 1, ArrowUp: now + 1, ArrowLeft: now - 1, ArrowDown: now - 1, PageUp: now + far, PageDown: now - far,
                Home: 0, End: entries.length - 1}[event.key];
    if (event.key === "Escape") look(null);
    else if (event.key === "Enter" && place !== null) choose(entries[place].program);
    else if (to !== undefined) look(Math.min(entries.length - 1, Math.max(0, to)));
    else return;
    event.preventDefault();
  });
  look(null);
}

/** Chooses a program of the network; of a rejected one, that which it came from. */
function choose(program) {
  const own = program && (programs.get(program.id) ?? programs.get(program.parent));
  if (own) select(own);
}
