// Change one fact of one subject, and see the one row that differs.

class Editor {
  /** `changed` is called after every change. */
  constructor(world, changed) {
    Object.assign(this, { world, changed, relation: 0, attribute: null });
    this.relations = new Combobox({
      label: "Relation",
      find: async (text) => world.relationsLike(text),
      choose: ({ id }) => (this.relation = id),
    });
    this.attributes = new Combobox({
      label: "New answer",
      placeholder: "type a name",
      find: (text) => world.provider.search("attributes", text),
      choose: (option) => (this.attribute = option),
    });
    this.subject = element("span.fixed");
    this.said = element("p.said", { role: "status" });
    this.list = element("div.changes");
    document.getElementById("edit").replaceChildren(...this.frame());
  }

  frame() {
    const [title, explanation] = WORDS[this.world.kind].edit;
    const { unknown } = this.world;
    const change = async () => {
      await this.attributes.choosing; // a name that was typed may still be on its way
      if (this.attribute) await this.apply(this.attribute.id);
      else this.say("Choose the new answer first.");
    };
    this.change = element("button.primary", { type: "button", onclick: change }, "Change");
    const buttons = [
      this.change,
      unknown !== null && element("button", { type: "button", onclick: () => this.apply(unknown) }, "Forget"),
    ];
    const subject = element("div.combobox", element("span.label", "Subject"), this.subject);
    return [
      element("div.words", element("h2", title), element("p", explanation)),
      element("div.fields", subject, this.relations.root, this.attributes.root, element("div.buttons", buttons)),
      this.said,
      this.list,
    ];
  }

  /** Take the subject and the relation of the step that is shown. */
  show(subject, relation) {
    this.entity = subject;
    this.relation = relation;
    this.subject.replaceChildren(subjectNamed(this.world, subject));
    this.relations.set({ id: relation, name: this.world.relations[relation] });
  }

  say(text) {
    this.said.textContent = text;
  }

  async apply(output) {
    const { provider, kind, first } = this.world;
    const { id, answers } = await provider.subject(this.entity.id);
    if (kind === "memory" && id < first) return this.say("Only facts about names can be changed.");
    if (!answers[this.relation]) return this.say("The run learned no fact here, so there is no part to swap.");
    await provider.edit(id, this.relation, await provider.attribute(output));
    return this.update();
  }

  async reset() {
    this.world.provider.subjects.clear();
    this.change.focus(); // the button that was pressed goes away
    return this.update();
  }

  /** Show all changes as they stand. */
  async update() {
    const { provider, rows, tensor } = this.world;
    const changes = await provider.changed();
    const verb = changes.length === 1 ? "differs" : "differ";
    const counted = `${changes.length} of ${rows.toLocaleString("en")} rows of ${tensor} ${verb}`;
    this.say(changes.length ? `${counted}; every other weight is as it was.` : "No row differs.");
    const drawn = await Promise.all(changes.map((change) => this.draw(change)));
    const reset = element("button", { type: "button", onclick: () => this.reset() }, "Put everything back");
    this.list.replaceChildren(...drawn, changes.length ? reset : "");
    await this.changed();
  }

  /** One row: where it is, its blocks before and after, the answers, and the commands. */
  async draw({ before, after }) {
    const { world } = this;
    const difference = minus(after.row, before.row);
    const moved = difference.filter((value) => value !== 0).length;
    const edited = [...world.relations.keys()].filter((r) => before.answers[r]?.id !== after.answers[r]?.id);
    const strips = edited.map((r) => this.drawBlock(r, { before, after }, difference));
    const commands = world.folder ? edited.map((r) => this.command(before, r, after.answers[r])) : [];
    const place = `Row ${before.id.toLocaleString("en")}, `;
    return element(
      "article.change",
      element("p.where", place, named(before.name), `: ${moved} of ${difference.length} numbers.`),
      element("div.blocks", strips),
      await this.answers(before, after),
      commands.length > 0 && element("p.remark", "The same on disk:"),
      commands.map((command) => element("code.command", command)),
    );
  }

  drawBlock(r, { before, after }, difference) {
    const { world } = this;
    const inBlock = (row) => world.model.supports[r].map((place) => row[place]);
    const scale = largest(inBlock(before.row), inBlock(after.row));
    const lines = { before: before.row, after: after.row, change: difference };
    const strips = Object.entries(lines).map(([name, row]) => {
      const what = `${isolated(world.relations[r])}, ${name}`;
      return labelled(name, strip(inBlock(row), { scale, what, relation: r }));
    });
    const aside = [outputNamed(world, before.answers[r]), " → ", outputNamed(world, after.answers[r])];
    return block(world, r, aside, strips, ".asked");
  }

  /** The command that would do the same on disk. */
  command(subject, relation, attribute) {
    const { folder, relations, unknown } = this.world;
    const forget = attribute.id === unknown;
    const names = [subject.name, relations[relation], ...(forget ? [] : [attribute.name])];
    const apart = names.some((name) => name.startsWith("-")) ? ["--"] : []; // what follows is no option
    return ["georecall", forget ? "forget" : "edit", ...[folder, ...apart, ...names].map(quoted)].join(" ");
  }

  /** What the model answers about the subject before and after, relation by relation. */
  async answers(before, after) {
    const { world } = this;
    const answer = async ({ row }, r) => (await world.provider.top(world.model.forward(row, 0, r).state, 1))[0];
    const lines = world.relations.map(async (name, r) => {
      const [old, now] = await Promise.all([answer(before, r), answer(after, r)]);
      return element(
        old.id === now.id ? "tr" : `tr.differs.${tinted(r)}`,
        element("th", { scope: "row" }, element(`i.key.${tinted(r)}`), named(name)),
        element("td", outputNamed(world, old)),
        element("td", outputNamed(world, now)),
      );
    });
    const head = ["Relation", "Answer before", "Answer after"].map((text) => element("th", { scope: "col" }, text));
    const body = element("tbody", await Promise.all(lines));
    return element("table.answers", element("thead", element("tr", head)), body);
  }
}
