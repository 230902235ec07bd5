// Small pictures in SVG, drawn for the width that they get.

/** A scale from numbers to pixels with round ticks. Decimal logarithms where all values are positive and two powers
 * of ten apart. */
function axis(values, from, to, {logarithmic = null, ticks = 5} = {}) {
  let low = Math.min(...values), high = Math.max(...values);
  const isLog = logarithmic ?? (low > 0 && high / low >= 100);
  const forth = isLog ? Math.log10 : value => value, back = isLog ? value => 10 ** value : value => value;
  [low, high] = [forth(low), forth(high)];
  if (!(high > low)) [low, high] = [low - (Math.abs(low) * 0.1 || 0.5), high + (Math.abs(high) * 0.1 || 0.5)];
  let step = isLog ? Math.max(1, Math.ceil((high - low) / ticks)) : 10 ** Math.floor(Math.log10((high - low) / ticks));
  if (!isLog) step *= [1, 2, 5, 10].find(factor => (high - low) / (step * factor) <= ticks) ?? 10;
  const first = Math.floor(low / step + 1e-9) * step, last = Math.ceil(high / step - 1e-9) * step;
  const place = value => from + (forth(value) - first) / (last - first) * (to - from);
  const marks = [];
  for (let i = 0; first + i * step <= last + step * 1e-6; ++i) {
    const value = back(first + i * step);
    marks.push({value, at: place(value), text: isLog && (value >= 1e5 || value < 1e-4) ? value.toExponential(0) : shown(value, 6)});
  }
  return {place, marks};
}

function widthOf(element, least = 260) {
  return Math.max(least, Math.floor(element.clientWidth || 0));
}

/** The name of a row, cut to the room at its left. */
function rowName(name, x, y) {
  const most = Math.floor(x / 7);
  return svg("text", {x, y: y + 4, "text-anchor": "end"}, name.length > most ? name.slice(0, most - 1) + "\u2026" : name,
             svg("title", {}, name));
}

/** Every replica's metric as a dot, their mean as a stroke. `rows`: {name, values, role, onclick}. Equal dots are piled
 * up. */
function stripPlot(element, rows, level) {
  const width = widthOf(element), high = 26, top = 18;
  const numbers = rows.flatMap(row => row.values.filter(value => value !== null));
  if (level !== null) numbers.push(level);
  if (numbers.length === 0) return element.append(html("p", {class: "help"}, "No replica has a metric."));
  const gutter = Math.min(340, width * 0.33), bottom = top + rows.length * high;
  const {place, marks} = axis(numbers, gutter + 8, width - 14, {ticks: width < 420 ? 3 : 5});
  const parts = marks.flatMap(({at, text}) => [
    svg("line", {x1: at, x2: at, y1: top, y2: bottom, class: "grid"}),
    svg("text", {x: at, y: bottom + 15, "text-anchor": "middle", class: "quiet"}, text),
  ]);
  if (level !== null) {
    const at = place(level);
    parts.push(svg("line", {x1: at, x2: at, y1: top - 4, y2: bottom, class: "level"}, svg("title", {}, `level to reach: ${shown(level)}`)));
    parts.push(svg("text", {x: at, y: 10, "text-anchor": at > width - 60 ? "end" : "middle", class: "quiet"}, "level to reach"));
  }
  rows.forEach((row, i) => {
    const y = top + (i + 0.5) * high;
    parts.push(rowName(row.name, gutter - 4, y));
    const finite = row.values.filter(value => value !== null);
    const piles = new Map();
    for (const value of finite) {
      const x = place(value), slot = Math.round(x / 5);
      const pile = piles.get(slot) ?? 0;
      piles.set(slot, pile + 1);
      const lift = (pile % 2 ? 1 : -1) * Math.ceil(pile / 2) * Math.min(2.4, 18 / Math.max(1, finite.length));
      parts.push(svgShape(row.role, x, y + lift, 3.6, svg("title", {}, shown(value, 6))));
    }
    if (finite.length) {
      const mean = place(finite.reduce((sum, value) => sum + value, 0) / finite.length);
      parts.push(svg("line", {x1: mean, x2: mean, y1: y - 10, y2: y + 10, class: "mean"}));
    }
    if (finite.length < row.values.length) {
      parts.push(svg("text", {x: width - 8, y: y + 4, "text-anchor": "end", class: "quiet"},
                     `${row.values.length - finite.length} of ${row.values.length} no number`));
    }
  });
  element.append(svg("svg", {
    class: "chart", viewBox: `0 0 ${width} ${bottom + 20}`, role: "img",
    "aria-label": rows.map(row => `${row.name}: ${row.values.map(value => shown(value)).join(", ")}`).join("; "),
  }, ...parts), html("p", {class: "help"},
                     `${network.metric} of each training, stroke: mean; ${DIRECTION}`));
}

/** Scores before and after the analysis, a line between them. `rows`: {name, before, after} in [0, 1]. */
function dumbbells(element, rows, title) {
  const width = widthOf(element), high = 30, gutter = Math.min(170, width * 0.35), top = 6, bottom = top + rows.length * high;
  const {place, marks} = axis([0, 1], gutter + 8, width - 14);
  const parts = marks.flatMap(({at, text}) => [
    svg("line", {x1: at, x2: at, y1: top, y2: bottom, class: "grid"}),
    svg("text", {x: at, y: bottom + 15, "text-anchor": "middle", class: "quiet"}, text),
  ]);
  rows.forEach((row, i) => {
    const y = top + (i + 0.5) * high;
    parts.push(rowName(row.name, gutter - 4, y));
    parts.push(svg("line", {x1: place(row.before), x2: place(row.after), y1: y, y2: y, class: "between"}));
    parts.push(svg("circle", {cx: place(row.after), cy: y, r: 6, class: "after"}, svg("title", {}, `after: ${shown(row.after)}`)));
    parts.push(svg("circle", {cx: place(row.before), cy: y, r: 5, class: "before"}, svg("title", {}, `before: ${shown(row.before)}`)));
  });
  parts.push(svg("text", {x: (gutter + width) / 2, y: bottom + 32, "text-anchor": "middle"}, title));
  element.append(svg("svg", {
    class: "chart", viewBox: `0 0 ${width} ${bottom + 40}`, role: "img",
    "aria-label": `${title}: ` + rows.map(row => `${row.name} ${shown(row.before)} before, ${shown(row.after)} after`).join("; "),
  }, ...parts));
}

/** Seconds of one localisation (logarithmic) against F3. `points`: {tool, seconds, before, after}. */
function timeChart(element, points) {
  const width = widthOf(element), height = 320, left = 42, bottom = height - 42;
  const least = 1e-4;  // shorter times are drawn here
  const time = axis(points.map(point => Math.max(least, point.seconds)), left, width - 20, {logarithmic: true});
  const f = axis([0, 1], bottom, 14);
  const parts = [];
  for (const {at, text} of time.marks) {
    parts.push(svg("line", {x1: at, x2: at, y1: 14, y2: bottom, class: "grid"}));
    parts.push(svg("text", {x: at, y: bottom + 15, "text-anchor": "middle", class: "quiet"}, text));
  }
  for (const {at, text} of f.marks) {
    parts.push(svg("line", {x1: left, x2: width - 20, y1: at, y2: at, class: "grid"}));
    parts.push(svg("text", {x: left - 6, y: at + 4, "text-anchor": "end", class: "quiet"}, text));
  }
  const taken = [];  // names give way to one another
  for (const point of points) {
    const x = time.place(Math.max(least, point.seconds)), [before, after] = [f.place(point.before), f.place(point.after)];
    parts.push(svg("line", {x1: x, x2: x, y1: before, y2: after, class: "between"}));
    parts.push(svg("circle", {cx: x, cy: after, r: 6, class: "after"}, svg("title", {}, `${point.tool}: ${shown(point.seconds)} s, F3 after ${shown(point.after)}`)));
    parts.push(svg("circle", {cx: x, cy: before, r: 5, class: "before"}, svg("title", {}, `${point.tool}: ${shown(point.seconds)} s, F3 before ${shown(point.before)}`)));
    const end = x > width * 0.7, long = point.tool.length * 6.6;
    const box = y => ({x0: end ? x - 10 - long : x + 10, x1: end ? x - 10 : x + 10 + long, y});
    let y = after;
    const free = candidate => taken.every(other => other.x1 < candidate.x0 || candidate.x1 < other.x0 || Math.abs(other.y - candidate.y) >= 13);
    for (const step of [0, 14, -14, 28, -28, 42, -42, 56]) {
      if (!free(box(after + step)) || after + step < 10 || after + step > bottom - 4) continue;
      y = after + step;
      break;
    }
    taken.push(box(y));
    parts.push(svg("text", {x: end ? x - 10 : x + 10, y: y + 4, "text-anchor": end ? "end" : "start"}, point.tool));
  }
  parts.push(svg("text", {x: (left + width) / 2, y: height - 6, "text-anchor": "middle"}, "seconds of one localisation"));
  parts.push(svg("text", {x: 12, y: bottom / 2, "text-anchor": "middle", transform: `rotate(-90 12 ${bottom / 2})`}, "F3"));
  element.append(svg("svg", {
    class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": points.map(point => `${point.tool}: ${shown(point.seconds)} seconds, F3 ${shown(point.before)} before, ${shown(point.after)} after`).join("; "),
  }, ...parts));
}
