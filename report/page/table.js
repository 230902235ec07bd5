// A table of programs that sorts by its headings and is walked through with the arrow keys. Rows are made as they come
// into sight: laying out a thousand of them takes long.

class ProgramTable {
  /** `columns`: {name, of(program), show(program), number, order}: `order(a, b)` where values don't compare as they are. */
  constructor(element, columns, onSelect) {
    this.element = element;
    this.columns = columns;
    this.onSelect = onSelect;
    this.sorted = {column: columns.find(column => column.first), down: false};
    this.rows = new Map();
    element.addEventListener("scroll", () => {
      if (element.scrollTop + element.clientHeight > element.scrollHeight - 300) this.extend();
    });
  }

  show(programs) {
    this.programs = [...programs];
    this.render();
  }

  render() {
    const {column, down} = this.sorted;
    const compare = column.order ?? ((a, b) => {
      const [x, y] = [column.of(a), column.of(b)];
      if (x === y) return 0;
      if (x === null || y === null) return (x === null) - (y === null) || 0;
      return x < y ? -1 : 1;
    });
    this.programs.sort((a, b) => (down ? -compare(a, b) : compare(a, b)) || a.id - b.id);
    const head = html("tr", {}, this.columns.map(one => html("th", {
      scope: "col", class: one.number && "number",
      "aria-sort": one === column ? (down ? "descending" : "ascending") : null,
    }, html("button", {type: "button", title: one.title, onclick: () => this.sortBy(one)}, one.name))));
    this.rows = new Map();
    this.body = html("tbody", {
      onkeydown: event => this.press(event), onclick: event => this.click(event), ondblclick: event => this.click(event, true),
    });
    this.element.replaceChildren();
    if (this.programs.length === 0) return this.element.append(html("p", {class: "help"}, "\u00a0No program."));
    this.element.append(html("table", {class: "stacks", role: "grid", "aria-label": "Programs", "aria-rowcount": this.programs.length + 1},
                             html("thead", {}, head), this.body));
    this.element.scrollTop = 0;
    this.extend();
  }

  /** Makes the next rows, or all. */
  extend(count = ProgramTable.PAGE) {
    const next = this.programs.slice(this.rows.size, this.rows.size + count);
    if (next.length === 0) return;
    this.body.append(...next.map(program => this.row(program)));
    this.mark(this.selected);
  }

  row(program) {
    const row = html("tr", {tabindex: "-1", "data-program": program.id}, this.columns.map(column =>
      html("td", {class: column.number ? "number" : column.short ? "short" : "long", "data-label": column.name}, column.show(program))));
    this.rows.set(program, row);
    return row;
  }

  sortBy(column) {
    const again = column === this.sorted.column;
    this.sorted = {column, down: again && !this.sorted.down};
    this.render();
    [...this.element.querySelectorAll("thead button")][this.columns.indexOf(column)].focus();
  }

  /** One row can be reached with the tabulator key: the selected one, else the first. */
  mark(program) {
    this.selected = program;
    const reachable = this.rows.has(program) ? program : this.rows.keys().next().value;
    for (const [other, row] of this.rows) {
      row.tabIndex = other === reachable ? 0 : -1;
      row.setAttribute("aria-selected", String(other === program));
    }
  }

  click(event, enter = false) {
    const row = event.target.closest("tr");
    for (const [program, its] of this.rows) if (its === row) this.onSelect(program, enter);
  }

  press(event) {
    const order = this.programs;
    const at = order.findIndex(program => this.rows.get(program) === event.target.closest("tr"));
    const step = {ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -order.length, End: order.length}[event.key];
    if (event.key === "Enter" || event.key === " ") {
      this.onSelect(order[at], true);
    } else if (step !== undefined) {
      const place = Math.min(order.length - 1, Math.max(0, at + step)), to = order[place];
      this.extend(place + 1 - this.rows.size);
      this.onSelect(to);
      this.rows.get(to).focus();
    } else {
      return;
    }
    event.preventDefault();
  }
}
ProgramTable.PAGE = 60;
