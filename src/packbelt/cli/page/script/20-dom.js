// Elements. Every text of the report becomes a text node: no string is ever read as markup.

const SVG = "http://www.w3.org/2000/svg";
const UNSEEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;

/** A text with what nobody would see, or what would turn it about, written out. */
function plain(text) {
  return String(text).replace(UNSEEN, (found) => `\\u${found.codePointAt(0).toString(16).padStart(4, "0")}`);
}

function fill(element, props, children) {
  for (const [key, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : plain(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    element.append(child instanceof Node ? child : plain(child));
  }
  return element;
}

const h = (tag, props, ...children) => fill(document.createElement(tag), props, children);
const s = (tag, props, ...children) => fill(document.createElementNS(SVG, tag), props, children);

const number = (value) => value.toLocaleString("en-GB");
const several = (count, noun, plural = `${noun}s`) => `${number(count)} ${count === 1 ? noun : plural}`;
const named = (text) => h("bdi", { class: "name" }, text);

const SHAPES = {
  direct: [["circle", { cx: 6, cy: 6, r: 4.6 }]],
  packed: [["path", { d: "M1.5 1.5h9v2.6h-9z M1.5 5.3h9v5.2h-9z" }]],
  deferred: [["path", { d: "M6 .6 11.4 6 6 11.4 .6 6z M6 4.2 4.2 6 6 7.8 7.8 6z", "fill-rule": "evenodd" }]],
  reserved: [["path", { d: "M2 1.2 11 6 2 10.8z" }]],
  over_ceiling: [["path", { d: "M1 .8h10v1.8H1z M6 4l4.6 7H1.4z" }]],
  unavailable: [["circle", { cx: 6, cy: 6, r: 4.4, class: "hollow" }]],
  off_belt: [["path", { d: "M2.6 5.2h6.8v1.6H2.6z" }]],
  denied: [["path", { d: "M2.6 1.2 6 4.6l3.4-3.4 1.4 1.4L7.4 6l3.4 3.4-1.4 1.4L6 7.4l-3.4 3.4-1.4-1.4L4.6 6 1.2 2.6z" }]],
  refused: [["path", { d: "M1 1h10v10H1z M2.6 2.6v6.8h6.8V2.6z M3 8 8 3l1 1-5 5z", "fill-rule": "evenodd" }]],
};

/** The shapes of the states, once for the whole page. */
function shapes() {
  const symbols = Object.entries(SHAPES).map(([state, parts]) =>
    s("symbol", { id: `s-${state}`, viewBox: "0 0 12 12" }, parts.map(([tag, props]) => s(tag, props))),
  );
  return s("svg", { class: "shapes", "aria-hidden": "true" }, symbols);
}

const glyphs = new Map(
  Object.keys(SHAPES).map((state) => [state, s("svg", { class: `glyph is-${state}`, "aria-hidden": "true" }, s("use", { href: `#s-${state}` }))]),
);
const glyph = (state) => glyphs.get(state).cloneNode(true);

const badge = (state, before = "") => h("span", { class: `badge is-${state}` }, glyph(state), `${before}${state}`);
const place = (where) => where && h("span", { class: "where" }, where);

/** A text in which `words` in backquotes are code. */
const inCode = (text) =>
  text.split("`").map((part, k) => (k % 2 ? h("code", {}, part) : part));
