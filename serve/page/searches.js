// The list of what the folder holds, and the page of one search.

/** "mae 5.991 → 0.012, to reach 0.1285" */
function foundText(one) {
  if (one.metric === null) return "";
  const level = one.level === null ? "" : `, to reach ${shown(one.level)}`;
  if (one.buggy === null && one.best === null) return one.programs ? `${one.metric}: no number${level}` : "";
  return `${one.metric} ${shown(one.buggy)}${one.best === null ? "" : ` \u2192 ${shown(one.best)}`}${level}`;
}

/** "evaluation budget used up" as a sentence. */
function sentence(text) {
  return `${text[0].toUpperCase()}${text.slice(1)}${/[.!?:]$/.test(text) ? "" : "."}`;
}

/** What a reader has to know of a search: why its repairs may be none, how it ended, or why it goes on. */
function noteParts(one) {
  const parts = [];
  if (one.buggy_reaches_level) parts.push("The buggy program reaches the level itself: a repair need not repair anything.");
  else if (one.state === "finished" && one.repairs === 0) parts.push("No repair was found.");
  if (one.state === "unread") parts.push("It will be read in a moment.");
  if (one.state === "waiting" && !one.note_text) parts.push("It has not begun.");
  if (one.state === "stopped" && !one.note_text) parts.push("The same command goes on with it.");
  if (one.note_text) parts.push(one.state === "running" ? `It runs as ${one.note_text}.` : one.state === "damaged" ? one.note_text : sentence(one.note_text));
  return parts;
}

function searchColumns() {
  return [
    {name: "search", of: one => one.fault, class: "name",
     show: one => [one.state === "waiting" ? one.fault : html("a", {href: address("search", {name: one.name})}, one.fault),
                   one.title ? ` ${one.title}` : "", html("div", {class: "help"}, breakable(one.name))]},
    {name: "state", of: one => one.state, show: one => {
      const part = one.budget_used;
      return [stateOf(one.state), part === null || one.state === "finished" ? null
          : html("progress", {max: 1, value: part, "aria-label": `${one.fault}: part of the budget spent`, title: `${Math.floor(100 * part)} % of the budget`})];
    }},
    {name: "found", of: one => one.best === null || one.metric === null ? null : `${one.metric} ${one.best}`, show: foundText, class: "found",
     title: "mean of the buggy program, then of the best repair, and the level that a repair reaches"},
    {name: "repairs", of: one => one.repairs, number: true},
    {name: "programs", of: one => one.programs, number: true},
    {name: "evaluations", of: one => one.evaluations, number: true,
     show: one => [String(one.evaluations), one.evaluations_an_hour === null ? null : html("div", {class: "help"}, rate(one.evaluations_an_hour))]},
    {name: "took", of: one => one.seconds, number: true, title: "and what is left to the end of its budget, at this rate",
     show: one => [duration(one.seconds), one.seconds_left === null ? null : html("div", {class: "help"}, `${duration(one.seconds_left)} left`)]},
    {name: "note", of: one => noteParts(one).join(" "), show: one => [noteParts(one).map(part => html("div", {}, part)),
                                                                      one.age === null ? null : html("div", {class: "help"}, asOf(one))], class: "words"},
  ];
}

/** "12 searches: 3 running, 9 finished, with 140 repairs; 2 benchmarks" */
function folderText({searches, benchmarks}) {
  const counts = new Map();
  for (const one of searches) counts.set(one.state, (counts.get(one.state) ?? 0) + 1);
  const order = ["running", "waiting", "stopped", "damaged", "unread", "finished"].filter(state => counts.has(state));
  const repairs = searches.reduce((sum, one) => sum + one.repairs, 0);
  const parts = [];
  if (searches.length) {
    parts.push(`${plural(searches.length, "search", "searches")}: ` + order.map(state => `${counts.get(state)} ${state}`).join(", ") +
               `, with ${plural(repairs, "repair")}`);
  }
  if (benchmarks.length) parts.push(plural(benchmarks.length, "benchmark"));
  return parts.length ? parts.join("; ") : "No search and no benchmark yet: neutra search FAULT --store FOLDER/FILE.h5 begins one.";
}

function showFolder() {
  const states = new Set();
  const searchBox = html("input", {type: "search", id: "find", placeholder: "D7, results/", autocomplete: "off", spellcheck: "false"});
  const count = html("output"), chipPlace = html("div");
  const searchPlace = html("div", {class: "table", id: "search-table"}), benchPlace = html("div", {class: "table", id: "benchmark-table"});
  const notes = html("ul", {class: "help"}), searchPart = html("section"), benchPart = html("section");
  searchPart.append(html("h2", {}, "Searches"),
      html("form", {class: "filters", role: "search", "aria-label": "Filter of the searches", onsubmit: event => event.preventDefault()},
           html("div", {class: "fields"}, html("label", {class: "field"}, "Find ", searchBox)), chipPlace, html("p", {class: "filter-state"}, count)),
      searchPlace);
  benchPart.append(html("h2", {}, "Benchmarks"), benchPlace);
  byName("content").replaceChildren(searchPart, benchPart, notes);
  const table = new SortTable(searchPlace, searchColumns(), one => one.name, "Searches", "No search.");
  const benchmarks = new SortTable(benchPlace, [
    {name: "benchmark", of: one => one.name, class: "name",
     show: one => one.problem === null ? html("a", {href: address("benchmark", {name: one.name})}, breakable(one.name)) : breakable(one.name)},
    {name: "title", of: one => one.title ?? one.problem, class: "words",
     show: one => one.problem === null ? one.title : [stateOf("damaged"), html("div", {class: "help"}, one.problem)]},
    {name: "entries", of: one => one.entries, number: true},
    {name: "subjects", of: one => one.subjects, number: true},
  ], one => one.name, "Benchmarks", "No benchmark.");
  let listing = null, drawnStates = "", last = new Map();

  const render = () => {
    const find = searchBox.value.toLowerCase();
    const matching = listing.searches.filter(one => (states.size === 0 || states.has(one.state)) &&
        `${one.fault} ${one.title} ${one.name} ${noteParts(one).join(" ")}`.toLowerCase().includes(find));
    count.textContent = countOf(matching.length, listing.searches.length, "search", "searches");
    table.show(matching);
  };
  searchBox.addEventListener("input", render);
  follow("api/listing", {}, answer => {
    listing = answer;
    const what = [answer.searches.length || !answer.benchmarks.length ? "searches" : null, answer.benchmarks.length ? "benchmarks" : null].filter(Boolean).join(" and ");
    setHead(`${what[0].toUpperCase()}${what.slice(1)} in ${answer.folder || "/"}`, folderText(answer), []);
    const counts = new Map();
    for (const one of answer.searches) counts.set(one.state, (counts.get(one.state) ?? 0) + 1);
    const drawn = JSON.stringify([...counts].sort());
    if (drawn !== drawnStates) {
      const held = chipPlace.contains(document.activeElement) ? document.activeElement.textContent.split(" ")[0] : null;
      drawnStates = drawn;
      chipPlace.replaceChildren(chips("State", [...counts].sort(), states, render));
      if (held) [...chipPlace.querySelectorAll("button")].find(button => button.textContent.startsWith(held))?.focus();
    }
    const changed = answer.searches.filter(one => last.has(one.name) && last.get(one.name) !== one.state);
    if (changed.length) announce(changed.map(one => `${one.fault} is ${one.state}`).join(", "));
    last = new Map(answer.searches.map(one => [one.name, one.state]));
    searchPart.hidden = answer.searches.length === 0 && answer.benchmarks.length > 0;
    benchPart.hidden = answer.benchmarks.length === 0;
    benchmarks.show(answer.benchmarks);
    notes.replaceChildren(...answer.notes.map(note => html("li", {}, note)));
    render();
    if (answer.searches.some(one => one.state === "unread")) return 0.1;
    return answer.searches.some(one => one.state === "running" || one.state === "waiting") ? 2 : 5;
  });
}

function isReadable(search) {
  return !["waiting", "damaged", "unread"].includes(search.state);
}

function showSearch() {
  const name = params.get("name") ?? "";
  setHead(name, "", [["all searches", "./"]]);
  const cards = html("dl", {class: "cards"}), note = html("p", {class: "help"});
  const fresh = html("button", {type: "button", hidden: true}, "Show what is new");
  const always = html("input", {type: "checkbox"});
  const alone = html("a", {target: "_blank", rel: "noopener"}, "Report alone");
  const frame = html("iframe", {class: "report", title: "Report", sandbox: "allow-scripts allow-popups allow-downloads", hidden: true});
  const other = html("select", {id: "beside"}), beside = html("label", {hidden: true}, "Beside it ", other);
  const bar = html("div", {class: "bar"}, fresh, html("label", {}, always, " Always show the latest"), beside, alone);
  bar.hidden = true;
  byName("content").replaceChildren(cards, note, bar, frame);
  let latest = null, inFrame = null;  // {revision, network}: a heartbeat alone is nothing new
  const load = () => {
    inFrame = latest.network;
    fresh.hidden = true;
    frame.hidden = false;
    const words = other.value ? {name, with: other.value} : {name};
    alone.href = address("report", words);
    showFrame(frame, address("report", {...words, revision: latest.revision}));
  };
  other.addEventListener("change", load);
  fresh.addEventListener("click", load);
  always.addEventListener("change", () => always.checked && latest && latest.network !== inFrame && load());
  alone.href = address("report", {name});
  follow("api/listing", {}, answer => {
    const one = answer.searches.find(search => search.name === name);
    if (!one) throw new Error("No search of this folder has that name.");
    setHead(one.title ? `${one.fault}: ${one.title}` : one.fault, one.name, [["all searches", "./"]]);
    const part = one.budget_used, running = one.state === "running";
    // Programs and repairs are tiles of the report, which may be older.
    cards.replaceChildren(...[
      ["State", stateOf(one.state), [part === null || one.state === "finished" ? "" : `${Math.floor(100 * part)} % of the budget`, asOf(one)].filter(Boolean).join(", ")],
      ["Evaluations", one.evaluations, running ? `${plural(one.repairs, "repair")} so far` : ""],
      ["Rate", rate(one.evaluations_an_hour)],
      ["Took", duration(one.seconds)], one.seconds_left === null ? null : ["Left", duration(one.seconds_left)],
    ].filter(Boolean).map(([word, value, more]) => html("div", {}, html("dt", {}, word), html("dd", {}, typeof value === "number" ? String(value) : value),
                                                        more ? html("small", {}, more) : null)));
    note.textContent = noteParts(one).join(" ");
    // Other searches of the same fault, to be shown side by side.
    const others = answer.searches.filter(search => search.name !== name && search.fault === one.fault && isReadable(search)).map(search => search.name);
    if (others.join() !== [...other.options].slice(1).map(option => option.value).join()) {
      const chosen = other.value;
      other.replaceChildren(html("option", {value: ""}, "no other search"), ...others.map(text => html("option", {value: text}, text)));
      other.value = others.includes(chosen) ? chosen : "";
    }
    beside.hidden = others.length === 0;
    const readable = isReadable(one);
    bar.hidden = !readable;
    always.parentElement.hidden = one.state === "finished";
    if (readable) {
      latest = {revision: one.revision, network: `${one.state} ${one.programs} ${one.evaluations}`};
      if (inFrame === null || (always.checked && latest.network !== inFrame)) load();
      else fresh.hidden = latest.network === inFrame;
    }
    return one.state === "finished" ? 10 : one.state === "unread" ? 0.1 : 2;
  });
}
