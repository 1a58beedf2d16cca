"use strict";
(() => {
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const narrow = matchMedia("(max-width: 640px)");
  const drawings = [...document.querySelectorAll(".drawing")];
  const parsed = (id) => JSON.parse(document.getElementById(id).textContent);
  const config = parsed("config");

  /* A copy of a specification, every object in it but the data changed by a function that hears its name. */
  const changed = (value, change, name = "") => {
    if (name === "datasets" || value === null || typeof value !== "object") return value;
    if (Array.isArray(value)) return value.map((part) => changed(part, change, name));
    const parts = Object.entries(value).map(([key, part]) => [key, changed(part, change, key)]);
    return change(Object.fromEntries(parts), name);
  };

  /* For a phone: panels below one another, legends below panels, titles in several lines. */
  const AXIS = 72, LETTER = 8;
  const stacked = (width) => (part, name) => {
    if (part.hconcat) {
      part.vconcat = part.hconcat;
      delete part.hconcat;
    }
    if (part.width > width - AXIS) part.width = width - AXIS;
    if (name === "legend") Object.assign(part, { orient: "bottom", direction: part.gradientLength ? "horizontal" : "vertical" });
    if (name === "title" && part.text) part.text = lines(part.text, width / LETTER);
    return part;
  };
  const lines = (text, most) => {
    const found = [];
    for (const part of [text].flat().join(", ").split(/(?<=[,;]) /)) {
      const longer = `${found.at(-1)} ${part}`;
      if (found.length && longer.length <= most) found[found.length - 1] = longer;
      else found.push(part);
    }
    return found;
  };

  const draw = (drawing) => {
    near.unobserve(drawing);
    drawing.dataset.drawn = "begun";
    const spec = parsed(drawing.dataset.spec);
    const small = narrow.matches;
    return vegaEmbed(drawing, small ? changed(spec, stacked(drawing.clientWidth)) : spec, {
      config: small ? changed({ ...config, legend: { ...config.legend, columns: 1 } }, stacked(Infinity)) : config,
      renderer: "svg",
      actions: false,
      tooltip: { disableDefaultStyle: true },
    }).then(() => {
      drawing.dataset.drawn = "yes";
    });
  };
  const waiting = () => drawings.filter((drawing) => !drawing.dataset.drawn);

  /* First what is near the window, then the rest when there is time, and all of it before it is printed. */
  const near = new IntersectionObserver(
    (seen) => seen.filter((each) => each.isIntersecting).forEach((each) => draw(each.target)),
    { rootMargin: "600px" },
  );
  const idle = window.requestIdleCallback ?? ((work) => setTimeout(work, 100));
  const rest = () => {
    const [next] = waiting();
    if (next) draw(next).finally(() => idle(rest));
  };
  drawings.forEach((drawing) => near.observe(drawing));
  idle(rest);
  addEventListener("beforeprint", () => waiting().forEach(draw));
  narrow.addEventListener("change", () => drawings.forEach(draw));

  /* Figures take their colours from the style of the page, so only its theme changes. */
  const toggle = document.getElementById("toggle");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
  const label = () => {
    toggle.textContent = isDark() ? "Light theme" : "Dark theme";
  };
  toggle.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    label();
  });
  dark.addEventListener("change", label);
  toggle.hidden = false;
  label();
})();
