// Elements, names, strips of cells, and the one tooltip.

const COLOURS = 6;
const SPOKEN = 32;

/** `element("tag.class", {attributes}, …children)`; a child that is a text becomes a text node, never markup. */
function element(kind, ...rest) {
  const attributes = rest[0]?.constructor === Object ? rest.shift() : {};
  const [tag, ...classes] = kind.split(".");
  const made = document.createElement(tag);
  if (classes.length) made.className = classes.join(" ");
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== false && value !== null) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...rest.flat(Infinity).filter((child) => child !== null && child !== false));
  return made;
}

/** A name in the text of the page, isolated from the direction of what is around it. */
function named(name) {
  return element(name === null ? "bdi.none" : "bdi", shown(name));
}

/** An output by what it is: the end and the unknown have words of their own, and a relation is said to be one. */
function outputNamed(world, { id, name }) {
  if (id === world.end) return element("i.none", "end");
  if (id === world.unknown) return element("i.none", "unknown");
  return id < world.first ? element("span.none", named(name), " (relation)") : named(name);
}

/** The same for a label. */
function outputText(world, { id, name }) {
  if (id === world.end) return "the end";
  return id === world.unknown ? "unknown" : isolated(name);
}

/** The name of a subject; a run numbers its subjects apart from its outputs. */
function subjectNamed(world, subject) {
  return world.kind === "memory" ? outputNamed(world, subject) : named(subject.name);
}

/** A relation, or the end, as an arrow in its colour. */
function arrow(world, control) {
  const ending = control === world.relations.length;
  const name = ending ? element("i.none", "end") : named(world.relations[control]);
  return element(`span.arrow.${tinted(ending ? -1 : control)}`, "–", name, "→");
}

/** The class that gives a relation its colour; −1 has none. */
function tinted(relation) {
  return relation < 0 ? "plain" : `tint-${relation % COLOURS}`;
}

/**
 * Values as a row of cells, shaded from 0 to the scale, or to `high` if they are positive; `what` says what they
 * are, and `name` the symbols.
 */
function strip(values, { scale, high = scale, what, relation = -1, name = (place) => `symbol ${place + 1}` }) {
  const digits = [...values].every(Number.isInteger) && [...values].map(exact).join("").length <= 14;
  const cells = [...values].map((value, place) => {
    const cell = element(value < 0 ? "span.cell.negative" : "span.cell", digits && exact(value));
    const depth = Math.min(1, Math.abs(value) / ((value < 0 ? scale : high) || 1));
    cell.style.setProperty("--depth", depth.toFixed(3));
    cell.classList.toggle("deep", depth > 0.55);
    cell.tip = `${what}, ${name(place)}: ${exact(value)}`;
    return cell;
  });
  const spoken = [...values].slice(0, SPOKEN).map(exact).join(", ") + (values.length > SPOKEN ? ", …" : "");
  const size = values.length > 64 ? ".dense" : values.length > 14 ? ".close" : "";
  return element(`div.strip${size}.${tinted(relation)}`, { role: "img", "aria-label": `${what}: ${spoken}` }, cells);
}

/** Something with a small label before it. */
function labelled(label, content) {
  return element("div.row", element("small", label), content);
}

/** The largest magnitude among some vectors. */
function largest(...vectors) {
  return vectors.reduce((most, vector) => vector.reduce((least, value) => Math.max(least, Math.abs(value)), most), 0);
}

/** Exact values beside the pointer. */
function showTips(tip) {
  document.addEventListener("pointerover", ({ target }) => {
    tip.hidden = !target.tip;
    if (tip.hidden) return;
    tip.textContent = target.tip;
    const box = target.getBoundingClientRect();
    const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
    const left = Math.max(8, Math.min(room, box.x + (box.width - tip.offsetWidth) / 2));
    tip.style.setProperty("--x", `${left}px`);
    tip.style.setProperty("--y", `${box.y < 110 ? box.bottom + 6 : box.y - tip.offsetHeight - 6}px`);
  });
  document.addEventListener("scroll", () => (tip.hidden = true), { passive: true });
}
