// What `neutra report` put into the page (docs/formats/report.md), as a graph.

const report = JSON.parse(document.getElementById("report-data").textContent);
const network = report.network;

/** What repairs are compared with. */
const improves = network.repair === "improves_significantly";
const REFERENCE = improves ? "the buggy program" : "the known fix";

const ROLES = {
  buggy: {name: "buggy program", one: "the buggy program"},
  significantly_better: {name: improves ? "repair" : "repair, better", one: `a repair, significantly better than ${REFERENCE}`},
  on_par: {name: "repair, on par", one: "a repair, on par with the known fix"},
  neutral: {name: "neutral", one: "neutral: no worse than its parent, but no repair"},
};
if (!report.significance) {
  ROLES.on_par = {name: "repair", one: "a repair, at least as good as the known fix"};
}

/** Is a repair 1-minimal, or does it only add changes to a smaller one? (docs/methods/search.md, "Small repairs") */
const SIZES = {
  minimal: {name: "1-minimal", one: "no single change can be taken back"},
  unknown: {name: "not known to be 1-minimal", one: "a smaller patch was never evaluated: neutra search --minimise does it"},
  alone: {name: "not 1-minimal", one: "a change can be taken back, but the smaller patch is not listed"},
  folded: {name: "adds changes", one: "only adds changes to a smaller repair"},
};

function sizeOf(node) {
  if (!node.alternative) return null;
  if (node.minimal === true) return "minimal";
  if (node.within !== null) return "folded";
  return node.minimal === null ? "unknown" : "alone";
}

/** Small repairs first, the fewest changes and the best first; programs that are no repair last. */
function bySize(a, b) {
  const rank = program => program.size ? Object.keys(SIZES).indexOf(program.size) : Infinity;
  const [x, y] = [rank(a), rank(b)];
  if (x !== y) return x < y ? -1 : 1;
  return (x === Infinity ? 0 : a.changedKeys.length - b.changedKeys.length) || better(a.mean, b.mean);
}

/** Programs by id. `in` and `out` are links; `via` is the link of a shortest path from the buggy program. */
const programs = new Map();
for (const node of network.nodes) {
  programs.set(node.id, {
    ...node, in: [], out: [], via: null, level: node.depth, isFixed: node.id === report.fixed_node,
    changedKeys: Object.keys(node.changes), changeText: changeText(node.changes), size: sizeOf(node),
  });
}
for (const link of network.links) {
  const source = programs.get(link.source), target = programs.get(link.target);
  if (!source || !target) continue;
  const edge = {...link, source, target};
  source.out.push(edge);
  target.in.push(edge);
}
const buggy = programs.get(0) ?? null;
if (buggy) {
  buggy.level = 0;
  const reached = new Set([buggy]);
  for (const program of reached) {  // grows on the way
    for (const edge of program.out) {
      if (reached.has(edge.target)) continue;
      edge.target.via = edge;
      edge.target.level = program.level + 1;
      reached.add(edge.target);
    }
  }
}

/** The repair with the best mean; of equal ones a small one, then the earlier. null: there is none. */
const bestRepair = [...programs.values()].filter(program => program.alternative)
    .sort((a, b) => better(a.mean, b.mean) || bySize(a, b) || a.id - b.id)[0] ?? null;

/** The links from the buggy program to this one, along a shortest path. */
function pathTo(program) {
  const path = [];
  for (let at = program; at.via; at = at.via.source) path.unshift(at.via);
  return path;
}

function changeText(changes) {
  return Object.entries(changes)
      .map(([key, value]) => `${key} ${own(report.start, key) ?? "absent"} \u2192 ${value ?? "absent"}`).join(", ");
}

/** "lr 0.001 -> 0.1" of a link. */
function linkText(link) {
  return link.key ? `${link.key} ${link.before} \u2192 ${link.after}` : "";
}

/** The texts of a link, the long one first: with both values, with the new one, with none. */
function linkTexts(link) {
  return link.key ? [linkText(link), `${link.key} \u2192 ${link.after}`, link.key] : [""];
}

/** Of the network's metric. */
const DIRECTION = network.goal === "maximize" ? "higher is better" : "lower is better";

/** Does a larger value come first? NaN comes last. */
function better(a, b) {
  if (a === null || b === null) return (a === null) - (b === null);
  return network.goal === "maximize" ? b - a : a - b;
}

/** A number with so many significant digits; null is what JSON has for NaN and infinity. */
function shown(value, digits = 4) {
  if (value === null || value === undefined) return "-";
  return String(Number(value.toPrecision(digits)));
}

/** null where one has no number. */
function mean(values) {
  return values.length && !values.includes(null) ? values.reduce((sum, value) => sum + value, 0) / values.length : null;
}

/** The mean of trainings, or how many diverged: those without a number. */
function shownMean(values) {
  const diverged = values.filter(value => value === null).length;
  return diverged ? `${diverged} of ${values.length} diverged` : shown(mean(values));
}

/** The mean of a program; where it has none, what became of its trainings. */
function metricOf(program) {
  if (program.mean !== null) return shown(program.mean);
  return ["ok", "diverged"].includes(program.status) ? shownMean(program.metrics) : program.status;
}

/** p, which far out in a normal tail is no evidence: docs/methods/statistics.md. */
function shownP(p, digits = 3) {
  return p !== null && p !== undefined && p < 1e-16 ? "< 1e-16" : shown(p, digits);
}

/** An effect; JSON has null for one without spread. */
function shownEffect(d) {
  return d === null ? "infinite" : shown(d, 3);
}

/** The value of a key of the page's own objects; keys may be named as anything. */
function own(object, key) {
  return object && Object.hasOwn(object, key) ? object[key] : undefined;
}

function plural(count, one, many = one + "s") {
  return `${count} ${count === 1 ? one : many}`;
}

/** Which programs match, and those on the way to them. */
class Filter {
  constructor() {
    this.clear();
  }
  clear() {
    this.text = "";
    this.roles = new Set();  // none chosen: all
    this.sizes = new Set();
    this.types = new Set();
    this.keys = new Set();
  }
  get active() {
    return this.text !== "" || this.roles.size + this.sizes.size + this.types.size + this.keys.size > 0;
  }
  matches(program) {
    if (this.roles.size && !this.roles.has(program.role)) return false;
    if (this.sizes.size && !this.sizes.has(program.size)) return false;
    for (const type of this.types) if (!program.fault_types.includes(type)) return false;
    for (const key of this.keys) if (!program.changedKeys.includes(key)) return false;
    if (!this.text) return true;
    const searched = program.searched ??=
        `${program.id} ${program.changeText} ${program.difference ?? ""} ${program.parameters}`.toLowerCase();
    return this.text.toLowerCase().split(/\s+/).filter(Boolean).every(word =>
      /^\d+$/.test(word) ? String(program.id) === word || searched.includes("=" + word) : searched.includes(word));
  }
  apply() {
    const matching = new Set(), drawn = new Set();
    for (const program of programs.values()) {
      if (!this.matches(program)) continue;
      matching.add(program);
      for (let at = program; at && !drawn.has(at); at = at.via?.source) drawn.add(at);
    }
    if (buggy) drawn.add(buggy);
    return {matching, drawn};
  }
}
