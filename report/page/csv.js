// Tables of the report as CSV, by the layouts that the document brings (docs/formats/report.md, "Tables").

/** The value at a JSON pointer of plain names; undefined: there is none. */
function cellAt(json, pointer) {
  return pointer.split("/").slice(1).reduce((value, name) => value === null ? undefined : own(value, name), json);
}

/** As the command spells it: the shortest decimal that reads back, "1e-05" below 0.0001 and from 1e+16. */
function csvNumber(value) {
  if (Object.is(value, -0)) return "-0";
  const size = Math.abs(value);
  return size && (size < 1e-4 || size >= 1e16) ? value.toExponential().replace(/e([+-])(\d)$/, "e$10$2") : String(value);
}

function csvText(value) {
  if (value === null || value === undefined) return "";
  if (Array.isArray(value)) return value.map(one => one === null ? "nan" : csvText(one)).join(" ");
  if (typeof value === "object") return Object.entries(value).map(([name, one]) => `${name}=${csvText(one)}`).join(",");
  return typeof value === "number" ? csvNumber(value) : String(value);
}

function csvLine(cells) {
  return cells.map(cell => /[",\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell).join(",") + "\n";
}

/** The same table as `neutra report --format csv --table NAME` writes. */
function csvOf(name) {
  const layout = report.tables[name], {columns, each} = layout;
  const groups = each ? cellAt(report, each.rows).length : 0;
  const head = columns.map(([title]) => title);
  for (let i = 1; i <= groups; ++i) head.push(...each.columns.map(([title]) => `${title}_${i}`));
  const cells = (of, row) => of.map(([, place]) => csvText(row ? cellAt(row, place) : null));
  const rows = cellAt(report, layout.rows).filter(row => !layout.only || row[layout.only] === true);
  return csvLine(head) + rows.map(row => csvLine([
    ...cells(columns, row), ...Array.from({length: groups}, (_, i) => cells(each.columns, cellAt(row, each.from)[i])).flat(),
  ])).join("");
}

function download(text, type, name) {
  const url = URL.createObjectURL(new Blob([text], {type}));
  html("a", {href: url, download: name}).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Name of a file for what this page has: "D7-rejected.csv". */
function fileName(what) {
  return `${report.file.replace(/\.[^.]*$/, "").replace(/[^\w.-]+/g, "_") || "report"}-${what}`;
}

/** Buttons that download tables, those of them that the report has. */
function csvButtons(...names) {
  const there = names.filter(name => own(report.tables, name));
  return there.map(name => html("button", {
    type: "button", class: "csv", "data-table": name, title: `Download as CSV: ${report.tables[name].title}`,
    onclick: () => download(csvOf(name), "text/csv", fileName(`${name}.csv`)),
  }, there.length > 1 ? `${name}.csv` : "CSV"));
}
