// The question, the walk along it, and the step that is shown.

const data = JSON.parse(document.getElementById("data").textContent);
const model = new Model(data.mechanism);
const stored = data.weights ? new Embedded(data, model) : new Served();
const relationOptions = data.relations.map((name, id) => ({ id, name }));
const world = {
  ...data,
  model,
  provider: new Edited(stored, model),
  first: data.controls.length,
  relationsLike: (text) => filtered(relationOptions, text),
};
const question = { subject: null, relations: [0] };
const at = (id) => document.getElementById(id);
let steps = [];
let current = 0;
let asked = 0;

const subjects = new Combobox({
  label: "Subject",
  find: (text) => world.provider.search("subjects", text),
  choose: (option) => ask({ subject: option }),
});
const editor = new Editor(world, () => ask({}, { keep: true }));

/** The few options that a text may mean: those that begin with it, then those that hold it. */
function filtered(options, text) {
  const wanted = text.toLowerCase();
  const begins = ({ name }) => name.toLowerCase().startsWith(wanted);
  const holds = options.filter(({ name }) => name.toLowerCase().includes(wanted));
  return [...holds.filter(begins), ...holds.filter((option) => !begins(option))];
}

/** Ask again with some of the question changed, and show the first step, or the one that was shown. */
async function ask(change = {}, { keep = false } = {}) {
  Object.assign(question, change);
  const mine = ++asked;
  const found = await walk(world, question.subject.id, question.relations);
  if (mine !== asked) return;
  at("trouble").hidden = true;
  steps = found;
  drawQuestion();
  drawPath();
  show(keep ? Math.min(current, steps.length - 1) : 0);
}

/** A field for each relation, and buttons for one more or one less. */
function drawQuestion() {
  const { relations } = question;
  const held = document.activeElement?.closest("[data-hop]")?.dataset.hop;
  const fields = relations.map((relation, hop) => {
    const box = new Combobox({
      label: relations.length > 1 ? `Relation ${hop + 1}` : "Relation",
      find: async (text) => world.relationsLike(text),
      choose: ({ id }) => ask({ relations: question.relations.with(hop, id) }),
      tint: tinted(relation),
    });
    box.set(relationOptions[relation]);
    box.root.dataset.hop = hop;
    return box.root;
  });
  at("relations").replaceChildren(...fields, ...(world.hops > 1 ? [drawHops()] : []));
  subjects.set(question.subject);
  if (held) at("relations").querySelector(`[data-hop="${held}"] input`)?.focus();
}

function drawHops() {
  const { relations } = question;
  const button = (text, disabled, asked) => {
    const onclick = async () => {
      await ask({ relations: asked });
      at("relations").querySelector(`[data-hop="${asked.length - 1}"] input`).focus(); // the button is gone
    };
    return element("button", { type: "button", disabled, onclick }, text);
  };
  return element(
    "div.buttons",
    button("Add a relation", relations.length >= world.hops, [...relations, 0]),
    button("Remove the last", relations.length < 2, relations.slice(0, -1)),
  );
}

/** The whole chain in one line, announced when it changes. */
function drawPath() {
  const line = [subjectNamed(world, steps[0].entity)];
  for (const { control, answer } of steps.slice(0, question.relations.length)) {
    line.push(" ", arrow(world, control), " ", element("strong", outputNamed(world, answer)));
  }
  at("path").replaceChildren(...line);
}

function show(step) {
  current = step;
  const { entity, control, answer } = steps[step];
  const found = element("strong", outputNamed(world, answer));
  const line = element("span", subjectNamed(world, entity), " ", arrow(world, control), " ", found);
  at("now").replaceChildren(element("b", `Step ${step + 1} of ${steps.length}`), line);
  at("back").disabled = step === 0;
  at("next").disabled = step === steps.length - 1;
  at("stages").replaceChildren(...drawStages(world, question, steps, step));
  editor.show(entity, Math.min(control, world.relations.length - 1));
}

function move(by) {
  const step = Math.min(steps.length - 1, Math.max(0, current + by));
  if (step !== current) show(step);
}

at("back").addEventListener("click", () => move(-1));
at("next").addEventListener("click", () => move(1));
document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.target.closest("input")) return;
  if (event.key === "ArrowLeft") move(-1);
  if (event.key === "ArrowRight") move(1);
});

async function start() {
  at("lede").textContent = WORDS[world.kind].lede;
  at("subject").replaceChildren(subjects.root);
  showTips(at("tip"));
  const [subject] = await world.provider.search("subjects", "");
  await ask({ subject });
  document.body.dataset.ready = "true";
}

window.addEventListener("unhandledrejection", ({ reason }) => {
  at("trouble").textContent = `This did not work: ${reason.message}`;
  at("trouble").hidden = false;
});
start();
