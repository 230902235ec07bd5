// One entry: what it is, how both programs differ, what is like it, and what tools say.

/** Lines of both texts: {kind: "same" | "removed" | "added", text, from, to}, numbers from 1. */
function lineDifference(from, to) {
  const a = from.split("\n"), b = to.split("\n");
  let head = 0, tail = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) ++head;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) ++tail;
  const n = a.length - head - tail, m = b.length - head - tail;
  const lines = [];
  const same = (i, j) => lines.push({kind: "same", text: a[i], from: i + 1, to: j + 1});
  const removed = i => lines.push({kind: "removed", text: a[i], from: i + 1, to: null});
  const added = j => lines.push({kind: "added", text: b[j], from: null, to: j + 1});
  for (let i = 0; i < head; ++i) same(i, i);
  if (n * m <= 4e6) {
    // length[i * (m + 1) + j]: of the longest common subsequence of what is behind i and j.
    const length = new Uint32Array((n + 1) * (m + 1));
    for (let i = n - 1; i >= 0; --i) {
      for (let j = m - 1; j >= 0; --j) {
        length[i * (m + 1) + j] = a[head + i] === b[head + j] ? length[(i + 1) * (m + 1) + j + 1] + 1
            : Math.max(length[(i + 1) * (m + 1) + j], length[i * (m + 1) + j + 1]);
      }
    }
    let i = 0, j = 0;
    while (i < n || j < m) {
      if (i < n && j < m && a[head + i] === b[head + j]) same(head + i++, head + j++);
      else if (j === m || (i < n && length[(i + 1) * (m + 1) + j] >= length[i * (m + 1) + j + 1])) removed(head + i++);
      else added(head + j++);
    }
  } else {
    for (let i = 0; i < n; ++i) removed(head + i);
    for (let j = 0; j < m; ++j) added(head + j);
  }
  for (let i = tail; i > 0; --i) same(a.length - i, b.length - i);
  return lines;
}

const CONTEXT = 3;

function differenceTable(lines, whole) {
  const near = lines.map(() => whole);
  lines.forEach((line, i) => {
    if (line.kind === "same") return;
    for (let at = Math.max(0, i - CONTEXT); at <= Math.min(lines.length - 1, i + CONTEXT); ++at) near[at] = true;
  });
  const rows = [];
  for (let i = 0; i < lines.length; ++i) {
    if (!near[i]) {
      const first = i;
      while (i + 1 < lines.length && !near[i + 1]) ++i;
      rows.push(html("tr", {"data-kind": "skipped"}, html("td", {colspan: 4}, `\u2026 ${plural(i - first + 1, "line")} as they were`)));
      continue;
    }
    const {kind, text, from, to} = lines[i];
    const sign = kind === "added" ? "+" : kind === "removed" ? "\u2212" : "";
    rows.push(html("tr", {"data-kind": kind}, html("td", {class: "number"}, from === null ? "" : String(from)),
                   html("td", {class: "number"}, to === null ? "" : String(to)), html("td", {class: "sign"}, sign),
                   html("td", {}, sign ? html("span", {class: "hidden"}, kind === "added" ? "buggy: " : "fixed: ") : null, text)));
  }
  return html("table", {class: "diff", "aria-label": "Lines of both programs"}, html("tbody", {}, rows));
}

function tags(values, hits = new Set(), titles = {}) {
  return html("span", {class: "tags"}, values.map(value => html("span", {class: hits.has(value) ? "tag hit" : "tag", title: titles[value]}, value)));
}

/** Numbers as "0-3, 7". */
function ranges(values) {
  const parts = [];
  for (const value of [...values].sort((a, b) => a - b)) {
    const last = parts.at(-1);
    if (last && value <= last[1] + 1) last[1] = value;
    else parts.push([value, value]);
  }
  return parts.map(([from, to]) => from === to ? String(from) : `${from}-${to}`).join(", ");
}

/** When a tool said a message: "1-3" (epochs), "iterations 5", "before training", "after training". */
function timeOf(message) {
  if (message.unit === "after training") return message.unit;
  if (!message.epochs.size) return "before training";
  return (message.unit === "iterations" ? "iterations " : "") + ranges(message.epochs);
}

/** What neutra localise said of one tool. `names`: of the program's layers. */
function answerOf(tool, types, names) {
  const title = layer => names[layer] ? `${layer}, ${names[layer]}` : String(layer);
  const parts = [];
  parts.push(html("p", {}, "Answer: ", tool.answers.map(({answer, runs}, i) => {
    const hit = [...types].some(type => answer.split(/[^A-Z]+/).includes(type));
    return [i ? ", " : "", html("span", {class: hit ? "tag hit" : "tag"}, answer === "-" ? "nothing" : answer), tool.runs.length > 1 ? ` in ${plural(runs, "run")}` : ""];
  }), tool.answers.some(({answer}) => [...types].some(type => answer.split(/[^A-Z]+/).includes(type))) ? " (a fault type of this entry)" : ""));
  for (const reason of new Set(tool.runs.map(run => [run.status === "ok" ? "" : run.status.replaceAll("_", " "), run.reason].filter(Boolean).join(": ")))) {
    if (reason) parts.push(html("p", {class: "help"}, reason));
  }
  const heard = new Map();
  for (const run of tool.runs) {
    for (const message of run.messages) {
      const key = JSON.stringify([message.code, message.layers]);
      const known = heard.get(key) ?? {...message, runs: 0, epochs: new Set()};
      known.runs += 1;
      for (const epoch of message.epochs) known.epochs.add(epoch);
      heard.set(key, known);
    }
  }
  if (heard.size) {
    parts.push(html("div", {class: "table"}, html("table", {"aria-label": "Messages"},
        html("thead", {}, html("tr", {}, ["message", "layers", "when", "runs", "for a developer", "stands for"].map(word => html("th", {scope: "col"}, word)))),
        html("tbody", {}, [...heard.values()].map(message => html("tr", {},
            html("td", {class: "words"}, `${message.severity}: ${message.text}`, message.detail ? html("div", {class: "help"}, message.detail) : null),
            html("td", {}, message.layers.map(title).join("; ") || "-"), html("td", {}, timeOf(message)), html("td", {class: "number"}, String(message.runs)),
            html("td", {}, message.actionability), html("td", {}, message.faults, message.ignored ? html("div", {class: "help"}, message.ignored) : null)))))));
  }
  const ranking = (tool.runs[0]?.ranking?.layers ?? []).slice(0, 10);
  if (ranking.length) {
    parts.push(html("div", {class: "table"}, html("table", {"aria-label": "Ranking of layers, first run"},
        html("thead", {}, html("tr", {}, ["place", "layer", "suspiciousness"].map(word => html("th", {scope: "col"}, word)))),
        html("tbody", {}, ranking.map((suspect, i) => html("tr", {}, html("td", {}, String(i + 1)), html("td", {}, [suspect.layer === undefined ? undefined : title(suspect.layer), suspect.fault].filter(part => part !== undefined).join(" ")),
                                                           html("td", {class: "number"}, shown(suspect.suspiciousness))))))));
  }
  return parts;
}

async function showEntry() {
  const name = params.get("name") ?? "", id = Number(params.get("id"));
  const trail = [["all", "./"], [name, address("benchmark", {name})]];
  setHead(`Entry ${params.get("id") ?? ""}`, "", trail);
  const found = await ask("api/entry", {name, id: params.get("id") ?? ""});
  const {entry} = found;
  trail[1][0] = found.title;
  setHead(`Entry ${entry.id}: ${entry.mutation}`, `${entry.subject}, ${found.title}`, trail);
  const types = new Set(entry.fault_types);
  const pager = html("p", {class: "pager"},
      id > found.ids.first ? html("a", {href: address("entry", {name, id: id - 1}), rel: "prev"}, "\u2190 entry before") : null,
      id < found.ids.last ? html("a", {href: address("entry", {name, id: id + 1}), rel: "next"}, "next entry \u2192") : null);
  const cards = html("dl", {class: "cards"}, [
    ["Faults", entry.faults, Object.entries(found.fault_types).map(([type, meaning]) => `${type}: ${meaning}`).join("; ")],
    ["Category", words(entry.category) || "-", entry.bug_type ? `bug type ${entry.bug_type}: ${BUG_TYPES[entry.bug_type]}` : ""],
    ["Correct", shown(entry.fixed_mean)], ["Faulty", shown(entry.buggy_mean ?? "diverged"), `d = ${shown(entry.d, 3)}`],
    ["Like it", String(entry.support), "entries with this root cause and fix"],
  ].map(([word, value, more]) => html("div", {}, html("dt", {}, word), html("dd", {}, value), more ? html("small", {}, more) : null)));

  const lines = lineDifference(found.fixed, found.buggy);
  const whole = html("input", {type: "checkbox", id: "whole"}), difference = html("div", {class: "table", id: "difference"});
  const drawDifference = () => difference.replaceChildren(differenceTable(lines, whole.checked));
  whole.addEventListener("change", drawDifference);
  drawDifference();

  const similar = html("div", {class: "table", id: "similar"});
  const columns = entryColumns(name, [{name: "points", of: one => one.points, number: true, title: "4 an operator, 3 a fault type, 2 a kind of place, 1 a subject in common"}]);
  new SortTable(similar, columns, one => one.id, "Similar entries", "No entry is like it.").show(found.similar);

  byName("content").replaceChildren(pager, cards,
      html("section", {}, html("h2", {}, "Difference"), html("p", {class: "help"}, "From the correct program to the faulty one."),
           html("pre", {}, found.change.trimEnd()),
           html("p", {}, html("label", {}, whole, " Whole programs")), difference),
      toolSection(name, found, types),
      html("section", {}, html("h2", {}, "Similar entries"), similar, found.similar.length ? legendOf(columns) : null),
      html("section", {}, html("h2", {}, "All that is known"), html("dl", {class: "facts"}, found.fields.filter(field => field.value !== "").map(field =>
        [html("dt", {}, words(field.name)), html("dd", {}, fieldText(field))]))));
}

/** Long decimals with four digits; p as it is told. */
function fieldText({name, value}) {
  if (name === "p" && Number(value) < 0.001) return "< 0.001";
  return value.replace(/-?\b\d+\.\d+(e[+-]?\d+)?\b/g, number => number.length > 6 ? shown(Number(number)) : number);
}

function toolSection(name, found, types) {
  const runs = html("input", {type: "number", id: "runs", min: 1, max: 100, value: 1}), version = html("select", {id: "version"},
      html("option", {value: "buggy"}, "faulty program"), html("option", {value: "fixed"}, "correct program"));
  const jobs = html("div", {id: "jobs", "aria-live": "polite"}), known = new Map();

  const draw = job => {
    const tool = job.answer?.tools?.[0];
    const box = html("article", {class: "job", "data-job": job.job, "aria-label": `Answer of ${job.tool}`},
        html("h3", {}, `${job.tool}, ${plural(job.runs, "run")} on the ${job.program_version === "buggy" ? "faulty" : "correct"} program`, stateOf(job.state),
             job.state === "running" || job.state === "waiting"
                 ? html("button", {type: "button", onclick: () => post("api/cancel", {job: job.job}).then(show, error => tellProblem(error.message))}, "Cancel")
                 : job.state === "done" ? html("small", {class: "help"}, `in ${duration(job.seconds)}`) : null),
        job.error ? html("pre", {}, job.error) : null, tool ? answerOf(tool, types, job.answer.layer_names ?? []) : null);
    const old = jobs.querySelector(`[data-job="${job.job}"]`);
    if (old) old.replaceWith(box);
    else jobs.prepend(box);
    return box;
  };
  const show = job => {
    const followed = known.has(job.job);
    const before = known.get(job.job);
    known.set(job.job, job.state);
    if (before !== job.state) draw(job);
    const over = job.state !== "waiting" && job.state !== "running";
    if (!followed && !over) follow("api/job", {id: job.job}, answer => (show(answer), known.get(job.job) === "waiting" || known.get(job.job) === "running" ? 1 : null));
    return over;
  };
  const start = async tool => {
    try {
      const job = await post("api/localise", {benchmark: name, entry: found.entry.id, tool, runs: Number(runs.value), program_version: version.value});
      tellProblem("");
      show(job);
      jobs.querySelector(`[data-job="${job.job}"]`)?.scrollIntoView({block: "nearest"});
    } catch (error) {
      tellProblem(error.message);
    }
  };
  for (const job of [...found.jobs].reverse()) show(job);

  const columns = [
    ...(found.can_run ? [{name: "ask", of: tool => tool.tool, show: tool => html("button", {type: "button", "aria-label": `Ask ${tool.tool}`, onclick: () => start(tool.tool)}, "Ask")}] : []),
    {name: "tool", of: tool => tool.tool, class: "name"},
    {name: "may name", of: tool => tool.fault_types.filter(type => types.has(type)).join(" "), title: "fault types of this entry that a message of the tool stands for",
     show: tool => tool.fault_types.some(type => types.has(type)) ? tags(tool.fault_types.filter(type => types.has(type)), types, found.fault_types) : "-"},
    {name: "needs", of: tool => tool.needs.join(", ")},
    {name: "what it does", of: tool => tool.description, class: "words"},
  ];
  const able = tool => tool.fault_types.some(type => types.has(type));
  const first = html("div", {class: "table", id: "tools"}), rest = html("div", {class: "table"});
  new SortTable(first, columns, tool => tool.tool, "Tools that may name it", "No tool has a message for its fault types.").show(found.tools.filter(able));
  const others = found.tools.filter(tool => !able(tool));
  new SortTable(rest, columns, tool => tool.tool, "Other tools", "None.").show(others);
  return html("section", {}, html("h2", {}, "Fault localisation"),
      found.can_run ? html("div", {class: "fields"}, html("label", {class: "field"}, "About the ", version), html("label", {class: "field"}, "Runs ", runs))
                    : html("p", {class: "help"}, "Tools are run by a server that listens on this machine alone."),
      first, others.length ? html("details", {}, html("summary", {}, `Other tools (${others.length})`), rest) : null, jobs);
}
