// The programs by the values of their hyperparameters: a slice of each, and all of them as parallel coordinates.

/** Values of a hyperparameter in an order for people: numbers by size, words by name. */
function valuesOf(key) {
  const values = [...new Set(outcomes.map(program => valueOf(program, key) ?? "absent"))];
  const numbers = values.every(value => value.trim() !== "" && Number.isFinite(Number(value)));
  return values.sort((a, b) => numbers ? Number(a) - Number(b) : a < b ? -1 : 1);
}

/** Hyperparameters with more than one value, those that matter most first. */
function slicedKeys() {
  const shares = new Map((report.importance?.keys ?? []).map(one => [one.key, Math.max(one.share, one.repair_share ?? 0)]));
  const changed = new Set(outcomes.flatMap(program => program.changedKeys));
  return [...changed].sort((a, b) => (shares.get(b) ?? 0) - (shares.get(a) ?? 0) || (a < b ? -1 : 1));
}

/** A number from -1 to 1 that belongs to a program: so equal values don't hide one another. */
function jitter(id) {
  return id === 0 ? 0 : ((id * 2654435761) % 4294967296) / 2147483648 - 1;
}

class SliceView {
  constructor() {
    this.keys = slicedKeys();
    this.section = addSection("slices", "Programs by their hyperparameters", "scores");
    this.coordinates = html("figure", {class: "coordinates"});
    this.figures = html("div", {class: "figures slices"});
    this.more = html("p", {class: "tools"});
    this.section.append(
        html("p", {class: "help"}, `Every program that was evaluated and has a metric, first as a line through its values, then by each hyperparameter. Bold: the ` +
             `buggy program's value; \u25b2: the known fix's. The filter above holds here too: what doesn't match is pale.`),
        outcomeLegend(), this.coordinates, this.figures, this.more);
  }

  get entries() {
    return outcomes.filter(program => Number.isFinite(program.value));
  }

  draw() {
    this.matching = new Set(this.entries.filter(program => filter.matches(programs.get(program.id) ?? program)).map(program => program.id));
    this.drawCoordinates();
    this.drawSlices();
  }

  drawSlices() {
    const most = this.all ? this.keys.length : Math.min(6, this.keys.length);
    const boxes = this.keys.slice(0, most).map(key => html("figure", {}, html("figcaption", {}, html("code", {}, key), keyTitle(key) ? html("span", {class: "help"}, ` ${keyTitle(key)}`) : null)));
    this.figures.replaceChildren(...boxes);
    this.more.replaceChildren(...(this.keys.length <= 6 ? [] : [html("button", {type: "button", onclick: () => {
      this.all = !this.all;
      this.drawSlices();
    }}, this.all ? "Only the first 6" : `All ${this.keys.length} hyperparameters`)]));
    boxes.forEach((box, i) => this.drawSlice(box, this.keys[i]));
  }

  drawSlice(figure, key) {
    const values = valuesOf(key), width = widthOf(figure), right = width - 10, top = 8;
    const own_ = own(report.start, key) ?? "absent", fix = report.fixed ? own(report.fixed, key) ?? own_ : null;
    const labels = values.map(value => `${value === fix ? "\u25b2 " : ""}${value}`);
    const cut = text => text.length > 22 ? text.slice(0, 21) + "\u2026" : text;
    const long = Math.max(...labels.map(text => cut(text).length)) * 6.8, turned = long > (right - 56) / values.length - 4;
    // What is turned ends under its place, and begins far at its left and below it.
    const need = turned ? Math.max(...labels.map((text, i) => {
      const part = (i + 0.5) / values.length;  // of the room from `left` to `right`
      return (cut(text).length * 5.8 + 12 - part * right) / (1 - part);
    })) : 0;
    const left = Math.max(56, Math.min(0.36 * width, need)), room = (right - left) / values.length;
    const bottom = 190, height = bottom + (turned ? long * 0.65 + 26 : 30);
    const y = metricAxis(bottom, top, 4);
    const places = new Map(values.map((value, i) => [value, left + (i + 0.5) * room]));
    const parts = y.marks.flatMap(({at, text}) => [svg("line", {x1: left, x2: right, y1: at, y2: at, class: "grid"}),
                                                   svg("text", {x: left - 6, y: at + 4, "text-anchor": "end", class: "quiet"}, text)]);
    values.forEach((value, i) => {
      const x = places.get(value);
      parts.push(svg("text", turned
          ? {x, y: bottom + 14, "text-anchor": "end", transform: `rotate(-40 ${x} ${bottom + 14})`, class: value === own_ ? "own" : "quiet"}
          : {x, y: bottom + 18, "text-anchor": "middle", class: value === own_ ? "own" : "quiet"}, cut(labels[i]), svg("title", {}, labels[i])));
    });
    const entries = this.entries.map(program => ({
      program, x: places.get(valueOf(program, key) ?? "absent") + jitter(program.id) * Math.min(26, room * 0.38), y: y.place(program.value),
      lines: [`${key} ${valueOf(program, key) ?? "absent"}`, ...outcomeLines(program)],
    }));
    const match = entries.filter(({program}) => this.matching.has(program.id)), others = entries.filter(({program}) => !this.matching.has(program.id));
    const picture = svg("svg", {class: "chart", viewBox: `0 0 ${width} ${height}`}, ...parts,
                        svg("g", {class: "pale"}, outcomeMarks(others, 3)), ...outcomeMarks(match, 3.2));
    const box = html("div", {class: "plot"}, picture);
    figure.append(box);
    pointAt(box, picture, match, {width, height, label: `${network.metric} by ${key}`});
  }

  /** Lines on a canvas, which stays quick with thousands; names and values above it. Where there is no room side by side, axes lie one
   * below the other. */
  drawCoordinates() {
    const figure = this.coordinates;
    figure.replaceChildren();
    if (this.keys.length < 2) return;
    const caption = figure.appendChild(html("figcaption", {}, "Parallel coordinates"));  // what is empty has no width
    const width = widthOf(figure), narrow = width < 620;
    const count = Math.min(this.keys.length, narrow ? 7 : Math.max(2, Math.floor(width / 118) - 1));
    const keys = this.keys.slice(0, count), axes = [...keys.map(key => ({key, values: valuesOf(key)})), {key: null}];
    caption.append(html("span", {class: "help"}, count < this.keys.length ? `, the ${count} of ${this.keys.length} hyperparameters that matter most` : "",
        `; last axis: ${network.metric}`));
    const height = narrow ? axes.length * 66 + 20 : 340;
    const along = narrow ? [64, width - 64] : [44, height - 16];       // where values lie
    const across = narrow ? [34, height - 34] : [50, width - 70];      // where axes lie
    const scale = metricAxis(narrow ? along[0] : along[1], narrow ? along[1] : along[0], narrow ? 3 : 5);
    const place = (axis_, program) => {
      if (axis_.key === null) return scale.place(program.value);
      const at = axis_.values.indexOf(valueOf(program, axis_.key) ?? "absent"), n = axis_.values.length;
      const middle = n === 1 ? 0.5 : at / (n - 1), spread = Math.min(0.025, 0.3 / n) * jitter(program.id);
      const part = middle + spread;
      return narrow ? along[0] + part * (along[1] - along[0]) : along[1] - part * (along[1] - along[0]);
    };
    const positions = axes.map((_, i) => across[0] + i / (axes.length - 1) * (across[1] - across[0]));
    const canvas = html("canvas", {"aria-hidden": "true"}), ratio = window.devicePixelRatio || 1;
    [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const colours = graph.colours;
    const styles = {rejected: [colours.quiet, 0.16, 0.8], neutral: [colours.text, 0.4, 0.9], on_par: [colours["on-par"], 0.85, 1.4],
                    significantly_better: [colours.better, 0.85, 1.4], buggy: [colours.text, 1, 2.6]};
    for (const [role, [colour, opacity, thick]] of Object.entries(styles)) {
      for (const matches of [false, true]) {
        const those = this.entries.filter(program => program.role === role && this.matching.has(program.id) === matches);
        context.strokeStyle = colour;
        context.globalAlpha = (matches ? opacity : 0.04) * Math.min(1, Math.max(0.2, 400 / Math.max(1, those.length)));
        context.lineWidth = thick;
        context.beginPath();
        for (const program of those) {
          axes.forEach((one, i) => {
            const at = place(one, program);
            const [x, y] = narrow ? [at, positions[i]] : [positions[i], at];
            if (i === 0) context.moveTo(x, y);
            else context.lineTo(x, y);
          });
        }
        context.stroke();
      }
    }
    const nameRoom = positions[1] - positions[0] - 12, most = Math.floor(nameRoom / 7.8);
    const cutName = name => name.length > most ? `${name.slice(0, most - 1)}\u2026` : name;
    const parts = axes.flatMap((one, i) => {
      const at = positions[i], name = one.key ?? network.metric;
      const line = narrow ? svg("line", {x1: along[0], x2: along[1], y1: at, y2: at, class: "axis"}) : svg("line", {x1: at, x2: at, y1: along[0], y2: along[1], class: "axis"});
      const head = narrow ? svg("text", {x: 2, y: at - 14, class: "name"}, name) : svg("text", {x: Math.max(4 * cutName(name).length, Math.min(width - 4 * cutName(name).length, at)), y: 14, "text-anchor": "middle", class: "name"}, cutName(name), svg("title", {}, name));
      const own_ = one.key === null ? null : own(report.start, one.key) ?? "absent";
      const all = one.key === null ? scale.marks.map(({at: place_, text}) => [text, place_, false])
          : one.values.map((value, k) => {
            const part = one.values.length === 1 ? 0.5 : k / (one.values.length - 1);
            return [value, narrow ? along[0] + part * (along[1] - along[0]) : along[1] - part * (along[1] - along[0]), value === own_];
          });
      const shortest = text => text.length > (narrow ? 11 : 17) ? `${text.slice(0, narrow ? 10 : 16)}\u2026` : text;
      // Where there is no room for all values, the buggy program's comes first.
      const texts = [];
      for (const entry of [...all].sort((x, y) => y[2] - x[2])) {
        const free = other => Math.abs(other[1] - entry[1]) >= (narrow ? 3.3 * (shortest(entry[0]).length + shortest(other[0]).length) + 6 : 12);
        if (texts.every(free)) texts.push(entry);
      }
      return [line, head, ...texts.map(([text, place_, isOwn]) => narrow
          ? svg("text", {x: place_, y: at + 16, "text-anchor": "middle", class: `value${isOwn ? " own" : ""}`}, shortest(text), svg("title", {}, text))
          : svg("text", {x: at + 5, y: place_ + 4, class: `value${isOwn ? " own" : ""}`}, shortest(text), svg("title", {}, text)))];
    });
    canvas.style.aspectRatio = `${width} / ${height}`;
    figure.append(html("div", {class: "plot"}, canvas, svg("svg", {
      class: "chart over", viewBox: `0 0 ${width} ${height}`, role: "img",
      "aria-label": `Parallel coordinates of ${plural(this.matching.size, "program")}: ${axes.map(one => one.key ?? network.metric).join(", ")}. The table of programs and that of rejected ones hold the same values.`,
    }, ...parts)));
  }
}
