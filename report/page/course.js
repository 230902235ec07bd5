// How the search went: the metric of every program and the best one so far, and the number of repairs, over the evaluations.

/** A line that stays until the next step: `steps` are [x, y]. */
function stairs(steps, end) {
  const at = value => value.toFixed(1);
  return steps.map(([x, y], i) => i === 0 ? `M${at(x)} ${at(y)}` : `H${at(x)}V${at(y)}`).join("") + `H${at(end)}`;
}

/** Frame of a picture over the evaluations: {x, parts, left, right, top, bottom}. */
function evaluationFrame(width, height, y, last, {title = "evaluation"} = {}) {
  const left = 62, right = width - 16, top = 12, bottom = height - 40;
  const x = axis([1, Math.max(2, last)], left, right, {ticks: width < 420 ? 3 : 6, logarithmic: false});
  const vertical = y(bottom, top);
  const parts = vertical.marks.flatMap(({at, text}) => [
    svg("line", {x1: left, x2: right, y1: at, y2: at, class: "grid"}),
    svg("text", {x: left - 6, y: at + 4, "text-anchor": "end", class: "quiet"}, text),
  ]);
  for (const {at, text} of x.marks) parts.push(markText(at, bottom + 16, text, width));
  parts.push(svg("text", {x: (left + right) / 2, y: height - 6, "text-anchor": "middle"}, title));
  return {x: x.place, y: vertical.place, beyond: vertical.beyond, parts, left, right, top, bottom};
}

function levelLine(frame, width) {
  if (network.ground_truth === null) return [];
  const y = frame.y(network.ground_truth), above = y - frame.top > 10;  // else the text would leave the picture
  return [svg("line", {x1: frame.left, x2: frame.right, y1: y, y2: y, class: "level"}),
          svg("text", {x: frame.right, y: above ? y - 5 : y + 14, "text-anchor": "end", class: "quiet haloed"}, "level to reach")];
}

/** The place at which a value was reached, on a line of steps. */
function stepsOf(course, name, frame) {
  return course.filter(step => step[name] !== null).map(step => [frame.x(step.evaluation), frame.y(step[name])]);
}

class CourseView {
  constructor() {
    const evaluations = report.course.at(-1).evaluation;
    this.section = addSection("course", "Course of the search", "scores");
    this.last = evaluations;
    this.figures = html("div", {class: "figures"});
    this.section.append(html("p", {class: "help"}, this.text()), outcomeLegend(), this.figures,
                        html("p", {class: "tools"}, csvButtons("course")));
  }

  text() {
    const {evaluated} = report, best = report.course.at(-1).best;
    const first = report.course.find(step => step.repairs > 0);
    const reached = report.course.find(step => step.best === best);
    return [
      `${plural(this.last, "program")} in the order in which they were evaluated, the buggy one first` +
          (evaluated ? "." : "; the file holds only those of the network."),
      first && buggy && !buggy.alternative ? ` First repair: evaluation ${first.evaluation}.` : "",
      best === null ? "" : ` Best ${network.metric}: ${shown(best)}, evaluation ${reached.evaluation}.`,
    ].join("");
  }

  draw() {
    const boxes = [["metric", html("figcaption", {}, network.metric, html("span", {class: "help"}, `, ${DIRECTION}; line: best so far`))],
                   ["repairs", html("figcaption", {}, "repairs so far")]].map(([name, caption]) => [name, html("figure", {}, caption)]);
    this.figures.replaceChildren(...boxes.map(([, box]) => box));
    for (const [name, box] of boxes) (name === "metric" ? this.drawMetric(box) : this.drawRepairs(box));
  }

  drawMetric(figure) {
    const width = widthOf(figure), height = 300;
    const frame = evaluationFrame(width, height, (from, to) => metricAxis(from, to), this.last);
    const entries = outcomes.filter(program => Number.isFinite(program.value))
        .map(program => ({program, x: frame.x(program.evaluation), y: frame.y(program.value), lines: outcomeLines(program)}));
    const steps = stepsOf(report.course, "best", frame);
    const beyond = entries.filter(({program}) => frame.beyond(program.value)).length;
    const without = outcomes.length - entries.length;
    const picture = svg("svg", {class: "chart", viewBox: `0 0 ${width} ${height}`}, ...frame.parts, ...outcomeMarks(entries, entries.length > 1500 ? 2.8 : 3.4),
                        ...levelLine(frame), steps.length ? svg("path", {d: stairs(steps, frame.x(this.last)), class: "best"}) : null);
    const box = html("div", {class: "plot"}, picture);
    figure.append(box);
    const notes = [beyond && `${plural(beyond, "program")} ${beyond === 1 ? "is" : "are"} far worse and drawn at the edge`,
                   without && `${plural(without, "program")} without a metric ${without === 1 ? "is" : "are"} left out`].filter(Boolean);
    if (notes.length) figure.append(html("p", {class: "help"}, `${notes.join("; ")}.`));
    pointAt(box, picture, entries, {width, height, label: `${network.metric} of each program, in the order of evaluation`});
  }

  drawRepairs(figure) {
    const width = widthOf(figure), height = 300, most = Math.max(1, report.course.at(-1).repairs);
    const frame = evaluationFrame(width, height, (from, to) => axis([0, most], from, to, {logarithmic: false, ticks: Math.min(5, most)}), this.last);
    const steps = stepsOf(report.course, "repairs", frame);
    const entries = report.course.map(step => ({
      program: programs.get(step.id), x: frame.x(step.evaluation), y: frame.y(step.repairs),
      lines: [`evaluation ${step.evaluation}`, plural(step.repairs, "repair"), `best ${network.metric}: ${shown(step.best)}`],
    }));
    const picture = svg("svg", {class: "chart", viewBox: `0 0 ${width} ${height}`}, ...frame.parts,
                        svg("path", {d: stairs(steps, frame.x(this.last)), class: "best"}));
    const box = html("div", {class: "plot"}, picture);
    figure.append(box);
    pointAt(box, picture, entries, {width, height, label: "number of repairs, in the order of evaluation"});
  }
}
