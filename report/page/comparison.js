// Searches of one buggy program beside each other.

const DASHES = ["", "7 4", "2 4", "10 4 2 4", "4 2", "1 3"];
const LETTERS = "ABCDEF";

function lineSample(i) {
  return svg("svg", {class: "sample", viewBox: "0 0 44 14", "aria-hidden": "true"},
             svg("line", {x1: 2, x2: 42, y1: 7, y2: 7, class: `course-line line-${i}`, "stroke-dasharray": DASHES[i]}));
}

class ComparisonView {
  constructor() {
    const {searches, settings, repairs, common} = report.compared;
    this.searches = searches;
    this.show = "all";
    this.section = addSection("compared", "Searches side by side", "programs");
    this.figures = html("div", {class: "figures"});
    this.rows = html("div", {class: "scroll", id: "common-table"});
    const names = searches.map((one, i) => `${LETTERS[i]}: ${one.file}`);
    const table = html("table", {"aria-label": "Searches"},
        html("thead", {}, html("tr", {}, html("th", {}), names.map((name, i) => html("th", {scope: "col"}, lineSample(i), breakable(name))))),
        html("tbody", {}, this.facts(settings).map(([name, values]) => html("tr", {}, html("th", {scope: "row"}, name), values.map(value => html("td", {}, breakable(String(value))))))));
    const only = searches.map((one, i) => [String(i), `only ${LETTERS[i]}`, one.only_here]);
    const shared = searches.length > 2 ? [["some", "in several", repairs.filter(one => one.found_in > 1 && one.found_in < searches.length).length]] : [];
    const choices = [["all", "all", repairs.length], ["common", searches.length > 2 ? "in every search" : "in both", common], ...shared, ...only];
    this.section.append(
        html("div", {class: "wide"}, table), this.figures,
        html("h3", {}, "Repairs in common and apart"),
        html("p", {class: "help"}, `${common} of ${plural(repairs.length, "repair")} ${searches.length > 2 ? "are in every search" : "are in both"}. Where one is missing stands what became of ` +
             "the same program there, by the level of that search."),
        html("fieldset", {class: "chips"}, html("legend", {}, "Show"), choices.map(([value, text, count]) => html("button", {
          type: "button", "aria-pressed": String(value === this.show), "data-show": value, onclick: event => {
            this.show = value;
            for (const chip of event.currentTarget.parentElement.querySelectorAll("button")) chip.setAttribute("aria-pressed", String(chip === event.currentTarget));
            this.renderRows();
          }}, text, html("small", {}, ` ${count}`)))),
        this.rows, html("p", {class: "tools"}, csvButtons("searches", "common")));
    this.renderRows();
  }

  facts(settings) {
    const of = (name, show = value => value ?? "-") => this.searches.map(one => show(one[name], one));
    return [
      ["evaluations", of("evaluations", (value, one) => one.complete ? value : `${value} in the file`)],
      ["seconds", of("seconds", value => shown(value, 3))],
      ["level to reach", of("ground_truth", value => shown(value))],
      [`best ${network.metric}`, of("best", value => shown(value))],
      ["repairs", of("repairs")], ["1-minimal", of("minimal")], ["found only there", of("only_here")],
      ...settings.map(({name, values}) => [name.replaceAll("_", " "), values.map(value => value === null ? "-" : typeof value === "object" ? JSON.stringify(value) : String(value))]),
    ];
  }

  outcome(one) {
    if (one === null) return html("span", {class: "help"}, "not evaluated");
    const role = own(ROLES, one.outcome);
    if (role) return [mark(one.outcome), `${one.id}: ${shown(one.mean)}`, one.outcome === "neutral" ? html("span", {class: "help"}, ", neutral") : null];
    return [rejectedMark(), `${one.id}: `, one.mean === null ? "" : `${shown(one.mean)}, `, html("span", {class: "help"}, own(REASONS, one.outcome)?.name ?? "not evaluated")];
  }

  renderRows() {
    const {repairs} = report.compared, n = this.searches.length;
    const isRepair = one => one !== null && ["significantly_better", "on_par"].includes(one.outcome);
    const rows = repairs.filter(one => this.show === "all" || (this.show === "common" ? one.found_in === n
        : this.show === "some" ? one.found_in > 1 && one.found_in < n : one.found_in === 1 && isRepair(one.in[Number(this.show)])));
    const most = 300;
    const heads = ["Change from the buggy program", ...this.searches.map((_, i) => LETTERS[i])];
    this.rows.replaceChildren(rows.length === 0 ? html("p", {class: "help"}, "\u00a0No repair.") : html("table", {class: "stacks", "aria-label": "Repairs of the searches"},
        html("thead", {}, html("tr", {}, heads.map(name => html("th", {scope: "col"}, name)))),
        html("tbody", {}, rows.slice(0, most).map(row => html("tr", {}, html("td", {class: "long"}, changeText(row.changes) || "the buggy program"),
            row.in.map((one, i) => html("td", {"data-label": LETTERS[i]}, this.outcome(one))))))),
        rows.length > most ? html("p", {class: "help"}, `\u00a0The first ${most} of ${rows.length}; the CSV has all.`) : "");
  }

  draw() {
    const boxes = ["best", "repairs"].map(name => html("figure", {}, html("figcaption", {}, name === "best"
        ? [`best ${network.metric} so far`, html("span", {class: "help"}, `, ${DIRECTION}`)] : "repairs so far")));
    this.figures.replaceChildren(...boxes);
    const last = Math.max(...this.searches.map(one => one.course.at(-1)?.evaluation ?? 1));
    ["best", "repairs"].forEach((name, k) => {
      const width = widthOf(boxes[k]), height = 280;
      const values = this.searches.flatMap(one => one.course.map(step => step[name])).filter(value => value !== null);
      if (values.length === 0) return boxes[k].append(html("p", {class: "help"}, "Nothing to draw."));
      const frame = evaluationFrame(width, height, (from, to) => axis(name === "repairs" ? [0, ...values] : values, from, to, name === "repairs" ? {logarithmic: false, ticks: Math.min(5, Math.max(1, ...values))} : {}), last);
      const entries = [], ends = [];
      const lines = this.searches.map((one, i) => {
        const steps = stepsOf(one.course, name, frame);
        for (const step of one.course) {
          if (step[name] === null) continue;
          entries.push({x: frame.x(step.evaluation), y: frame.y(step[name]), program: i === 0 ? programs.get(step.id) : null,
                        lines: [`${LETTERS[i]}: ${one.file}`, `evaluation ${step.evaluation}`, name === "best" ? `best ${network.metric}: ${shown(step.best)}` : plural(step.repairs, "repair")]});
        }
        if (steps.length === 0) return null;
        const end = frame.x(one.course.at(-1).evaluation);
        ends.push({x: Math.min(end + 4, frame.right + 3), y: steps.at(-1)[1] + 4, letter: LETTERS[i]});
        return svg("path", {d: stairs(steps, end), class: `course-line line-${i}`, "stroke-dasharray": DASHES[i]});
      });
      const letters = apart(ends, 12, frame.bottom + 4).map(({x, y, letter}) => svg("text", {x, y, class: "quiet"}, letter));
      const picture = svg("svg", {class: "chart", viewBox: `0 0 ${width} ${height}`}, ...frame.parts, ...lines, ...letters);
      const box = html("div", {class: "plot"}, picture);
      boxes[k].append(box);
      pointAt(box, picture, entries.sort((a, b) => a.x - b.x), {width, height, label: name === "best" ? `best ${network.metric} by evaluation` : "repairs by evaluation"});
    });
  }
}
