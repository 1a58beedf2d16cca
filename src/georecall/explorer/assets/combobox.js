// A text field with a list of what it may mean: the combobox of the ARIA practices, with the list chosen by typing.

let comboboxes = 0;

/** `find(text)` gives the options, `choose(option)` is told of a choice; `set(option)` shows one. */
class Combobox {
  constructor({ label, find, choose, tint = "plain", placeholder = "" }) {
    Object.assign(this, { find, choose, options: [], active: -1, asked: 0, option: null, found: null });
    const id = `list-${++comboboxes}`;
    this.list = element("ul.options", { role: "listbox", id, "aria-label": label, hidden: true });
    this.input = element("input", {
      id: `${id}-input`,
      type: "text",
      role: "combobox",
      autocomplete: "off",
      spellcheck: "false",
      placeholder,
      "aria-autocomplete": "list",
      "aria-expanded": "false",
      "aria-controls": id,
      oninput: () => this.look(this.input.value),
      onclick: () => this.look(""),
      onfocus: () => this.input.select(),
      onblur: () => this.close(),
      onkeydown: (event) => this.key(event),
    });
    this.status = element("span.hidden", { "aria-live": "polite" });
    const text = element("label", { for: this.input.id }, label);
    this.root = element(`div.combobox.${tint}`, text, this.input, this.list, this.status);
  }

  set(option) {
    this.option = option;
    this.input.value = option ? shown(option.name) : "";
    if (document.activeElement === this.input) this.input.select(); // what is typed next replaces it
  }

  async look(text) {
    const asked = ++this.asked;
    this.text = text;
    this.found = this.find(text);
    const options = await this.found;
    if (asked !== this.asked || document.activeElement !== this.input) return;
    this.options = options;
    this.list.replaceChildren(...options.map((option, at) => this.item(option, at)));
    const nothing = element("li.nothing", { role: "option", "aria-disabled": "true" }, "No name like this");
    if (!options.length) this.list.append(nothing);
    this.status.textContent = `${options.length} ${options.length === 1 ? "name" : "names"}`;
    this.list.hidden = false;
    this.input.setAttribute("aria-expanded", "true");
    this.mark(text && options.length ? 0 : -1);
  }

  item(option, at) {
    const chosen = this.option?.id === option.id;
    const take = (event) => {
      event.preventDefault();
      this.take(option);
    };
    const attributes = { role: "option", id: `${this.list.id}-${at}`, "aria-selected": String(chosen) };
    return element("li", { ...attributes, onpointerdown: take }, named(option.name));
  }

  mark(at) {
    this.active = at;
    for (const [number, item] of [...this.list.children].entries()) item.classList.toggle("active", number === at);
    const item = at < 0 ? null : this.list.children[at];
    if (item) this.input.setAttribute("aria-activedescendant", item.id);
    else this.input.removeAttribute("aria-activedescendant");
    item?.scrollIntoView({ block: "nearest" });
  }

  key(event) {
    const { key } = event;
    const open = !this.list.hidden;
    if (key === "ArrowDown" || key === "ArrowUp") {
      event.preventDefault();
      if (!open) return this.look("");
      const count = this.options.length;
      const next = key === "ArrowDown" ? this.active + 1 : Math.max(this.active, 0) - 1;
      if (count) this.mark((next + count) % count);
    } else if (key === "Enter") {
      event.preventDefault();
      this.choosing = this.enter();
    } else if (key === "Escape") {
      this.close();
      this.input.select();
    }
  }

  /** Take the marked option or, if the names for what was typed are still on their way, the first of them. */
  async enter() {
    const { text } = this;
    const options = await this.found;
    if (!options) return;
    const option = options === this.options ? options[this.active] : text && options[0];
    if (option) this.take(option);
  }

  take(option) {
    this.set(option);
    this.close();
    this.choose(option);
  }

  close() {
    this.asked++;
    this.found = null;
    this.list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
    this.input.value = this.option ? shown(this.option.name) : "";
  }
}
