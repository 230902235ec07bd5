// The entries of a benchmark.

const BUG_TYPES = {A: "API", I: "tensor and input", M: "model", T: "training"};

const FILTERS = [
  {id: "fault-type", label: "Fault type", of: entry => entry.fault_types, title: (value, benchmark) => benchmark.fault_types[value]},
  {id: "category", label: "Category", of: entry => [entry.category]},
  {id: "bug-type", label: "Bug type", of: entry => [entry.bug_type], title: value => BUG_TYPES[value]},
  {id: "operator", label: "Operator", of: entry => [...new Set(entry.operators)]},
  {id: "subject", label: "Subject", of: entry => [entry.subject], title: (value, benchmark) => benchmark.subjects[value]},
  {id: "tool", label: "Tool support", of: entry => entry.tools.length ? entry.tools : ["none"]},
];

function words(text) {
  return text.replaceAll("_", " ");
}

function entryColumns(name, more = []) {
  return [
    {name: "id", of: entry => entry.id, number: true, show: entry => html("a", {href: address("entry", {name, id: entry.id})}, String(entry.id))},
    ...more,
    {name: "subject", of: entry => entry.subject},
    {name: "fault", of: entry => entry.mutation, class: "words",
     show: entry => [breakable(entry.mutation), entry.catalogue || entry.deprecated ? html("div", {class: "help"}, [entry.catalogue, entry.deprecated ? "deprecated" : ""].filter(Boolean).join(", ")) : null]},
    {name: "place", of: entry => entry.place},
    {name: "types", of: entry => entry.faults},
    {name: "category", of: entry => entry.category, show: entry => words(entry.category) || "-"},
    {name: "bug", of: entry => entry.bug_type, show: entry => entry.bug_type ? html("span", {title: BUG_TYPES[entry.bug_type]}, entry.bug_type) : "-",
     title: `type of the bug (${Object.entries(BUG_TYPES).map(([type, meaning]) => `${type} ${meaning}`).join(", ")})`},
    {name: "like it", of: entry => entry.support, number: true, title: "entries with the same root cause and fix, this one included"},
    {name: "fixed", of: entry => entry.fixed_mean, number: true, title: "mean metric of the correct program"},
    {name: "buggy", of: entry => entry.buggy_mean ?? "diverged", number: true, title: "mean metric of the faulty program"},
    {name: "d", of: entry => entry.d, number: true, title: "Cohen's d: their difference in standard deviations"},
    {name: "tools", of: entry => entry.tools.length, number: true, title: "tools with a message for one of its fault types"},
  ];
}

async function showBenchmark() {
  const name = params.get("name") ?? "";
  setHead(name, "", [["all", "./"]]);
  const benchmark = await ask("api/benchmark", {name});
  setHead(benchmark.title, `${benchmark.name}, seed ${benchmark.seed}`, [["all", "./"]]);
  const find = html("input", {type: "search", id: "find", placeholder: "change_label, Dense, iris", value: params.get("find") ?? "", autocomplete: "off", spellcheck: "false"});
  const old = html("input", {type: "checkbox", id: "deprecated"});
  old.checked = params.has("deprecated");
  const selects = FILTERS.map(filter => html("select", {id: filter.id}));
  const columns = entryColumns(name), count = html("output"), place = html("div", {class: "table", id: "entry-table"});
  const reset = html("button", {type: "button"}, "Show all");
  byName("content").replaceChildren(
      html("form", {class: "filters", role: "search", "aria-label": "Filter of the entries", onsubmit: event => event.preventDefault()},
           html("div", {class: "fields"}, html("label", {class: "field"}, "Find ", find)),
           html("div", {class: "fields"}, FILTERS.map((filter, i) => html("label", {class: "field"}, `${filter.label} `, selects[i])),
                benchmark.entries.some(entry => entry.deprecated) ? html("label", {class: "field"}, old, " deprecated ones, too") : null),
           html("p", {class: "filter-state"}, count, " ", reset)),
      place, legendOf(columns));
  const table = new SortTable(place, columns, entry => entry.id, "Entries", "No entry.");
  const passes = (entry, besides = null) => (old.checked || !entry.deprecated) &&
      `${entry.name} ${entry.mutation} ${entry.place} ${entry.faults} ${entry.subject} ${entry.catalogue}`.toLowerCase().includes(find.value.toLowerCase()) &&
      FILTERS.every((filter, i) => selects[i] === besides || !selects[i].value || filter.of(entry).includes(selects[i].value));

  /** Each filter counts what the others leave. */
  const fillSelects = () => FILTERS.forEach((filter, i) => {
    const counts = new Map();
    for (const entry of benchmark.entries) {
      const counted = passes(entry, selects[i]);
      for (const value of filter.of(entry)) if (value) counts.set(value, (counts.get(value) ?? 0) + counted);
    }
    const chosen = selects[i].dataset.first ? selects[i].value : params.get(filter.id) ?? "";
    selects[i].dataset.first = "done";
    selects[i].replaceChildren(html("option", {value: ""}, "any"), ...[...counts].sort(([a], [b]) => a.localeCompare(b, "en")).map(([value, amount]) => {
      const title = filter.title?.(value, benchmark);
      return html("option", {value}, `${words(value)}${title ? `: ${title}` : ""} (${amount})`);
    }));
    selects[i].value = counts.has(chosen) ? chosen : "";
  });
  const render = () => {
    fillSelects();
    const matching = benchmark.entries.filter(entry => passes(entry));
    count.textContent = countOf(matching.length, benchmark.entries.length, "entry", "entries");
    reset.hidden = !find.value && !old.checked && selects.every(select => !select.value);
    table.show(matching);
    const state = {name};
    FILTERS.forEach((filter, i) => selects[i].value && (state[filter.id] = selects[i].value));
    if (find.value) state.find = find.value;
    if (old.checked) state.deprecated = "1";
    history.replaceState(null, "", address("benchmark", state));
  };
  for (const control of [find, old, ...selects]) control.addEventListener("input", render);
  reset.addEventListener("click", () => {
    find.value = "";
    old.checked = false;
    for (const select of selects) select.value = "";
    render();
    find.focus();  // the button is gone
  });
  fillSelects();  // takes what the address says
  render();
}
