// Which hyperparameters matter: their shares of the variance, and what single changes of them did.

const PERCENT = value => `${(100 * value).toFixed(value < 0.0995 ? 1 : 0)} %`;

class ImportanceView {
  constructor() {
    const {keys, together, programs: count} = report.importance;
    this.keys = keys;
    this.hasRepairs = keys.some(one => one.repair_share !== null);
    this.section = addSection("importance", "Which hyperparameters matter", "scores");
    this.figure = html("figure", {});
    this.section.append(
        html("p", {class: "help"}, `Functional ANOVA of a random forest (Hutter, Hoos and Leyton-Brown, 2014) over ${plural(count, "program")}: the share ` +
            `of the variance that a hyperparameter explains by itself, all combinations of the tried values counted alike. Of the rank of ` +
            `${network.metric}, ${PERCENT(together ?? 0)} is of hyperparameters together or of chance; thin lines: one standard deviation over the trees. ` +
            `The search tries few of the combinations, near the buggy program and its repairs: what it hardly tried, the forest guesses.`),
        this.figure,
        html("h3", {}, "What single changes did"),
        html("p", {class: "help"}, "Each program against the one that it was made from by one change, all else equal. Repairs: of a program that was none. ",
             "Shift: mean change of the rank among all programs, from \u22121 to 1, more than 0 for the better; curtailed programs count with their first trainings."),
        html("div", {class: "scroll", id: "effect-table"}, this.table()),
        html("p", {class: "tools"}, csvButtons("importance", "effects")));
  }

  draw() {
    const rows = this.keys.slice(0, this.all ? Infinity : 15);
    this.figure.replaceChildren(html("figcaption", {}, "Share of the variance by itself: ", html("span", {class: "swatch rank"}), ` rank of ${network.metric}`,
        this.hasRepairs ? [" ", html("span", {class: "swatch repair"}), " being a repair"] : null));
    const width = widthOf(this.figure), high = this.hasRepairs ? 34 : 22, gutter = Math.min(150, width * 0.3), top = 4;
    const bottom = top + rows.length * high;
    const most = Math.min(1, Math.max(0.05, ...rows.flatMap(one => [one.share + one.spread, (one.repair_share ?? 0) + (one.repair_spread ?? 0)])));
    const {place, marks} = axis([0, most], gutter + 8, width - 60, {logarithmic: false, ticks: width < 420 ? 3 : 5});
    const parts = marks.flatMap(({at, value}) => [
      svg("line", {x1: at, x2: at, y1: top, y2: bottom, class: "grid"}),
      markText(at, bottom + 15, `${shown(100 * value, 3)} %`, width),
    ]);
    rows.forEach((one, i) => {
      const y = top + i * high;
      parts.push(rowName(one.key, gutter, y + high / 2));
      const bars = [[one.share, one.spread, "rank"], ...(this.hasRepairs ? [[one.repair_share, one.repair_spread, "repair"]] : [])];
      bars.forEach(([share, spread, kind], k) => {
        const middle = y + 10 + k * 13;
        parts.push(svg("rect", {x: place(0), y: middle - 5, width: Math.max(0.5, place(share) - place(0)), height: 10, class: `bar ${kind}`},
                       svg("title", {}, `${one.key}: ${PERCENT(share)} of ${kind === "rank" ? `the rank of ${network.metric}` : "being a repair"}`)),
                   svg("line", {x1: place(Math.max(0, share - spread)), x2: place(Math.min(most, share + spread)), y1: middle, y2: middle, class: "spread"}),
                   svg("text", {x: place(Math.min(most, share + spread)) + 5, y: middle + 4, class: "quiet"}, PERCENT(share)));
      });
    });
    this.figure.append(svg("svg", {
      class: "chart", viewBox: `0 0 ${width} ${bottom + 20}`, role: "img",
      "aria-label": rows.map(one => `${one.key}: ${PERCENT(one.share)} of the rank` + (one.repair_share === null ? "" : `, ${PERCENT(one.repair_share)} of being a repair`)).join("; "),
    }, ...parts));
    if (this.keys.length > 15) {
      this.figure.append(html("button", {type: "button", onclick: () => {
        this.all = !this.all;
        this.draw();
      }}, this.all ? "Only the first 15" : `All ${this.keys.length}`));
    }
  }

  table() {
    const heads = ["Hyperparameter", "Tried", "Better", "Equal", "Worse", "No metric", "In the network", "Repairs", "Shift"];
    return html("table", {class: "stacks", "aria-label": "What single changes of each hyperparameter did"},
        html("thead", {}, html("tr", {}, heads.map((name, i) => html("th", {scope: "col", class: i > 0 && "number"}, name)))),
        html("tbody", {}, report.effects.map(one => html("tr", {},
            html("th", {scope: "row"}, html("code", {}, one.key), keyTitle(one.key) ? html("div", {class: "help"}, keyTitle(one.key)) : null),
            [one.tried, one.better, one.equal, one.worse, one.without_metric, one.kept, one.repairs, one.shift === null ? "-" : one.shift.toFixed(2)]
                .map((value, i) => html("td", {class: "number", "data-label": heads[i + 1]}, String(value)))))));
  }
}
