// Training curves of the selected program beside those of the buggy one and the known fix.

/** A value of each epoch that some replica has reached: the mean over those, null where one of them isn't finite. */
function meanCurve(replicas, name, count) {
  return Array.from({length: count}, (_, i) => {
    const values = replicas.map(one => one.series[name]?.[i]).filter(value => value !== undefined);
    return mean(values);
  });
}

/** At the nearest epoch that is kept. */
function valueAt({epochs, values}, epoch) {
  let best = 0;
  epochs.forEach((one, i) => { if (Math.abs(one - epoch) < Math.abs(epochs[best] - epoch)) best = i; });
  return values[best];
}

class Curves {
  constructor() {
    this.hidden = new Set();  // keys of programs and rows that are switched off
    this.epoch = null;        // that is looked at
    this.ofNode = new Map();
    for (const one of report.curves.programs) {
      const title = one.fixed ? "known fix" : one.node === 0 ? "buggy program" : `program ${one.node}`;
      const role = one.fixed ? "fixed" : one.node === 0 ? "buggy" : "chosen";
      const entry = {...one, title, role, mark: one.fixed ? "fixed" : programs.get(one.node).role};
      if (one.fixed) this.fixed = entry;
      if (one.node !== null) this.ofNode.set(one.node, entry);
    }
    this.names = [...new Set(report.curves.programs.flatMap(one => one.replicas.flatMap(replica => Object.keys(replica.series))))]
        .filter(name => !name.startsWith("val_"));
    byName("curves").hidden = false;
    byName("curves-help").textContent = this.help();
    const replicas = Math.max(...report.curves.programs.map(one => one.replicas.length));
    this.parts = [["training", "training rows"], ["validation", "validation rows"], ["replicas", "each training"]]
        .filter(([key]) => replicas > 1 || key !== "replicas");
    if (replicas > 4) this.hidden.add("replicas");
  }

  help() {
    const {compared, same, searched_with, trained_with} = report.curves;
    const drawing = "Strong lines are means over the trainings, dashed ones of the validation rows, which are the test rows " +
        "where a program has no validation split. ";
    if (compared === 0) return `${drawing}The search holds no metric to compare with.`;
    if (same === compared) return `${drawing}All ${plural(compared, "metric")} at the end of these trainings are those of the search, bit for bit.`;
    return `${drawing}${compared - same} of ${plural(compared, "training")} ended with another metric than in the search` +
        (searched_with === trained_with ? "." : `, which ran with: ${searched_with}. This report with: ${trained_with}.`);
  }

  /** The programs that are drawn beside each other. */
  shown(program) {
    const own = program && this.ofNode.get(program.id);
    return [...new Set([this.ofNode.get(0), this.fixed, own].filter(Boolean))];
  }

  show(program) {
    this.program = program;
    byName("curves-note").replaceChildren(
        program && !this.ofNode.has(program.id) ? `There are no curves of program ${program.id}, but of ` : "Curves of ",
        ...[...this.ofNode.keys()].map(id => html("button", {
          type: "button", "aria-pressed": String(id === program?.id), onclick: () => select(programs.get(id)),
        }, id === 0 ? "buggy program" : `program ${id}`)));
    this.renderLegend();
    this.draw();
  }

  renderLegend() {
    const entries = [...this.shown(this.program).map(one => [one.role, one.title, svgShape(one.mark, 22, 7, 4)]),
                     ...this.parts.map(([key, text]) => [key, text, null])];
    byName("curves-legend").replaceChildren(html("legend", {}, "Show"), ...entries.map(([key, text, shape]) =>
      html("button", {type: "button", "aria-pressed": String(!this.hidden.has(key)), "data-key": key, onclick: event => {
        if (!this.hidden.delete(key)) this.hidden.add(key);
        event.currentTarget.setAttribute("aria-pressed", String(!this.hidden.has(key)));
        this.draw();
      }}, svg("svg", {class: "sample", viewBox: "0 0 44 14", "aria-hidden": "true"},
              svg("line", {x1: 2, x2: 42, y1: 7, y2: 7, class: `curve ${key}`}), shape),
          text)));
  }

  draw() {
    const figures = byName("curves-figures");
    // Both first: a picture is drawn for the room that it has.
    const boxes = this.names.map(name => html("figure", {}, html("figcaption", {}, name, name === "loss" && this.losses() > 1
        ? html("span", {class: "help"}, " of different loss functions, which can't be compared by their numbers") : null,
        name === network.metric ? html("span", {class: "help"}, `, ${DIRECTION}`) : null)));
    figures.replaceChildren(...boxes);
    this.plots = boxes.map((box, i) => this.plot(box, this.names[i])).filter(Boolean);
    this.look(this.epoch);
  }

  /** How many loss functions the programs that are drawn have. */
  losses() {
    const key = Object.keys(report.keys).find(name => own(report.keys, name).kind === "loss");
    if (key === undefined) return 1;
    return new Set(this.shown(this.program).map(({fixed, node}) => {
      const changes = fixed ? report.fixed : programs.get(node).changes;
      return own(changes, key) ?? own(report.start, key);
    })).size;
  }

  /** The lines of one series: {program, part, values, epochs, replica}, those of the means without replica. */
  lines(name) {
    const lines = [];
    for (const program of this.shown(this.program)) {
      if (this.hidden.has(program.role)) continue;
      for (const [part, key] of [["training", name], ["validation", `val_${name}`]]) {
        if (this.hidden.has(part) || !program.replicas.some(one => one.series[key])) continue;
        const about = {program, part, epochs: program.epochs};
        if (program.replicas.length > 1 && !this.hidden.has("replicas")) {
          for (const one of program.replicas) lines.push({...about, values: one.series[key] ?? [], replica: one.replica});
        }
        lines.push({...about, values: meanCurve(program.replicas, key, program.epochs.length)});
      }
    }
    return lines;
  }

  plot(element, name) {
    const lines = this.lines(name);
    const finite = lines.flatMap(line => line.values.filter(value => value !== null));
    if (finite.length === 0) {
      element.append(html("p", {class: "help"}, "Nothing to draw: no value is finite, or all is switched off."));
      return null;
    }
    const width = widthOf(element), height = 260, left = 62, top = 10, right = width - 16, bottom = height - 40;
    const last = Math.max(...lines.flatMap(line => line.epochs));
    const x = axis([1, last], left, right, {ticks: width < 420 ? 3 : 6, logarithmic: false});
    const y = axis(finite, bottom, top);
    const parts = [];
    for (const {at, text} of y.marks) {
      parts.push(svg("line", {x1: left, x2: right, y1: at, y2: at, class: "grid"}));
      parts.push(svg("text", {x: left - 6, y: at + 4, "text-anchor": "end", class: "quiet"}, text));
    }
    for (const {at, text} of x.marks) parts.push(markText(at, bottom + 16, text, width));
    parts.push(svg("text", {x: (left + right) / 2, y: height - 6, "text-anchor": "middle"}, "epoch"));
    for (const line of lines) {
      let path = "", pen = "M";
      line.values.forEach((value, i) => {
        if (value === null || !Number.isFinite(y.place(value))) {
          pen = "M";
          return;
        }
        path += `${pen}${x.place(line.epochs[i]).toFixed(1)} ${y.place(value).toFixed(1)}`;
        pen = "L";
      });
      const kind = line.replica === undefined ? "" : " one";
      parts.push(svg("path", {d: path, class: `curve ${line.program.role}${line.part === "validation" ? " validation" : ""}${kind}`}));
    }
    const means = lines.filter(line => line.replica === undefined);
    for (const line of means) {  // a shape at the end tells programs apart without colours
      const end = line.values.findLastIndex(value => value !== null);
      if (end < 0) continue;
      parts.push(svgShape(line.program.mark, x.place(line.epochs[end]), y.place(line.values[end]), 3.6));
    }
    const cross = svg("g", {class: "cross"});
    const picture = svg("svg", {
      class: "chart curves", viewBox: `0 0 ${width} ${height}`, tabindex: "0", role: "slider", "aria-label": `${name} by epoch`,
      "aria-valuemin": 1, "aria-valuemax": last, "aria-valuenow": last, "aria-orientation": "horizontal",
    }, ...parts, cross);
    const tip = html("div", {class: "tip", hidden: true});
    element.append(html("div", {class: "plot"}, picture, tip));
    const plot = {name, picture, cross, tip, means, x, y, last, top, bottom, width};
    const epochs = [...new Set(means.flatMap(line => line.epochs))].sort((a, b) => a - b);
    const nearest = at => epochs.reduce((best, epoch) => Math.abs(x.place(epoch) - at) < Math.abs(x.place(best) - at) ? epoch : best);
    picture.addEventListener("pointermove", event => {
      const box = picture.getBoundingClientRect();
      this.look(nearest((event.clientX - box.left) * width / box.width));
    });
    picture.addEventListener("pointerleave", () => this.look(null));
    picture.addEventListener("focus", () => this.look(this.epoch ?? epochs.at(-1)));
    picture.addEventListener("blur", () => this.look(null));
    picture.addEventListener("keydown", event => {
      const at = epochs.indexOf(nearest(x.place(this.epoch ?? last)));
      const far = Math.max(1, Math.round(epochs.length / 10));
      const step = {ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: far, PageDown: -far, Home: -epochs.length, End: epochs.length}[event.key];
      if (event.key === "Escape") this.look(null);
      if (step === undefined) return;
      this.look(epochs[Math.min(epochs.length - 1, Math.max(0, at + step))]);
      event.preventDefault();
    });
    return plot;
  }

  /** Shows what all plots have at an epoch; null: nothing. */
  look(epoch) {
    this.epoch = epoch;
    for (const {name, picture, cross, tip, means, x, y, top, bottom, width} of this.plots) {
      cross.replaceChildren();
      tip.hidden = epoch === null;
      if (epoch === null) continue;
      const at = x.place(epoch);
      const values = means.filter(line => epoch <= line.epochs.at(-1)).map(line => ({line, value: valueAt(line, epoch)}));
      cross.append(svg("line", {x1: at, x2: at, y1: top, y2: bottom, class: "cursor"}),
                   ...values.filter(({value}) => value !== null).map(({line, value}) => svgShape(line.program.mark, at, y.place(value), 4.4)));
      const rows = [...new Set(values.map(({line}) => line.program))].map(program => {
        const texts = values.filter(({line}) => line.program === program)
            .map(({line, value}) => `${line.part === "validation" ? "validation " : ""}${shown(value)}`);
        return {program, text: `${program.title}: ${texts.join(", ")}`};
      });
      tip.replaceChildren(html("div", {}, `epoch ${epoch}, ${name}`),
                          ...rows.map(({program, text}) => html("div", {}, mark(program.mark), text)));
      tip.style.insetInlineStart = at < width / 2 ? `${at / width * 100 + 2}%` : "auto";
      tip.style.insetInlineEnd = at < width / 2 ? "auto" : `${(1 - at / width) * 100 + 2}%`;
      picture.setAttribute("aria-valuenow", epoch);
      picture.setAttribute("aria-valuetext", [`epoch ${epoch}`, ...rows.map(({text}) => text)].join("; "));
    }
  }
}
