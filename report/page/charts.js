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

/** The number at a mark of an axis from left to right. At the ends of a picture it moves inwards. */
function markText(at, y, text, width) {
  const half = text.length * 3.9;
  return svg("text", {x: Math.max(half, Math.min(width - half, at)), y, "text-anchor": "middle", class: "quiet"}, text);
}

/** Moves labels {x, y} that lie over one another apart, down or, where they would leave the picture, up. */
function apart(labels, room, last) {
  labels.sort((a, b) => a.y - b.y);
  const near = (one, others) => others.filter(other => Math.abs(other.x - one.x) < room);
  labels.forEach((one, i) => { one.y = Math.max(one.y, ...near(one, labels.slice(0, i)).map(other => other.y + room)); });
  for (let i = labels.length - 1; i >= 0; --i) labels[i].y = Math.min(labels[i].y, last, ...near(labels[i], labels.slice(i + 1)).map(other => other.y - room));
  return labels;
}

function widthOf(element, least = 260) {
  return Math.max(least, Math.floor(element.clientWidth || 0));
}

/** The name of a row, cut to the room that it has, which ends at x unless it starts there. */
function rowName(name, x, y, room = x, anchor = "end") {
  const most = Math.floor(room / 7);
  return svg("text", {x, y: y + 4, "text-anchor": anchor, class: anchor === "start" && "over"}, name.length > most ? name.slice(0, most - 1) + "\u2026" : name,
             svg("title", {}, name));
}

/** Every replica's metric as a dot, their mean as a stroke. `rows`: {name, values, role, onclick}. Equal dots are piled
 * up. */
function stripPlot(element, rows, level) {
  // In a narrow place names stand above their rows: beside them they would be cut to nothing.
  const width = widthOf(element), beside = Math.min(340, width * 0.33);
  const narrow = width < 900 && rows.some(row => row.name.length * 7 > beside);
  const high = narrow ? 42 : 26, lift0 = narrow ? 8 : 0, top = 18;
  const numbers = rows.flatMap(row => row.values.filter(value => value !== null));
  if (level !== null) numbers.push(level);
  if (numbers.length === 0) return element.append(html("p", {class: "help"}, "No replica has a metric."));
  const gutter = narrow ? 0 : beside, bottom = top + rows.length * high;
  const {place, marks} = axis(numbers, gutter + 8, width - 14, {ticks: width < 420 ? 3 : 5});
  const parts = marks.flatMap(({at, text}) => [
    svg("line", {x1: at, x2: at, y1: top, y2: bottom, class: "grid"}),
    markText(at, bottom + 15, text, width),
  ]);
  if (level !== null) {
    const at = place(level);
    parts.push(svg("line", {x1: at, x2: at, y1: top - 4, y2: bottom, class: "level"}, svg("title", {}, `level to reach: ${shown(level)}`)));
    parts.push(svg("text", {x: at, y: 10, "text-anchor": at > width - 60 ? "end" : "middle", class: "quiet"}, "level to reach"));
  }
  rows.forEach((row, i) => {
    const y = top + (i + 0.5) * high + lift0;
    parts.push(narrow ? rowName(row.name, 0, y - 22, width, "start") : rowName(row.name, gutter - 4, y));
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
    markText(at, bottom + 15, text, width),
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
    parts.push(markText(at, bottom + 15, text, width));
  }
  for (const {at, text} of f.marks) {
    parts.push(svg("line", {x1: left, x2: width - 20, y1: at, y2: at, class: "grid"}));
    parts.push(svg("text", {x: left - 6, y: at + 4, "text-anchor": "end", class: "quiet"}, text));
  }
  // Names give way to one another, and to the marks of all tools.
  const marks = points.flatMap(point => {
    const x = time.place(Math.max(least, point.seconds)), [before, after] = [f.place(point.before), f.place(point.after)];
    return [{x0: x - 7, x1: x + 7, y0: before - 6, y1: before + 6}, {x0: x - 7, x1: x + 7, y0: after - 7, y1: after + 7},
            {x0: x - 2, x1: x + 2, y0: Math.min(before, after), y1: Math.max(before, after)}];
  });
  const taken = [...marks];
  for (const point of points) {
    const x = time.place(Math.max(least, point.seconds)), [before, after] = [f.place(point.before), f.place(point.after)];
    parts.push(svg("line", {x1: x, x2: x, y1: before, y2: after, class: "between"}));
    parts.push(svg("circle", {cx: x, cy: after, r: 6, class: "after"}, svg("title", {}, `${point.tool}: ${shown(point.seconds)} s, F3 after ${shown(point.after)}`)));
    parts.push(svg("circle", {cx: x, cy: before, r: 5, class: "before"}, svg("title", {}, `${point.tool}: ${shown(point.seconds)} s, F3 before ${shown(point.before)}`)));
    const long = point.tool.length * 6.8;
    const box = (start, y) => ({x0: start, x1: start + long, y0: y - 6, y1: y + 6, y});
    const inside = ({x0, x1, y0, y1}) => x0 >= left && x1 <= width && y0 >= 2 && y1 <= bottom;
    const free = ({x0, x1, y0, y1}) => inside({x0, x1, y0, y1}) && taken.every(other => other.x1 < x0 || x1 < other.x0 || other.y1 <= y0 || y1 <= other.y0);
    const places = [0, 14, -14, 28, -28, 42, -42, 56, -56, 70].flatMap(step => [box(x + 10, after + step), box(x - 10 - long, after + step),
                                                                                  box(Math.min(Math.max(left, x - long / 2), width - long), after + step)]);
    const place = places.find(free) ?? places.find(inside) ?? places[2];
    taken.push(place);
    parts.push(svg("text", {x: place.x0, y: place.y + 4}, point.tool));
  }
  parts.push(svg("text", {x: (left + width) / 2, y: height - 6, "text-anchor": "middle"}, "seconds of one localisation"));
  parts.push(svg("text", {x: 12, y: bottom / 2, "text-anchor": "middle", transform: `rotate(-90 12 ${bottom / 2})`}, "F3"));
  element.append(svg("svg", {
    class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": points.map(point => `${point.tool}: ${shown(point.seconds)} seconds, F3 ${shown(point.before)} before, ${shown(point.after)} after`).join("; "),
  }, ...parts));
}
