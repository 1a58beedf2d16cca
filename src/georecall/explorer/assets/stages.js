// One step, from top to bottom: prompt, embedding, what the relation brings, hidden units, code, scores.

function drawStages(world, question, steps, current) {
  const step = steps[current];
  const written = world.kind === "memory";
  const figures = {
    prompt: written ? drawPrompt(world, question, steps, current) : drawPair(world, step),
    embedding: written ? drawBlocks(world, step) : drawSuperposition(world, step),
    brought: written ? drawInhibition(world, step) : drawBrought(world, step),
    [step.gate ? "gated" : "hidden"]: written ? drawSelection(world, step) : drawUnits(world, step),
    code: written ? drawCode(world, step) : drawState(world, step),
    scores: drawScores(world, step),
  };
  return Object.entries(figures).map(([name, figure], place) => {
    const [title, explanation] = WORDS[world.kind][name];
    const heading = element("h2", element("span.number", String(place + 1)), element("span", title));
    const words = element("div.words", heading, element("p", explanation));
    return element("li.stage", { id: `stage-${name}` }, words, element("div.figure", figure));
  });
}

/** Relation positions above, the subject and what was answered below: every step reads straight up. */
function drawPrompt(world, question, steps, current) {
  const positions = world.hops + 1;
  const asked = question.relations;
  const columns = Array.from({ length: positions }, (_, column) => {
    const above = column < asked.length ? named(world.relations[asked[column]]) : element("i.none", "end");
    const below = column <= current ? subjectNamed(world, steps[column].entity) : null;
    const reading = column === current;
    return element(
      reading ? "div.column.reading" : "div.column",
      token(column, above, tinted(asked[column] ?? -1)),
      element("div.beam", reading && element("span", "weight 1")),
      token(positions + column, below, below ? "plain" : "plain.empty"),
    );
  });
  const read = current < asked.length ? isolated(world.relations[asked[current]]) : "the end";
  const label = `Position ${positions + current} reads position ${current}: ${read}`;
  return element("div.prompt", { role: "img", "aria-label": label }, columns);
}

/** A relation and the subject below it, which takes half of each. */
function drawPair(world, { control, entity }) {
  const itself = world.model.residual ? "itself, weight ½, and once more as it is" : "itself, weight ½";
  const column = element(
    "div.column.reading",
    token(0, named(world.relations[control]), tinted(control)),
    element("div.beam", element("span", "weight ½")),
    token(1, named(entity.name), "plain"),
    element("p.itself", itself),
  );
  const label = "Attention takes half of the relation and half of the subject";
  return element("div.prompt.pair", { role: "img", "aria-label": label }, column);
}

function token(position, content, classes) {
  return element(`div.token.${classes}`, element("small", String(position)), element("span.text", content));
}

/** What belongs to one relation: its name, something beside it, and strips. */
function block(world, relation, aside, strips, state = "") {
  const head = element("div.head", element("i.key"), named(world.relations[relation]), element("span.aside", aside));
  return element(`div.block.${tinted(relation)}${state}`, head, strips);
}

/** A block for each relation; the one that is asked for stands out. */
function blocks(world, control, draw) {
  const drawn = world.relations.map((name, relation) => {
    const { aside, strips, shut = false } = draw(relation, isolated(name));
    return block(world, relation, aside, strips, relation === control ? ".asked" : shut ? ".shut" : "");
  });
  return element("div.blocks", drawn);
}

/** The highest level of a code, which every answer reaches. */
function highestLevel({ model }, { entity }) {
  return largest(...model.decompose(entity).parts);
}

/** The embedding of a memory, block by block, the coordinates outside of all blocks, and whether anything is left. */
function drawBlocks(world, step) {
  const { model } = world;
  const { entity, control, own } = step;
  const scale = highestLevel(world, step);
  const drawn = blocks(world, control, (relation, name) => {
    const answer = entity.answers[relation];
    const values = model.supports[relation].map((place) => entity.row[place]);
    const what = `${name} of ${outputText(world, entity)}, ${outputText(world, answer)}`;
    return { aside: ["→ ", outputNamed(world, answer)], strips: strip(values, { scale, what, relation }) };
  });
  const over = largest(model.decompose(entity).rest);
  const left = over ? `${over.toExponential(1)} at most, which is rounding` : "nothing";
  const extras = Object.entries(model.extras).map(([name, [start, stop]]) =>
    element("div.extra", element("span", name), strip(own.slice(start, stop), { scale: 1, what: name })),
  );
  return [drawn, element("p.remark", `Besides its blocks the row holds ${left}.`), extras];
}

/** The embedding of a run: a part for each relation, the offset and the rest. */
function drawSuperposition(world, { entity, control }) {
  const { model } = world;
  const { parts, rest } = model.decompose(entity);
  const scale = largest(...parts.filter(Boolean));
  const drawn = blocks(world, control, (relation, name) => {
    const [answer, part] = [entity.answers[relation], parts[relation]];
    if (!answer) return { aside: ["→ ", named(null)], strips: null };
    const what = `part of ${name}, ${outputText(world, answer)}`;
    const aside = ["→ ", outputNamed(world, answer), `, length ${rounded(norm(part))}`];
    return { aside, strips: strip(part, { scale, what, relation }) };
  });
  const share = norm(rest) ** 2 / norm(minus(entity.row, model.offset)) ** 2;
  const line = (name, values, more = "") => {
    const aside = element("span.aside", `length ${rounded(norm(values))}${more}`);
    const head = element("div.head", element("b", name), aside);
    return element("div.block.plain", head, strip(values, { scale, what: name }));
  };
  const others = element(
    "div.blocks",
    line("offset", model.offset),
    line("rest", rest, `, leaves ${rounded(100 * share, 1)} % unexplained`),
  );
  return [drawn, others];
}

function drawInhibition(world, { brought, control }) {
  const scale = largest(brought);
  return blocks(world, control, (relation, name) => {
    const values = world.model.supports[relation].map((place) => brought[place]);
    const shut = values.some((value) => value < 0);
    const aside = shut ? `closed, ${exact(values[0])}` : "open";
    return { aside, strips: strip(values, { scale, what: `brought to ${name}` }), shut };
  });
}

function drawBrought(world, { brought, control }) {
  const what = `half of ${isolated(world.relations[control])}`;
  const drawn = strip(brought, { scale: largest(brought), what, relation: control });
  return element("div.blocks", block(world, control, `length ${rounded(norm(brought))}`, drawn, ".asked"));
}

/** The hidden units that serve a relation. */
function unitsOf({ model }, relation) {
  return [...model.owners.keys()].filter((unit) => model.owners[unit] === relation);
}

/** The hidden units of a memory: what each block holds, and what passes. */
function drawSelection(world, step) {
  const { x, hidden, gate, control } = step;
  const high = highestLevel(world, step);
  const scale = largest(x);
  return blocks(world, control, (relation, name) => {
    const units = unitsOf(world, relation);
    const sum = world.model.supports[relation].map((place) => x[place]);
    const values = units.map((unit) => hidden[unit]);
    const passes = largest(values) > high / 2;
    return {
      aside: gate ? `gate ${exact(gate[units[0]])}` : passes ? "passes" : "silent",
      strips: [
        labelled("sum", strip(sum, { scale, high, what: `sum in ${name}`, relation })),
        labelled(gate ? "gated" : "ReLU", strip(values, { scale: high, what: `hidden units of ${name}`, relation })),
      ],
      shut: !passes,
    };
  });
}

/** The hidden units of a run, each with the relation that opens it most often. */
function drawUnits(world, { hidden, control }) {
  const scale = largest(hidden);
  return blocks(world, control, (relation, what) => {
    const units = unitsOf(world, relation);
    const values = units.map((unit) => hidden[unit]);
    const open = values.filter((value) => value > 0).length;
    const name = (place) => `unit ${units[place]}`;
    const drawn = strip(values, { scale, what: `opened by ${what}`, relation, name });
    return { aside: `${open} of ${units.length} open`, strips: drawn, shut: relation !== control };
  });
}

/** The sum of the blocks, and the code that it should be. */
function drawCode(world, step) {
  const { state, answer, control } = step;
  const scale = highestLevel(world, step);
  const sum = state.slice(0, answer.vector.length);
  if (answer.id === world.end) {
    const remark = "Every block is closed and the sum is silent: the end leads, which has a small score of its own.";
    return element("div.code", labelled("sum", strip(sum, { scale, what: "sum" })), element("p.remark", remark));
  }
  const what = `code of ${outputText(world, answer)}`;
  const apart = largest(minus(sum, answer.vector)) ? ", but for rounding." : ", symbol by symbol.";
  return element(
    "div.code",
    labelled("sum", strip(sum, { scale, what: "sum", relation: control })),
    labelled("code", strip(answer.vector, { scale, what, relation: control })),
    element("p.remark", "The sum is the code of ", outputNamed(world, answer), apart),
  );
}

/** What a run writes, and the vector of the answer. */
function drawState(world, { state, answer, control }) {
  const likeness = dot(state, answer.vector) / (norm(state) * norm(answer.vector));
  const drawn = (values, what) => strip(values, { scale: largest(values), what, relation: control });
  return element(
    "div.code",
    labelled("state", drawn(state, "final state")),
    labelled("vector", drawn(answer.vector, `vector of ${isolated(answer.name)}`)),
    element("p.remark", `Cosine of the two: ${rounded(likeness, 3)}.`),
  );
}

function drawScores(world, { top, margin, control }) {
  const best = top[0].score;
  const least = Math.min(0, ...top.map(({ score }) => score));
  const bars = top.map((output, place) => {
    const bar = element("span.bar");
    const tint = output.id === world.end ? "plain" : tinted(control);
    bar.style.setProperty("--length", ((output.score - least) / (best - least || 1)).toFixed(4));
    bar.tip = `${outputText(world, output)}: ${exact(output.score)}`;
    return element(
      place ? "li" : `li.first.${tint}`,
      element("span.name", outputNamed(world, output)),
      element("span.track", bar),
      element("span.score", rounded(output.score)),
    );
  });
  const remark = element("p.margin", "The first leads the second by ", element("b", rounded(margin)), ".");
  return [element("ol.scores", bars), remark];
}
