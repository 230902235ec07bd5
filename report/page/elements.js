// Elements of the page. Texts only ever become text nodes and attributes: names may hold anything.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter(child => child !== null && child !== undefined));
  return element;
}

/** html("p", {class: "help"}, "text", child) */
function html(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** A long name that may be broken behind its underscores. */
function breakable(text) {
  return text.split(/(?<=_)/).flatMap((part, i) => i ? [html("wbr"), part] : [part]);
}

function byName(id) {
  return document.getElementById(id);
}

/** Outline of a role's shape around (x, y): on a path of a canvas or of an SVG, which name their commands alike. */
function shapePoints(role, x, y, r) {
  if (role === "buggy") return [[x - r, y - r], [x + r, y - r], [x + r, y + r], [x - r, y + r]];
  if (role === "significantly_better") {
    const d = r * 1.3;
    return [[x, y - d], [x + d, y], [x, y + d], [x - d, y]];
  }
  if (role === "fixed") return [[x, y - r * 1.2], [x + r * 1.2, y + r], [x - r * 1.2, y + r]];
  return null;  // a circle
}

/** Neutral programs are smaller. */
function shapeRadius(role, r) {
  return role === "neutral" ? r * 0.75 : r;
}

function svgShape(role, x, y, r, ...children) {
  const points = shapePoints(role, x, y, r);
  if (points) return svg("polygon", {points: points.map(point => point.join(",")).join(" "), "data-role": role}, ...children);
  return svg("circle", {cx: x, cy: y, r: shapeRadius(role, r), "data-role": role}, ...children);
}

function mark(role) {
  return svg("svg", {class: "mark", viewBox: "0 0 14 14", "aria-hidden": "true"}, svgShape(role, 7, 7, 4.6));
}
