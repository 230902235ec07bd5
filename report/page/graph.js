// The network as a picture: layered by distance from the buggy program, on a canvas, which stays fluid with thousands of
// programs. Whatever it shows is in the table, too.

const ROW = 24;      // height of a program's place, in units of the layout
const GAP = 210;     // least space between columns: room for a link's label
const PLACE = 24;    // least width of a place where childless programs of a column stand side by side
const RADIUS = 6.5;
const LEGIBLE = 11.5;  // pixels that a line of text needs

/** Places of the programs: x by distance from the buggy program, y so that the shortest paths make a tree without
 * crossings. Where a column has many childless programs, those of one parent stand side by side. What is higher than wide
 * is stretched towards `aspect`, width over height. */
function layOut(drawn, aspect) {
  const children = new Map(), roots = [], leaves = [];
  for (const program of drawn) children.set(program, []);
  for (const program of drawn) {
    const parent = program.via?.source;
    if (parent && drawn.has(parent)) children.get(parent).push(program);
    else roots.push(program);
  }
  for (const program of drawn) {
    if (children.get(program).length === 0) leaves[program.level] = (leaves[program.level] ?? 0) + 1;
  }
  const rows = Math.max(44, 1.5 * Math.sqrt(drawn.size));
  let levels = 1;
  for (const program of drawn) levels = Math.max(levels, program.level + 1);
  const sideBySide = Array.from({length: levels}, (_, level) => Math.min(12, Math.ceil((leaves[level] ?? 0) / rows) || 1));
  const left = [0];
  for (let level = 1; level < levels; ++level) left[level] = left[level - 1] + (sideBySide[level - 1] - 1) * PLACE + GAP;

  const places = new Map();
  const put = (program, top) => {  // returns the height taken
    const own = children.get(program);
    const childless = own.filter(child => children.get(child).length === 0);
    const columns = sideBySide[program.level + 1] ?? 1;
    childless.forEach((child, i) => places.set(child, {
      x: left[child.level] + (i % columns) * PLACE,
      y: top + (Math.floor(i / columns) + 0.5) * ROW,
    }));
    let height = Math.ceil(childless.length / columns) * ROW;
    for (const child of own) if (children.get(child).length) height += put(child, top + height);
    height = Math.max(height, ROW);
    places.set(program, {x: left[program.level], y: top + height / 2});
    return height;
  };
  let top = 0;
  for (const program of roots.sort((a, b) => a.level - b.level || a.id - b.id)) top += put(program, top);
  const width = left[levels - 1] + (sideBySide[levels - 1] - 1) * PLACE;
  const stretch = Math.min(8, Math.max(1, aspect * top / Math.max(1, width)));
  for (const place of places.values()) place.x *= stretch;
  return {places, sideBySide, gap: GAP * stretch, place: PLACE * stretch};
}

/** What labels of one picture must not cover: boxes {x0, x1, y0, y1}, by the rows that they lie in. */
class Taken {
  constructor() {
    this.rows = new Map();
  }
  rowsOf({y0, y1}) {
    const rows = [];
    for (let row = Math.floor(y0 / 16); row <= Math.floor(y1 / 16); ++row) rows.push(row);
    return rows;
  }
  add(box, isProgram = false) {
    for (const row of this.rowsOf(box)) {
      if (!this.rows.has(row)) this.rows.set(row, []);
      this.rows.get(row).push({...box, isProgram});
    }
  }
  /** `overPrograms`: labels alone count. */
  hits(box, overPrograms = false) {
    return this.rowsOf(box).some(row => this.rows.get(row)?.some(other => !(overPrograms && other.isProgram) &&
        box.x0 < other.x1 && other.x0 < box.x1 && box.y0 < other.y1 && other.y0 < box.y1));
  }
}

class Graph {
  /** `onSelect(program)`; `describe(program)`: the text of its tool tip. */
  constructor(canvas, tooltip, onSelect, describe) {
    this.canvas = canvas;
    this.tooltip = tooltip;
    this.onSelect = onSelect;
    this.describe = describe;
    this.context = canvas.getContext("2d");
    this.drawn = new Set();
    this.matching = new Set();
    this.selected = null;
    this.over = null;
    this.view = {scale: 1, x: 0, y: 0};
    this.touched = false;
    this.listen();
    new ResizeObserver(() => this.resize()).observe(canvas);
    this.readColours();
    this.resize();
  }

  show({drawn, matching}) {
    this.drawn = drawn;
    this.matching = matching;
    this.layout = layOut(drawn, this.height ? (this.width - 80) / this.height : 1);
    this.places = this.layout.places;
    this.lines = new Path2D();
    for (const program of drawn) {
      for (const edge of program.out) if (drawn.has(edge.target)) this.trace(this.lines, edge);
    }
    this.touched = false;
    this.fit();
  }

  select(program) {
    this.selected = program;
    this.path = new Set(program ? pathTo(program) : []);
    if (program) this.reveal(program);
    this.redraw();
  }

  resize() {
    const {width, height} = this.canvas.getBoundingClientRect();
    const ratio = window.devicePixelRatio || 1;
    [this.width, this.height, this.ratio] = [width, height, ratio];
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    if (!this.touched) this.fit();
    this.draw();  // at once: a new size has emptied it
  }

  /** Custom properties as colours that a canvas takes, whatever the theme. */
  readColours() {
    const probe = document.body.appendChild(html("span", {hidden: true}));
    this.colours = {};
    for (const name of ["ground", "text", "quiet", "edge", "path", "accent", "outline", "buggy", "better", "on-par", "neutral"]) {
      probe.style.color = `var(--${name})`;
      this.colours[name] = getComputedStyle(probe).color;
    }
    probe.remove();
    this.font = getComputedStyle(document.documentElement).fontFamily;
    this.redraw();
  }

  // --- view ---

  fit() {
    if (!this.places?.size || !this.width) return;
    let [x0, y0, x1, y1] = [Infinity, Infinity, -Infinity, -Infinity];
    for (const {x, y} of this.places.values()) {
      [x0, y0, x1, y1] = [Math.min(x0, x), Math.min(y0, y), Math.max(x1, x), Math.max(y1, y)];
    }
    const [before, behind, above] = [30, 30, 30];
    const [wide, high] = [Math.max(1, x1 - x0), Math.max(1, y1 - y0)];
    let scale = Math.min(4, (this.width - before - behind) / wide, (this.height - 2 * above) / high);
    let ends = x1 * scale;
    if (this.isLegible(scale)) {
      // Room for what stands behind the programs, too; where there is none, their labels wait until somebody zooms in.
      const labels = this.leafLabels(scale), least = LEGIBLE / ROW;
      const narrower = Math.min(scale, ...labels.map(({x, width}) => (this.width - before - width) / Math.max(1, x - x0)));
      scale = narrower >= least ? narrower : Math.min(scale, least * 0.999);
      ends = Math.max(x1 * scale, ...(this.isLegible(scale) ? labels.map(({x, width}) => x * scale + width - behind) : []));
    }
    this.view = {
      scale,
      x: before - x0 * scale + Math.max(0, (this.width - before - behind - (ends - x0 * scale)) / 2),
      y: this.height / 2 - (y0 + y1) / 2 * scale,
    };
    this.least = Math.min(scale, 0.5) * 0.7;
    this.redraw();
  }

  isLegible(scale) {
    return ROW * scale >= LEGIBLE;
  }

  /** Where a column has one program a row, its leaves have a label behind them: {x, width}, the place in units of the layout, the
   * room in pixels. */
  leafLabels(scale) {
    const labels = [];
    this.useFont(scale < 1.5 ? 11 : 13);
    for (const program of this.drawn) {
      if (!this.isLeaf(program) || (this.layout.sideBySide[program.level] ?? 1) > 1) continue;
      labels.push({x: this.places.get(program).x, width: this.context.measureText(this.leafText(program)).width + RADIUS * 4 + 22});
    }
    return labels;
  }

  isLeaf(program) {
    return !program.out.some(edge => this.drawn.has(edge.target));
  }

  leafText(program) {
    return `${program.id}: ${metricOf(program)}`;
  }

  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const scale = Math.min(6, Math.max(this.least ?? 0.05, this.view.scale * factor));
    const real = scale / this.view.scale;
    this.view = {scale, x: x - (x - this.view.x) * real, y: y - (y - this.view.y) * real};
    this.touched = true;
    this.redraw();
  }

  onScreen(program) {
    const place = this.places?.get(program);
    return place && {x: place.x * this.view.scale + this.view.x, y: place.y * this.view.scale + this.view.y};
  }

  /** Moves a program that is out of sight into it. */
  reveal(program) {
    const at = this.onScreen(program);
    if (!at) return;
    const margin = Math.min(50, this.width / 4, this.height / 4);
    const inside = (value, most) => Math.min(Math.max(value, margin), most - margin);
    const [x, y] = [inside(at.x, this.width), inside(at.y, this.height)];
    if (x === at.x && y === at.y) return;
    this.view.x += x - at.x;
    this.view.y += y - at.y;
    this.touched = true;
  }

  // --- drawing ---

  redraw() {
    this.asked ??= requestAnimationFrame(() => this.draw());
  }

  /** A link from place to place; on the screen where `points` says so. */
  trace(path, edge, point = program => this.places.get(program)) {
    const from = point(edge.source), to = point(edge.target);
    const middle = (to.x - from.x) / 2;
    path.moveTo(from.x, from.y);
    path.bezierCurveTo(from.x + middle, from.y, to.x - middle, to.y, to.x, to.y);
  }

  draw() {
    if (this.asked) cancelAnimationFrame(this.asked);
    this.asked = null;
    if (!this.places || !this.width) return;
    const {context, colours, view, ratio} = this;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = colours.ground;
    context.fillRect(0, 0, this.width, this.height);

    context.setTransform(ratio * view.scale, 0, 0, ratio * view.scale, ratio * view.x, ratio * view.y);
    context.strokeStyle = colours.edge;
    context.lineWidth = Math.min(1, 0.5 + view.scale / 2) / view.scale;
    context.stroke(this.lines);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);

    const point = program => this.onScreen(program);
    const marked = new Set(this.path);
    const near = new Set();
    for (const program of [this.selected, this.over]) {
      if (!program || !this.drawn.has(program)) continue;
      for (const edge of [...program.in, ...program.out]) {
        if (this.drawn.has(edge.source) && this.drawn.has(edge.target)) near.add(edge);
      }
    }
    const strokes = (edges, colour, width) => {
      context.beginPath();
      for (const edge of edges) if (this.drawn.has(edge.target)) this.trace(context, edge, point);
      context.strokeStyle = colour;
      context.lineWidth = width;
      context.stroke();
    };
    strokes(near, colours.quiet, 1.5);
    strokes(marked, colours.path, 2.5);
    this.drawPrograms();
    this.drawLabels(marked, near);
  }

  visible(at) {
    return at.x > -20 && at.y > -20 && at.x < this.width + 20 && at.y < this.height + 20;
  }

  /** Radius of a program's shape. */
  shapeOf(program) {
    return program.role === "buggy" ? this.radius * 1.3 : shapeRadius(program.role, this.radius);
  }

  hasRing(program) {
    return program.isFixed || program === this.selected || program === this.over;
  }

  /** What a program takes up from its middle, with its ring. */
  reach(program) {
    return this.hasRing(program) ? this.shapeOf(program) * 1.35 + 6 : this.radius * 1.3;
  }

  drawPrograms() {
    const {context, colours, view} = this;
    const fills = {buggy: colours.buggy, significantly_better: colours.better, on_par: colours["on-par"], neutral: colours.neutral};
    const r = Math.min(11, Math.max(2.6, RADIUS * view.scale));
    this.radius = r;
    const onPath = new Set(this.selected ? [this.selected, ...[...this.path].map(edge => edge.source)] : []);
    for (const program of this.drawn) {
      const at = this.onScreen(program);
      if (!this.visible(at)) continue;
      const own = this.shapeOf(program);
      context.globalAlpha = program === buggy || this.matching.has(program) || onPath.has(program) ? 1 : 0.45;
      if (this.hasRing(program)) {
        context.beginPath();
        context.arc(at.x, at.y, own * 1.35 + 4, 0, 2 * Math.PI);
        context.strokeStyle = program === this.selected ? colours.path : program.isFixed ? colours.outline : colours.accent;
        context.setLineDash(program.isFixed && program !== this.selected ? [3, 2] : []);
        context.lineWidth = program === this.selected ? 3 : 1.5;
        context.stroke();
        context.setLineDash([]);
      }
      context.beginPath();
      const points = shapePoints(program.role, at.x, at.y, own);
      if (points) {
        points.forEach(([x, y], i) => i ? context.lineTo(x, y) : context.moveTo(x, y));
        context.closePath();
      } else {
        context.arc(at.x, at.y, own, 0, 2 * Math.PI);
      }
      context.fillStyle = fills[program.role];
      context.strokeStyle = onPath.has(program) ? colours.path : colours.outline;
      context.lineWidth = onPath.has(program) ? 2 : r < 4 ? 0.8 : 1.2;
      context.fill();
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  useFont(size, bold = false) {
    this.context.font = `${bold ? "600 " : ""}${size}px ${this.font}`;
  }

  /** Draws the first of the `places` {text, x, y, align, room} whose text fits in its room and covers neither another label nor a
   * program; where none does, the last text that can be cut to its room. `must`: even over programs. Says whether it drew. */
  label(places, {colour = this.colours.text, bold = false, must = false} = {}) {
    const {context, taken} = this;
    const size = this.view.scale < 1.5 ? 11 : 13;
    this.useFont(size, bold);
    const place = ({text, x, y, align = "left", room = Infinity}, cut) => {
      let width = context.measureText(text).width;
      if (width > room) {
        if (!cut) return false;
        const letters = [...text];
        while (letters.length > 5 && width > room) {
          letters.pop();
          text = letters.join("").trimEnd() + "\u2026";
          width = context.measureText(text).width;
        }
        if (width > room) return false;
      }
      const start = align === "right" ? x - width : align === "center" ? x - width / 2 : x;
      const box = {x0: start - 2, x1: start + width + 2, y0: y - size / 2 - 1, y1: y + size / 2 + 1};
      if (taken.hits(box, must && cut)) return false;
      taken.add(box);
      context.fillStyle = this.colours.ground;
      context.fillRect(box.x0, box.y0, box.x1 - box.x0, box.y1 - box.y0);
      context.fillStyle = colour;
      context.textAlign = "left";
      context.textBaseline = "middle";
      context.fillText(text, start, y);
      return true;
    };
    return places.some(one => place(one, false)) || [...places].reverse().some(one => place(one, true));
  }

  /** Changes beside the programs that they lead to, where there is room; those of the selected one first. */
  drawLabels(marked, near) {
    const {view} = this;
    const single = level => (this.layout.sideBySide[level] ?? 1) === 1;
    const legible = this.isLegible(view.scale);
    const place = this.layout.place * view.scale;
    this.taken = new Taken();
    const visible = [...this.drawn].map(program => ({program, at: this.onScreen(program)})).filter(({at}) => this.visible(at));
    for (const {program, at} of visible) {
      const r = this.shapeOf(program);
      this.taken.add({x0: at.x - r, x1: at.x + r, y0: at.y - r, y1: at.y + r}, true);
    }
    for (const edge of marked) {
      if (this.drawn.has(edge.target)) this.edgeLabel(edge, {bold: true, colour: this.colours.path, must: true});
    }
    // Of a program with many neighbours, labels would hide one another.
    for (const edge of near.size <= 12 || legible ? near : []) {
      if (!marked.has(edge) && (single(edge.target.level) || edge.target === this.over)) this.edgeLabel(edge);
    }
    if (!legible) return;
    const quiet = {colour: this.colours.quiet};
    for (const {program, at} of visible) {
      const reach = this.reach(program), above = reach + 9;
      if (program !== buggy && !this.isLeaf(program)) {
        this.label([-above, above].map(step => ({text: String(program.id), x: at.x, y: at.y + step, align: "center"})), quiet);
      } else if (program !== buggy && single(program.level)) {
        this.label([{text: this.leafText(program), x: at.x + reach + 5, y: at.y}], quiet);
      }
    }
    for (const {program, at} of visible) {
      const edge = program.via;
      if (!edge || marked.has(edge) || near.has(edge)) continue;
      if (single(program.level)) {
        this.edgeLabel(edge);
      } else if (place >= 60 && ROW * view.scale >= 2 * this.radius + 16) {
        this.label(linkTexts(edge).map(text => ({text, x: at.x, y: at.y + this.reach(program) + 9, align: "center", room: place - 4})));
      }
    }
  }

  /** Before the program that it leads to, or in the middle of its line. */
  edgeLabel(edge, options = {}) {
    const from = this.onScreen(edge.source), to = this.onScreen(edge.target);
    const reach = this.reach(edge.target) + 6;
    const room = to.x - from.x - reach - this.reach(edge.source) - 6;
    if (room < 24 || (!this.visible(from) && !this.visible(to))) return;
    const before = text => ({text, x: to.x - reach, y: to.y, align: "right", room});
    const within = text => ({text, x: (from.x + to.x) / 2, y: (from.y + to.y) / 2, align: "center", room: room - 6});
    this.label(linkTexts(edge).flatMap(text => [before(text), within(text)]), options);
  }

  // --- input ---

  programAt(x, y) {
    let best = null, least = Math.max(9, this.radius + 4) ** 2;
    for (const program of this.drawn) {
      const at = this.onScreen(program);
      const distance = (at.x - x) ** 2 + (at.y - y) ** 2;
      if (distance < least) [best, least] = [program, distance];
    }
    return best;
  }

  point(event) {
    const box = this.canvas.getBoundingClientRect();
    return {x: event.clientX - box.left, y: event.clientY - box.top};
  }

  listen() {
    const {canvas} = this;
    const pointers = new Map();
    let moved = 0;
    const spread = () => {
      const [a, b] = [...pointers.values()];
      return {distance: Math.hypot(a.x - b.x, a.y - b.y), x: (a.x + b.x) / 2, y: (a.y + b.y) / 2};
    };
    canvas.addEventListener("pointerdown", event => {
      if (pointers.size === 0) moved = 0;
      pointers.set(event.pointerId, this.point(event));
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", event => {
      const at = this.point(event), before = pointers.get(event.pointerId);
      if (!before) return this.hover(at);
      const earlier = pointers.size === 2 ? spread() : null;
      pointers.set(event.pointerId, at);
      moved += Math.hypot(at.x - before.x, at.y - before.y);
      if (moved < 4) return;
      canvas.classList.add("dragging");
      this.hover(null);
      if (earlier) {
        const now = spread();
        this.zoom(now.distance / Math.max(1, earlier.distance), now.x, now.y);
      } else {
        this.view.x += at.x - before.x;
        this.view.y += at.y - before.y;
        this.touched = true;
        this.redraw();
      }
    });
    const lifted = event => {
      if (!pointers.delete(event.pointerId)) return;
      canvas.classList.remove("dragging");
      if (event.type === "pointerup" && moved < 4 && pointers.size === 0) {
        const at = this.point(event), program = this.programAt(at.x, at.y);
        if (program) this.onSelect(program);
      }
    };
    canvas.addEventListener("pointerup", lifted);
    canvas.addEventListener("pointercancel", lifted);
    canvas.addEventListener("pointerleave", () => this.hover(null));
    canvas.addEventListener("wheel", event => {
      if (document.activeElement !== canvas && !event.ctrlKey) return;  // the page scrolls
      event.preventDefault();
      const at = this.point(event);
      const pixels = event.deltaY * (event.deltaMode === 1 ? 16 : 1);
      this.zoom(Math.exp(-Math.max(-120, Math.min(120, pixels)) * 0.002), at.x, at.y);
    }, {passive: false});
    canvas.addEventListener("keydown", event => {
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      if (this.press(event.key)) event.preventDefault();
    });
  }

  hover(at) {
    const program = at ? this.programAt(at.x, at.y) : null;
    if (program === this.over) return;
    this.over = program;
    this.canvas.classList.toggle("over", program !== null);
    this.tooltip.hidden = program === null;
    if (program) {
      this.tooltip.textContent = this.describe(program);
      const place = this.onScreen(program);
      const left = Math.min(place.x + 14, this.width - this.tooltip.offsetWidth - 4);
      const below = place.y + 16 + this.tooltip.offsetHeight < this.height;
      this.tooltip.style.left = `${Math.max(4, left)}px`;
      this.tooltip.style.top = `${below ? place.y + 16 : place.y - 14 - this.tooltip.offsetHeight}px`;
    }
    this.redraw();
  }

  /** Returns whether the key means something. */
  press(key) {
    const from = this.selected && this.drawn.has(this.selected) ? this.selected : null;
    const go = program => program && this.onSelect(program);
    const column = (step) => {
      const level = from.level;
      const beside = [...this.drawn].filter(program => program.level === level).sort((a, b) => {
        const [p, q] = [this.places.get(a), this.places.get(b)];
        return p.y - q.y || p.x - q.x;
      });
      return beside[beside.indexOf(from) + step];
    };
    switch (key) {
      case "+": case "=": this.zoom(1.3); return true;
      case "-": this.zoom(1 / 1.3); return true;
      case "0": this.touched = false; this.fit(); return true;
      case "Home": go(buggy); return true;
      case "ArrowLeft": case "ArrowRight": case "ArrowUp": case "ArrowDown":
        if (!from) go(buggy);
        else if (key === "ArrowLeft") go(from.via?.source);
        else if (key === "ArrowRight") go(from.out.map(edge => edge.target).find(child => child.via?.source === from && this.drawn.has(child)));
        else go(column(key === "ArrowUp" ? -1 : 1));
        return true;
      default: return false;
    }
  }
}
