// What all pages are made of.

const params = new URLSearchParams(location.search);

/** "search?name=results%2FD7.h5" */
function address(page, words) {
  const text = new URLSearchParams(words).toString();
  return text ? `${page}?${text}` : page || "./";
}

/** Asks the server. Throws an Error with its words. */
async function ask(path, words = {}) {
  const response = await fetch(address(path, words));
  if (!response.ok) throw new Error((await response.text()).trim() || `status ${response.status}`);
  return response.json();
}

async function post(path, body) {
  const response = await fetch(path, {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body)});
  if (!response.ok) throw new Error((await response.text()).trim() || `status ${response.status}`);
  return response.json();
}

/** Asks again and again, less often where nobody looks or nobody answers. `show(answer)` returns the seconds to wait. */
function follow(path, words, show) {
  let wait = 1, timer = null, asking = false;
  const next = () => {
    clearTimeout(timer);
    if (!document.hidden) timer = setTimeout(look, wait * 1000);
  };
  const look = async () => {
    clearTimeout(timer);
    if (asking) return;
    asking = true;
    try {
      wait = show(await ask(path, words));
      tellProblem("");
    } catch (error) {
      wait = Math.min(2 * wait, 15);
      tellProblem(error instanceof TypeError ? "The server doesn't answer; what is shown may be old." : error.message);
    }
    asking = false;
    if (wait !== null) next();
  };
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) clearTimeout(timer);
    else if (wait !== null) look();
  });
  look();
}

function tellProblem(text) {
  const place = byName("problem");
  if (place.textContent === text) return;
  place.replaceChildren(...(text ? [html("p", {class: "notice"}, text)] : []));
}

function announce(text) {
  byName("announcement").textContent = text;
}

/** Sets the head of a page: `trail` are pairs of words and address. */
function setHead(title, subtitle, trail) {
  const whole = trail.length ? `${title}: neutra` : `neutra: ${title}`;
  if (document.title !== whole) document.title = whole;
  byName("title").replaceChildren(...breakable(title));
  byName("subtitle").textContent = subtitle;
  byName("trail").replaceChildren(...trail.flatMap(([text, to], i) => [i ? " / " : "", html("a", {href: to}, text)]));
}

/** Shows a report in the colours of the page around it, which has the switch. In place: "back" leads out of the page. */
function showFrame(frame, to) {
  const withTheme = page => `${new URL(page, location.href)}#theme-${document.documentElement.dataset.theme ?? "auto"}`;
  const whole = withTheme(to), another = frame.dataset.loaded !== to;
  frame.dataset.shown = to;
  if (frame.dataset.loading) return;  // a browser may drop a second address while the first begins: what is wanted by then comes after it
  if (another) {
    frame.dataset.loaded = to;
    frame.dataset.loading = whole;
    const done = () => {
      if (frame.dataset.loading !== whole) return;
      delete frame.dataset.loading;
      if (withTheme(frame.dataset.shown) !== whole) showFrame(frame, frame.dataset.shown);
    };
    frame.addEventListener("load", done, {once: true});
    setTimeout(done, 20_000);  // a server that is gone may never end it
  }
  if (frame.hasAttribute("src")) frame.contentWindow.location.replace(whole);
  else frame.src = whole;
}

/** A line for the columns whose names don't say it all. */
function legendOf(columns) {
  return html("p", {class: "help"}, columns.filter(column => column.title).map(column => `${column.name}: ${column.title}`).join("; "), ".");
}

// --- numbers ---

function shown(value, digits = 4) {
  if (value === null || value === undefined) return "-";
  return typeof value === "number" ? String(Number(value.toPrecision(digits))) : value;  // "nan", "inf"
}

function duration(seconds) {
  if (seconds === null || seconds === undefined) return "-";
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${String(Math.floor(seconds % 60)).padStart(2, "0")} s`;
  return `${Math.floor(seconds / 3600)} h ${String(Math.floor(seconds / 60) % 60).padStart(2, "0")} min`;
}

/** "12/s", "4.2/min", "1.5/h" */
function rate(anHour) {
  if (anHour === null) return "-";
  const [value, unit] = anHour >= 3600 ? [anHour / 3600, "s"] : anHour >= 60 ? [anHour / 60, "min"] : [anHour, "h"];
  return `${value.toFixed(value < 10 ? 1 : 0)}/${unit}`;
}

function plural(count, what, many = `${what}s`) {
  return `${count} ${count === 1 ? what : many}`;
}

/** "59 entries", "3 entries of 59" */
function countOf(count, all, what, many) {
  return count === all ? plural(count, what, many) : `${plural(count, what, many)} of ${all}`;
}

function stateOf(state) {
  return html("span", {class: "state", "data-state": state}, state);
}

/** What is told of a running search is as of its last save. */
function asOf(search) {
  return search.age === null ? "" : `as of ${duration(search.age)} ago`;
}

// --- tables ---

/** A table that sorts by its headings. Rows that stay the same are left alone, so that a reader's place is kept. */
class SortTable {
  /** `columns`: {name, of(item), show(item), number, class, title}; `key(item)` tells items apart. */
  constructor(element, columns, key, label, none) {
    this.element = element;
    this.columns = columns;
    this.key = key;
    this.none = none;
    this.sorted = {column: null, down: false};
    this.rows = new Map();
    this.body = html("tbody");
    this.head = html("tr");
    this.table = html("table", {class: "stacks", "aria-label": label}, html("thead", {}, this.head), this.body);
  }

  show(items) {
    this.items = items;
    const {column, down} = this.sorted;
    const ordered = [...items];
    if (column) {
      ordered.sort((a, b) => {
        const [x, y] = [column.of(a), column.of(b)];
        const [noX, noY] = [x === null || x === "", y === null || y === ""];
        if (noX || noY) return noX - noY;  // last in both directions
        const order = typeof x === "number" && typeof y === "number" ? x - y
            : typeof x === typeof y ? String(x).localeCompare(String(y), "en", {numeric: true})
            : typeof x === "number" ? -1 : 1;
        return down ? -order : order;
      });
    }
    const focused = this.element.contains(document.activeElement) ? document.activeElement : null;
    const before = focused ? [...this.rows].find(([, {row}]) => row.contains(focused)) : null;
    const rows = new Map();
    for (const item of ordered) {
      const content = JSON.stringify(item), known = this.rows.get(this.key(item));
      rows.set(this.key(item), known?.content === content ? known : {content, row: this.row(item)});
    }
    this.rows = rows;
    this.head.replaceChildren(...this.columns.map(one => html("th", {
      scope: "col", class: one.number && "number", "aria-sort": one === column ? (down ? "descending" : "ascending") : null,
    }, html("button", {type: "button", title: one.title, onclick: () => this.sortBy(one)}, one.name))));
    const wanted = [...rows.values()].map(({row}) => row);
    if (wanted.length !== this.body.children.length || wanted.some((row, i) => row !== this.body.children[i])) this.body.replaceChildren(...wanted);
    const place = items.length ? this.table : html("p", {class: "help"}, "\u00a0", this.none);
    if (this.element.firstChild !== place) this.element.replaceChildren(place);
    if (before && !this.element.contains(document.activeElement)) {
      const at = [...before[1].row.querySelectorAll("a, button")].indexOf(focused);
      this.rows.get(before[0])?.row.querySelectorAll("a, button")[at]?.focus();
    }
  }

  row(item) {
    return html("tr", {}, this.columns.map(column =>
      html("td", {class: [column.number && "number", column.class].filter(Boolean).join(" ") || null, "data-label": column.name},
           column.show ? column.show(item) : shown(column.of(item)))));
  }

  sortBy(column) {
    const again = column === this.sorted.column;
    this.sorted = {column, down: again && !this.sorted.down};
    this.show(this.items);
    this.head.querySelectorAll("button")[this.columns.indexOf(column)].focus();
  }
}

/** Chips of which any number can be pressed. */
function chips(legend, values, chosen, onChange) {
  return html("fieldset", {class: "chips"}, html("legend", {}, legend), values.map(([value, count]) =>
    html("button", {type: "button", "aria-pressed": String(chosen.has(value)), onclick: event => {
      if (!chosen.delete(value)) chosen.add(value);
      event.currentTarget.setAttribute("aria-pressed", String(chosen.has(value)));
      onChange();
    }}, value, " ", html("small", {}, String(count)))));
}
