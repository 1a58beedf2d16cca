// Where rows and names come from. Three providers with the same four questions:
//   search(kind, text) → names      subject(id) → row and answers
//   attribute(id) → vector          top(state, count) → best outputs

const LISTED = 12;

/** Everything is in the page. */
class Embedded {
  constructor({ weights, controls, relations, rows, outputs }, model) {
    this.model = model;
    this.controls = controls;
    this.lists = { subjects: weights.subjects, attributes: weights.attributes ?? weights.subjects };
    for (const list of Object.values(this.lists)) list.lowered ??= list.names.map((name) => name.toLowerCase());
    this.rows = new Table(numbers(weights.embedding, Float32Array), rows);
    this.answers = new Table(numbers(weights.answers, Int32Array), rows);
    this.outputs = new Table(numbers(weights.unembedding, Float32Array), outputs);
  }

  /** The rule of `georecall.explorer.name_search`. */
  async search(kind, text) {
    const { first, names, lowered } = this.lists[kind];
    const typed = text.normalize("NFC").replace(/^[\s\u0085]+|[\s\u0085]+$/g, "");
    const wanted = typed.toLowerCase();
    const rank = (number) => {
      if (names[number] === typed) return 0;
      if (lowered[number] === wanted) return 1;
      return lowered[number].startsWith(wanted) ? 2 : 3;
    };
    const found = [...names.keys()].filter((number) => lowered[number].includes(wanted));
    const best = typed ? found.sort((one, other) => rank(one) - rank(other) || one - other) : found;
    return best.slice(0, LISTED).map((number) => ({ id: first + number, name: names[number] }));
  }

  async subject(id) {
    const outputs = [...this.answers.row(id)];
    const answers = await Promise.all(outputs.map((output) => (output < 0 ? null : this.attribute(output))));
    return { id, name: this.name(id, "subjects"), row: this.rows.row(id), answers };
  }

  async attribute(id) {
    const symbols = this.model.components[0].columns;
    const vector = this.outputs.row(id).slice(0, symbols).map((value) => value * this.model.codeScale);
    return { id, name: this.name(id, "attributes"), vector };
  }

  async top(state, count) {
    const scores = Float32Array.from({ length: this.outputs.rows }, (_, id) => dot(this.outputs.row(id), state));
    const best = [...scores.keys()].sort((one, other) => scores[other] - scores[one] || one - other);
    return best.slice(0, count).map((id) => ({ id, name: this.name(id, "attributes"), score: scores[id] }));
  }

  name(id, kind) {
    const { first, names } = this.lists[kind];
    return id < first ? this.controls[id] : names[id - first];
  }
}

/** The server is asked; what it said of a subject or an attribute is kept. */
class Served {
  constructor() {
    this.kept = new Map();
  }

  async ask(path, query) {
    const response = await fetch(`${path}?${new URLSearchParams(query)}`);
    const content = await response.json();
    if (!response.ok) throw new Error(content.error);
    return content;
  }

  once(path, query) {
    const key = path + JSON.stringify(query);
    if (!this.kept.has(key)) this.kept.set(key, this.ask(path, query));
    return this.kept.get(key);
  }

  search(kind, text) {
    return this.ask("search", { kind, text });
  }

  async subject(id) {
    const found = await this.once("subject", { id });
    return { ...found, row: Float32Array.from(found.row), answers: found.answers.map(Served.received) };
  }

  async attribute(id) {
    return Served.received(await this.once("attribute", { id }));
  }

  top(state, count) {
    return this.once("top", { state: state.join(","), count });
  }

  static received(attribute) {
    return attribute && { ...attribute, vector: Float32Array.from(attribute.vector) };
  }
}

/** Another provider, some of whose subjects are rewritten; nothing but these rows differs. */
class Edited {
  constructor(provider, model) {
    Object.assign(this, { provider, model, subjects: new Map() });
  }

  search(kind, text) {
    return this.provider.search(kind, text);
  }

  attribute(id) {
    return this.provider.attribute(id);
  }

  top(state, count) {
    return this.provider.top(state, count);
  }

  async subject(id) {
    return this.subjects.get(id) ?? this.provider.subject(id);
  }

  async edit(id, relation, attribute) {
    const old = await this.subject(id);
    const row = this.model.rewritten(old, relation, attribute);
    this.subjects.set(id, { ...old, row, answers: old.answers.with(relation, attribute) });
  }

  /** The subjects whose rows differ from those stored, with both. */
  async changed() {
    const compared = async (after) => ({ before: await this.provider.subject(after.id), after });
    const pairs = await Promise.all([...this.subjects.values()].map(compared));
    return pairs.filter(({ before, after }) => after.row.some((value, at) => value !== before.row[at]));
  }
}

/** A matrix row by row. */
class Table {
  constructor(values, rows) {
    Object.assign(this, { values, rows, columns: values.length / rows });
  }

  row(number) {
    return this.values.subarray(number * this.columns, (number + 1) * this.columns);
  }
}

function dot(x, y) {
  let sum = 0;
  for (let at = 0; at < x.length; at++) sum += x[at] * y[at];
  return sum;
}
