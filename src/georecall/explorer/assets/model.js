// The forward pass, as `georecall.explorer.mechanism` states it.

function numbers(base64, Kind) {
  return new Kind(Uint8Array.from(atob(base64), (c) => c.charCodeAt(0)).buffer);
}

/** A matrix by compressed rows. */
class Sparse {
  constructor({ columns, start, index, value }) {
    this.columns = columns;
    this.start = numbers(start, Int32Array);
    this.index = numbers(index, Int32Array);
    this.value = numbers(value, Float32Array);
    this.rows = this.start.length - 1;
  }

  /** M x, and y added to it if it is given. */
  times(x, y) {
    const product = new Float32Array(this.rows);
    for (let row = 0; row < this.rows; row++) {
      let sum = y ? y[row] : 0;
      for (let at = this.start[row]; at < this.start[row + 1]; at++) sum += this.value[at] * x[this.index[at]];
      product[row] = sum;
    }
    return product;
  }

  row(number) {
    const row = new Float32Array(this.columns);
    for (let at = this.start[number]; at < this.start[number + 1]; at++) row[this.index[at]] = this.value[at];
    return row;
  }

  /** The rows that are not zero. */
  support() {
    return [...Array(this.rows).keys()].filter((row) => this.start[row] < this.start[row + 1]);
  }
}

const plus = (x, y) => x.map((value, at) => value + y[at]);
const minus = (x, y) => x.map((value, at) => value - y[at]);
const norm = (x) => Math.hypot(...x);
const relu = (value) => Math.max(value, 0);
const silu = (value) => value / (1 + Math.exp(-value));

class Model {
  constructor(mechanism) {
    Object.assign(this, mechanism);
    for (const name of ["position", "carried", "w1", "w2"]) this[name] = new Sparse(mechanism[name]);
    for (const name of ["b1", "b2", "offset"]) this[name] = numbers(mechanism[name], Float32Array);
    this.gate = mechanism.gate && new Sparse(mechanism.gate);
    this.components = mechanism.components.map((matrix) => new Sparse(matrix));
    this.supports = this.components.map((matrix) => matrix.support());
    this.owners = numbers(mechanism.owners, Int32Array);
  }

  /** One step: the embedding of the subject, with relation (or end) number `control` read at step `step`. */
  forward(embedding, step, control) {
    const brought = this.carried.row(control);
    const own = plus(embedding.map((value) => this.share * value), this.position.row(step));
    const x = plus(own, brought);
    const before = this.w1.times(x, this.b1);
    const gate = this.gate && this.gate.times(x);
    const hidden = gate ? before.map((value, unit) => silu(gate[unit]) * value) : before.map(relu);
    const written = this.w2.times(hidden, this.b2);
    const y = this.residual ? plus(x, written) : written;
    return { own, brought, x, before, gate, hidden, state: y.slice(...this.scored) };
  }

  /** A_r v for every answer of a subject (null where there is no fact), and what they and the offset leave. */
  decompose({ row, answers }) {
    const parts = answers.map((answer, r) => answer && this.components[r].times(answer.vector));
    const rest = parts.filter(Boolean).reduce(minus, minus(row, this.offset));
    return { parts, rest };
  }

  /** The row of a subject whose answer by relation `r` is another: row + A_r (v_new − v_old). */
  rewritten({ row, answers }, r, attribute) {
    return plus(row, this.components[r].times(minus(attribute.vector, answers[r].vector)));
  }
}

/** Follow a question: every step with its best outputs, until the end token or the last relation. */
async function walk(world, subject, relations) {
  const { model, provider, end } = world;
  const steps = [];
  let token = subject;
  const controls = end === null ? relations : [...relations, world.relations.length];
  for (const [step, control] of controls.entries()) {
    const entity = await provider.subject(token);
    const pass = model.forward(entity.row, step, control);
    const top = await provider.top(pass.state, 10);
    const answer = await provider.attribute(top[0].id);
    steps.push({ step, control, entity, ...pass, top, answer, margin: top[0].score - top[1].score });
    token = top[0].id;
  }
  return steps;
}
