// Puts the parts together: what is selected and what is filtered holds for all of them.

const filter = new Filter();
let selected = null;

// --- head ---

function renderHead() {
  const fault = report.fault;
  document.title = `${fault.id}: neutra report`;
  byName("title").textContent = fault.title ? `${fault.id}: ${fault.title}` : fault.id;
  const source = /^https?:\/\//.test(fault.source ?? "") ? html("a", {href: fault.source, rel: "noreferrer", target: "_blank"}, fault.source) : fault.source;
  byName("subtitle").append(...["Neutrality network of a faulty program", report.file, fault.origin && `${fault.origin} fault`, source]
      .filter(Boolean).flatMap((part, i) => i ? [" \u00b7 ", part] : [part]));
  const notices = [];
  if (!report.finished) notices.push("The search isn't finished: this is its network so far.");
  if (!buggy) notices.push("The network is empty: no program has been evaluated yet.");
  if (buggy && !report.known) {
    notices.push("The fault isn't known here, so fault types are missing. neutra report --fault FAULT says which one it is.");
  }
  if (buggy && !report.significance) notices.push("The file doesn't record which repairs are significantly better than the known fix.");
  notices.push(...report.warnings);
  byName("notices").append(...notices.map(text => html("p", {class: "notice"}, text)));
}

function renderSummary() {
  if (!buggy) return;
  const repairs = [...programs.values()].filter(program => program.alternative);
  const significant = repairs.filter(program => program.role === "significantly_better").length;
  const cards = [
    [`Buggy, mean ${network.metric}`, metricOf(buggy), DIRECTION],
    network.fixed_metrics.length && ["Known fix", shownMean(network.fixed_metrics), report.known],
    network.ground_truth !== null && ["Level to reach", shown(network.ground_truth)],
    bestRepair && ["Best repair", shown(bestRepair.mean), html("a", {href: `#program-${bestRepair.id}`, onclick: event => {
      event.preventDefault();
      select(bestRepair);
    }}, `program ${bestRepair.id}`)],
    repairs.length && ["1-minimal", String(network.minimal.minimal),
                       network.minimal.unknown ? `not known of ${network.minimal.unknown}` : "no single change can be taken back"],
    ["Repairs", String(repairs.length), improves ? "significantly better than the buggy program"
      : report.significance && repairs.length ? `${significant} significantly better` : ""],
    ["Programs", String(programs.size), report.generated === null ? "" : `of ${report.generated} generated`],
    network.complexity !== null && ["Complexity", shown(network.complexity, 3),
                                    `of ${Object.keys(report.start).length} hyperparameters differ from the fix`],
    network.improvement !== null && ["Improvement", shown(network.improvement), "over the level, mean of the repairs"],
  ].filter(Boolean);
  byName("summary").append(...cards.map(([name, value, note]) =>
    html("div", {}, html("dt", {}, name), html("dd", {}, value), note ? html("small", {}, note) : null)));
}

// --- one program ---

function heading(program) {
  return program === buggy ? "Buggy program" : `Program ${program.id}`;
}

function tooltipText(program) {
  const lines = [`${heading(program)}, ${ROLES[program.role].name}${program.isFixed ? ", the known fix" : ""}`,
                 `${network.metric} ${metricOf(program)}`];
  if (program.changeText) lines.push(program.changeText);
  if (program.difference) lines.push(program.difference);
  return lines.join("\n");
}

function keyTitle(key) {
  const about = own(report.keys, key);
  return about ? [about.kind.replaceAll("_", " "), about.where].filter(Boolean).join(", ") : null;
}

/** Lines of the script where these hyperparameters are written: "train.py:12, train.py:20". */
function linesOf(keys) {
  const places = keys.flatMap(key => own(report.keys, key)?.places ?? []);
  places.sort((a, b) => a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line);
  return [...new Set(places.map(({file, line}) => `${file}:${line}`))].join(", ");
}

function differenceTable(program) {
  const fixed = report.fixed;
  const keys = new Set([...Object.keys(report.start), ...program.changedKeys, ...Object.keys(fixed ?? {})]);
  const differs = (changes, key) => own(changes, key) !== undefined;
  const value = (changes, key) => (differs(changes, key) ? changes[key] : own(report.start, key)) ?? "absent";
  const rows = all => [...keys].filter(key => all || differs(program.changes, key) || differs(fixed, key)).map(key =>
    html("tr", {},
         html("th", {scope: "row"}, html("code", {}, key), keyTitle(key) ? html("div", {class: "help"}, keyTitle(key)) : null,
              linesOf([key]) ? html("div", {class: "help lines"}, linesOf([key])) : null),
         html("td", {}, breakable(value(null, key))),
         html("td", {class: differs(program.changes, key) ? "changed" : null}, breakable(value(program.changes, key))),
         fixed ? html("td", {}, breakable(value(fixed, key))) : null));
  const body = html("tbody", {}, rows(false));
  const head = html("tr", {}, ["", "buggy", program === buggy ? "this" : `program ${program.id}`, fixed ? "known fix" : null]
      .filter(text => text !== null).map(text => html("th", {scope: "col"}, text)));
  const more = html("button", {type: "button", "aria-expanded": "false", onclick: () => {
    const open = more.getAttribute("aria-expanded") !== "true";
    more.setAttribute("aria-expanded", String(open));
    more.textContent = open ? "Only what differs" : "All hyperparameters";
    body.replaceChildren(...rows(open));
  }}, "All hyperparameters");
  const table = html("table", {class: "differences", style: `--values: ${fixed ? 3 : 2}`, "aria-label": "Difference in hyperparameters"}, html("thead", {}, head), body);
  return [table, more];
}

function pathList(program) {
  const path = pathTo(program);
  const step = (to, text) => html("li", {}, html("button", {
    type: "button", "aria-current": to === program ? "step" : null, onclick: () => select(to),
  }, html("span", {}, mark(to.role), text), html("small", {}, metricOf(to))));
  return html("ol", {class: "path"}, step(buggy, "buggy program"),
              path.map(edge => step(edge.target, `${edge.target.id}: ${linkText(edge)}`)));
}

/** What p and d mean, and by which rule a program is significantly better (docs/methods/statistics.md). */
function significanceText(program) {
  const meaning = "p: how likely so large a difference would be by chance. d (Cohen): the difference in standard deviations, " +
      "more than 0 where this program has the larger mean. ";
  const reference = improves ? buggy.metrics : network.fixed_metrics;
  if (program.significant && program.p >= 0.05) {
    return `${meaning}Significantly better whatever p, which so few trainings can't make small: all trainings of ${REFERENCE} ` +
        "diverged, none of this program.";
  }
  return `${meaning}Significantly better: p < 0.05, and d 0.5 or more the better way.` +
      ([...reference, ...program.metrics].includes(null) ? " A training that diverged is worse than every one that did not." : "");
}

// What a program's status means (docs/glossary.md).
const STATUSES = {
  curtailed: "curtailed: its other trainings could make it neither neutral nor a repair",
  diverged: "diverged: not all of its weights or metrics are finite",
  failed: "failed: its process died",
  invalid: "invalid: Keras would refuse it",
  out_of_memory: "failed: it ran out of memory",
  pending: "not evaluated yet",
  timeout: "failed: it ran out of time",
};

function renderDetail(program) {
  const panel = byName("detail");
  panel.scrollTop = 0;
  if (!program) return panel.replaceChildren(html("p", {class: "help"}, "Choose a program in the graph or in the table."));
  const facts = [[network.metric, program.mean === null ? metricOf(program) : `${shown(program.mean)} (mean of ${program.metrics.length}, ${DIRECTION})`]];
  if (program.status !== "ok") facts.push(["status", STATUSES[program.status] ?? program.status]);
  if (program.p !== null && program.p !== undefined && report.significance) {
    facts.push([`against ${REFERENCE}`, html("span", {}, `${shownP(program.p).startsWith("<") ? "p" : "p ="} ${shownP(program.p)}, d = ${shownEffect(program.d)}`,
      html("small", {class: "help"}, ` ${significanceText(program)}`))]);
  }
  if (program.size) {
    facts.push(["1-minimal", html("span", {}, sizeText(program), html("small", {class: "help"}, ` ${SIZES[program.size].one}.`))]);
  }
  const types = program.fault_types.map(type => html("li", {}, html("code", {}, type), ` ${report.fault_types[type] ?? ""}`));
  const chart = html("div");
  panel.replaceChildren(
      html("h3", {}, mark(program.role), heading(program)),
      html("p", {}, ROLES[program.role].one, program === bestRepair && bestRepair.mean !== null ? ", the best by its mean" : "",
           program.isFixed ? "; equal to the known fix" : "", "."),
      html("dl", {class: "facts"}, facts.flatMap(([name, value]) => [html("dt", {}, name), html("dd", {}, value)])),
      ...(program === buggy ? [] : [
        html("h3", {}, "Difference to the buggy program"),
        program.difference ? html("p", {}, html("code", {}, program.difference)) : "",
        types.length ? html("ul", {class: "help"}, types) : "",
      ]),
      ...differenceTable(program),
      ...(program === buggy || !program.via ? [] : [html("h3", {}, "Path from the buggy program"), pathList(program)]),
      html("h3", {}, "Metrics"), chart,
      html("details", {}, html("summary", {}, "Parameter string"), html("code", {}, program.parameters)));
  drawMetrics(chart, program);
}

function stripRow(program, name = heading(program)) {
  return {name, values: program.metrics, role: program.role};
}

function fixedRow() {
  return network.fixed_metrics.length ? [{name: "known fix", values: network.fixed_metrics, role: "fixed"}] : [];
}

function drawMetrics(element, program) {
  element.classList.add("metrics");
  element.replaceChildren();
  const parent = program.via?.source;
  const rows = [stripRow(buggy, "buggy")];
  if (parent && parent !== buggy) rows.push(stripRow(parent, `parent, ${parent.id}`));
  if (program !== buggy) rows.push(stripRow(program, `program ${program.id}`));
  stripPlot(element, [...rows, ...fixedRow()], network.ground_truth);
}

/** `enter`: go to its description. */
function select(program, enter = false) {
  show(program);
  byName("announcement").textContent = program ? tooltipText(program).replaceAll("\n", "; ") : "";
  if (program) history.replaceState(null, "", `#program-${program.id}`);
  if (enter) byName("detail").focus();
}

function show(program) {
  selected = program;
  graph.select(program);
  table.mark(program);
  renderDetail(program);
  curves?.show(program);
  analysis.show(program);
}

// --- filter ---

function chips(fieldset, entries, chosen) {
  for (const {value, text, title, count, icon} of entries) {
    const chip = html("button", {type: "button", "aria-pressed": String(chosen().has(value)), title, onclick: () => {
      if (!chosen().delete(value)) chosen().add(value);
      chip.setAttribute("aria-pressed", String(chosen().has(value)));
      applyFilter();
    }}, icon ?? null, text, html("small", {}, ` ${count}`));
    fieldset.append(chip);
  }
}

function countBy(listOf) {
  const counts = new Map();
  for (const program of programs.values()) for (const value of listOf(program)) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort(([a], [b]) => a < b ? -1 : 1);
}

function renderFilters() {
  const roles = new Map(countBy(program => [program.role]));
  chips(byName("role-filter"), Object.entries(ROLES).filter(([role]) => roles.has(role)).map(([role, {name, one}]) =>
    ({value: role, text: name, title: one, count: roles.get(role), icon: mark(role)})), () => filter.roles);
  const sizes = new Map(countBy(program => program.size ? [program.size] : []));
  chips(byName("size-filter"), Object.entries(SIZES).filter(([size]) => sizes.has(size)).map(([size, {name, one}]) =>
    ({value: size, text: name, title: one, count: sizes.get(size)})), () => filter.sizes);
  chips(byName("type-filter"), countBy(program => program.fault_types).map(([type, count]) =>
    ({value: type, text: type, title: report.fault_types[type], count})), () => filter.types);
  chips(byName("key-filter"), countBy(program => program.changedKeys).map(([key, count]) =>
    ({value: key, text: key, title: keyTitle(key), count})), () => filter.keys);
  byName("filters").addEventListener("submit", event => event.preventDefault());
  byName("search").addEventListener("input", event => {
    filter.text = event.target.value.trim();
    applyFilter();
  });
  byName("reset").addEventListener("click", () => {
    filter.clear();
    byName("search").value = "";
    for (const chip of byName("filters").querySelectorAll(".chips button")) chip.setAttribute("aria-pressed", "false");
    applyFilter();
  });
}

function applyFilter() {
  const found = filter.apply();
  byName("count").textContent = filter.active
      ? `${found.matching.size} of ${plural(programs.size, "program")}${found.matching.size ? ", with those on the way to them" : ""}`
      : plural(programs.size, "program");
  byName("reset").hidden = !filter.active;
  graph.show(found);
  graph.select(selected);
  renderTable(found.matching);
  analysis.filtered();
}

// --- table ---

/** "yes", "adds to 12", "yes, + 3 with more" (changes) */
function sizeText(program) {
  if (!program.size) return "";
  if (program.size === "folded") return `adds to ${program.within}`;
  const more = foldedUnder.get(program.id);
  return {minimal: "yes", unknown: "?", alone: "no"}[program.size] + (more ? `, + ${more} with more` : "");
}

/** How many repairs only add changes to the one of this id. */
const foldedUnder = new Map();
for (const program of programs.values()) {
  if (program.size === "folded") foldedUnder.set(program.within, (foldedUnder.get(program.within) ?? 0) + 1);
}

/** Repairs that were found after the search, by taking changes back. */
function renderSubpatches() {
  const found = network.subpatches.filter(one => one.alternative);
  if (!found.length) return;
  byName("subpatches").append(
      `Found by taking changes back (neutra search --minimise), not in the network: `,
      html("ul", {}, found.map(one => html("li", {}, html("code", {}, one.id),
          ` ${changeText(one.changes)}: ${shown(one.mean)}, ${SIZES[sizeOf(one)].name}` +
          (foldedUnder.has(one.id) ? `, + ${foldedUnder.get(one.id)} with more changes` : "")))));
}

const columns = [
  {name: "Id", number: true, of: program => program.id, show: program => String(program.id)},
  {name: "Role", short: true, of: program => Object.keys(ROLES).indexOf(program.role), show: program => [mark(program.role), ROLES[program.role].name]},
  {name: network.metric, number: true, title: `mean of the trainings, the best first: ${DIRECTION}`,
   order: (a, b) => better(a.mean, b.mean), show: metricOf},
  {name: "Changes", number: true, title: "hyperparameters that differ from the buggy program",
   of: program => program.changedKeys.length, show: program => String(program.changedKeys.length)},
  {name: "1-minimal", short: true, first: true, order: bySize,
   title: "can no single change be taken back? Those that can't come first, the fewest changes and the best first", show: sizeText},
  {name: "Change from the buggy program", of: program => program.changeText, show: program => program.changeText},
  {name: "Lines", title: "where the script writes what is changed", of: program => linesOf(program.changedKeys),
   show: program => linesOf(program.changedKeys), hidden: !report.script},
  {name: "Fault types", of: program => program.difference ?? "", show: program => program.difference ?? "", hidden: !report.known},
  {name: "p", number: true, title: `how likely so large a difference to ${REFERENCE} would be by chance; less than 0.05 is significant, and any p where all trainings of ${REFERENCE} diverged and none of the program`, of: program => program.p ?? null,
   show: program => program.alternative ? shownP(program.p, 2) : "", hidden: !report.significance},
  {name: "d", number: true, title: `Cohen's d: the difference to ${REFERENCE} in standard deviations; 0.5 is a medium effect`, of: program => program.d ?? null,
   show: program => program.alternative ? shownEffect(program.d) : "", hidden: !report.significance},
].filter(column => !column.hidden);

function renderTable(matching) {
  const all = document.querySelector('input[name="rows"]:checked').value === "all";
  const rows = [...matching].filter(program => all || program.alternative);
  table.show(rows);
  drawBest(rows);
}

/** Metrics of the best repairs that the filter lets through. */
function drawBest(rows) {
  const figure = byName("best-repairs"), most = 20;
  const repairs = rows.filter(program => program.alternative).sort((a, b) => better(a.mean, b.mean) || a.id - b.id);
  figure.replaceChildren();
  if (!repairs.length || !buggy) return;
  figure.append(html("figcaption", {}, repairs.length > most ? `The ${most} best of ${plural(repairs.length, "repair")}` : "The repairs, best first"));
  stripPlot(figure, [...fixedRow(), ...repairs.slice(0, most).map(program => stripRow(program, `${program.id}: ${program.changeText}`))],
            network.ground_truth);
}

// --- scores ---

/** What only some tools have is a column where one of these has it. */
const SCORE_EXTRAS = [
  {name: "Lines", of: one => one.lines ?? null, show: value => value || "-"},
  {name: "Rank before", of: one => one.ranks?.before.first ?? null, show: value => value || "-"},
  {name: "Rank after", of: one => one.ranks?.after.first ?? null, show: value => value || "-"},
  {name: "Seconds", of: one => one.seconds, show: value => shown(value, 3)},
  {name: "Stability", of: one => one.stability, show: value => value.toFixed(2)},
];

function scoreRow(one, extras, beta) {
  const names = ["R", "P", `F${beta}`];
  const cell = (name, ...content) => html("td", {class: "number", "data-label": name}, ...content);
  const after = [one.after.recall, one.after.precision, one.after.f], before = [one.before.recall, one.before.precision, one.before.f];
  return html("tr", {}, html("th", {scope: "row"}, one.tool), html("td", {class: "long", "data-label": "Answer"}, html("code", {}, one.answer)),
              before.map((value, i) => cell(`${names[i]}, fix alone`, value.toFixed(2))),
              after.map((value, i) => cell(`${names[i]}, all repairs`, value > before[i]
                  ? html("span", {class: "up"}, `${value.toFixed(2)} \u25b2`) : value.toFixed(2))),
              cell("Attained by", one.after.recall > 0 ? `${one.attaining} of ${one.truths}` : "-"),
              extras.map(({name, of, show}) => cell(name, of(one) === null ? "" : show(of(one)))));
}

function renderScores() {
  const {scores, study} = report;
  if (!scores && !study) return;
  byName("scores").hidden = false;
  const beta = scores ? shown(scores.beta) : "3";
  byName("scores-help").textContent = scores
      ? `Answers on ${report.fault.id}${scores.file ? ` in ${scores.file}` : ""}. Before: against the known fix (${report.known}). After: the ` +
        "largest recall over the known fix and all repairs, with the means of precision and F3 over those that attain it " +
        `(matched by ${scores.match}, ${scores.variant}).`
      : "";
  if (scores) {
    const extras = SCORE_EXTRAS.filter(({of}) => scores.tools.some(one => of(one) !== null));
    const heads = ["Tool", "Answer", "R", "P", `F${beta}`, "R", "P", `F${beta}`, "Attained by", ...extras.map(({name}) => name)];
    const head = [
      html("tr", {}, html("td", {colspan: 2}), html("th", {colspan: 3, scope: "colgroup", class: "number"}, "known fix alone"),
           html("th", {colspan: 3, scope: "colgroup", class: "number"}, "all repairs"), html("td", {colspan: heads.length - 8})),
      html("tr", {}, heads.map((name, i) => html("th", {scope: "col", class: i > 1 && "number"}, name))),
    ];
    byName("score-table").append(html("table", {class: "stacks", "aria-label": "Scores of fault-localisation tools"},
        html("thead", {}, head), html("tbody", {}, scores.tools.map(one => scoreRow(one, extras, beta)))));
    if (scores.missing.length) byName("score-table").after(html("p", {class: "help"}, `No answer of ${scores.missing.join(", ")}.`));
  }
  drawScores();
}

function drawScores() {
  const {scores, study} = report;
  const figure = byName("score-figure"), time = byName("time-figure");
  for (const element of [figure, time]) element.replaceChildren();
  const own = scores ? scores.tools.filter(one => one.seconds !== null)
      .map(one => ({tool: one.tool, seconds: one.seconds, before: one.before.f, after: one.after.f})) : [];
  const points = study ? study.points : own;
  // Both captions first: what is empty takes no room, and pictures are drawn for the room that they have.
  if (scores) figure.append(html("figcaption", {}, "Recall and F3: hollow against the known fix, filled against all repairs"));
  if (points.length) {
    time.append(html("figcaption", {}, study
        ? `Time against F3, means over ${plural(study.faults, "fault")} of the study ${study.name}: hollow before, filled after`
        : `Time against F3 on ${report.fault.id}: hollow before, filled after`));
  }
  if (scores) {
    dumbbells(figure, scores.tools.map(one => ({name: one.tool, before: one.before.recall, after: one.after.recall})), "recall");
    dumbbells(figure, scores.tools.map(one => ({name: one.tool, before: one.before.f, after: one.after.f})), "F3");
  }
  if (points.length) timeChart(time, points);
}

// --- provenance ---

function renderProvenance() {
  const text = value => value !== null && typeof value === "object"
      ? Object.entries(value).filter(([, inner]) => inner !== null)
          .map(([name, inner]) => `${name.replaceAll("_", " ")} ${text(inner)}`).join(", ")
      : String(value);
  const ends = {queue_empty: "all searched", evaluation_budget: "evaluation budget used up", time_budget: "time budget used up"};
  for (const [part, facts] of Object.entries(report.provenance)) {
    byName("provenance").append(html("h3", {}, part === "search" ? "The search" : "This report"),
        html("dl", {class: "facts"}, Object.entries(facts).filter(([, value]) => value !== null && value !== "").map(([name, value]) =>
          [html("dt", {}, name.replaceAll("_", " ")), html("dd", {}, html("code", {}, name === "end" ? ends[value] ?? value : text(value)))])));
  }
}

// --- the whole ---

function chooseTheme(theme) {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  graph.readColours();
  analysis.redraw();
}

/** "#theme-dark": a page around this one has the switch. */
function followTheme() {
  const theme = (location.hash.match(/^#theme-(auto|light|dark)$/) ?? [])[1];
  if (!theme) return;
  byName("theme").hidden = true;
  document.querySelector(`input[name="theme"][value="${theme}"]`).checked = true;
  chooseTheme(theme);
}

function renderLegend() {
  const roles = new Set([...programs.values()].map(program => program.role));
  byName("legend").append(...Object.entries(ROLES).filter(([role]) => roles.has(role))
      .map(([role, {name}]) => html("li", {}, mark(role), name)));
  if (report.fixed_node !== null) byName("legend").append(html("li", {}, "dashed ring: the known fix"));
  if (programs.size > 1) byName("legend").append(html("li", {}, "orange: path to the selected program"));
}

const graph = new Graph(byName("graph"), byName("tooltip"), select, tooltipText);
const table = new ProgramTable(byName("program-table"), columns, select);
const curves = report.curves && buggy ? new Curves() : null;
const analysis = new Analysis();

renderHead();
renderProvenance();
if (buggy) {
  byName("graph").setAttribute("aria-label", `Graph of ${plural(programs.size, "program")} and ${plural(network.links.length, "change")}`);
  renderSummary();
  renderFilters();
  renderLegend();
  renderSubpatches();
  if (![...programs.values()].some(program => program.alternative)) document.querySelector('input[name="rows"][value="all"]').checked = true;
  applyFilter();
  const named = programs.get(Number((location.hash.match(/^#program-(\d+)$/) ?? [])[1] ?? NaN));
  // A page that is opened shows what one looks for, without a word and with the address that it has.
  show(named ?? bestRepair ?? buggy);
  renderScores();
  for (const radio of document.querySelectorAll('input[name="rows"]')) radio.addEventListener("change", () => renderTable(filter.apply().matching));
  for (const button of document.querySelectorAll("[data-zoom]")) {
    button.addEventListener("click", () => {
      if (button.dataset.zoom === "fit") graph.press("0");
      else graph.zoom(button.dataset.zoom === "in" ? 1.4 : 1 / 1.4);
    });
  }
} else {
  for (const id of ["network", "programs"]) byName(id).hidden = true;
}
for (const radio of document.querySelectorAll('input[name="theme"]')) radio.addEventListener("change", () => chooseTheme(radio.value));
window.addEventListener("hashchange", followTheme);
followTheme();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  graph.readColours();
  analysis.redraw();
});
let resized = null;
let drawnWidth = window.innerWidth;
window.addEventListener("resize", () => {
  if (window.innerWidth === drawnWidth) return;
  clearTimeout(resized);
  resized = setTimeout(() => {
    drawnWidth = window.innerWidth;
    if (!buggy) return;
    drawScores();
    analysis.redraw();
    curves?.draw();
    renderTable(filter.apply().matching);
    const chart = document.querySelector("#detail .metrics");
    if (chart && selected) drawMetrics(chart, selected);
  }, 150);
});
window.addEventListener("beforeprint", () => {
  chooseTheme("light");
  analysis.redraw(true);
  table.extend(programs.size);
});
window.addEventListener("afterprint", () => chooseTheme(document.querySelector('input[name="theme"]:checked').value));
