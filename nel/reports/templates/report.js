"use strict";
// Filters, pages and expands samples, and sorts tables. All text goes through textContent; there is no HTML here.
(() => {
  const PAGE = 50;

  const node = (tag, className, text) => {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text !== undefined && text !== null) element.textContent = String(text);
    return element;
  };
  const count = (value) => String(value).replace(/\B(?=(\d{3})+$)/g, ",");
  const oneLine = (text) => text.slice(0, 400).replace(/\s+/g, " ").trim();

  const block = (title, text, className) => {
    const section = node("section", "block " + (className || ""));
    section.append(node("h4", "", title));
    if (text === null || text === undefined) section.append(node("p", "none", "none"));
    else if (text === "") section.append(node("p", "none", "empty"));
    else section.append(node("pre", "", text));
    return section;
  };
  const folded = (title, text) => {
    const details = node("details", "folded");
    details.append(node("summary", "", title), node("pre", "", text));
    return details;
  };

  const opinion = (said) => {
    const item = node("div", "opinion");
    const head = node("p", "");
    head.append(node("b", "", said.judge), " ", node("span", "pill " + (said.grade === null ? "unscored" : "graded"),
      said.grade === null ? said.fault || "no verdict" : said.grade));
    for (const [name, value] of said.notes) {
      const fact = node("span", "fact");
      fact.append(node("span", "key", name), " " + value);
      head.append(" ", fact);
    }
    item.append(head);
    if (said.reply) item.append(node("pre", "", said.reply));
    return item;
  };
  const judgement = (found) => {
    const section = node("section", "block");
    section.append(node("h4", "", "Judged (" + found.template + "): " + (found.grade === null ? "no verdict" : found.grade)));
    for (const said of found.opinions) section.append(opinion(said));
    return section;
  };

  const fill = (panel, sample) => {
    if (sample.detail) panel.append(block("What happened", sample.detail, "detail"));
    const prompt = node("section", "block");
    prompt.append(node("h4", "", "Prompt"));
    if (!sample.prompt.length) prompt.append(node("p", "none", "none"));
    for (const [role, text] of sample.prompt) {
      if (role) prompt.append(node("p", "role", role));
      prompt.append(node("pre", "", text));
    }
    panel.append(prompt);
    if (sample.reasoning) panel.append(folded("Reasoning (not scored)", sample.reasoning));
    panel.append(block("Response", sample.response));
    const pair = node("div", "pair");
    pair.append(block("Expected", sample.expected), block("Extracted", sample.extracted));
    panel.append(pair);
    if (sample.reading) panel.append(folded("How the answer was read, which differs by the way", sample.reading));
    for (const found of sample.judgements) panel.append(judgement(found));
    if (sample.scoring) panel.append(folded("Scoring details", sample.scoring));
    if (sample.metadata) panel.append(folded("Dataset row", sample.metadata));
    const facts = node("p", "facts");
    for (const [name, value] of [["id", sample.id], ...sample.facts]) {
      const fact = node("span", "fact");
      fact.append(node("span", "key", name), " " + value);
      facts.append(fact, " ");
    }
    panel.append(facts);
  };

  const row = (sample, view) => {
    const item = node("li");
    const details = node("details", "sample");
    const summary = node("summary");
    summary.append(node("span", "number", "#" + sample.index + (view.repeated ? "." + sample.repeat : "")));
    summary.append(node("span", "pill " + sample.group, sample.kind || view.labels[sample.group]));
    summary.append(node("span", "gist", oneLine(sample.response || sample.detail || "") || "no response"));
    if (!view.binary && sample.reward !== null) summary.append(node("span", "reward", sample.reward));
    if (sample.category) summary.append(node("span", "category", sample.category));
    const panel = node("div", "panel");
    details.append(summary, panel);
    details.addEventListener("toggle", () => {
      if (details.open && !panel.hasChildNodes()) fill(panel, sample);
    });
    item.append(details);
    return item;
  };

  const haystack = (sample) => {
    if (!sample.text) {
      const fields = [sample.id, "#" + sample.index, sample.kind, sample.category, sample.response, sample.reasoning];
      fields.push(sample.expected, sample.extracted, sample.detail, sample.reading, sample.scoring, sample.metadata);
      for (const [, text] of sample.prompt) fields.push(text);
      for (const { opinions } of sample.judgements) {
        for (const said of opinions) fields.push(said.judge, said.grade, said.fault, said.reply);
      }
      sample.text = fields.filter((field) => field).join("\n").toLowerCase();
    }
    return sample.text;
  };

  const choices = (select, values) => {
    for (const [value, n] of [...values].sort((a, b) => (a[0] < b[0] ? -1 : 1))) {
      const option = node("option", "", value + " (" + count(n) + ")");
      option.value = value;
      select.append(option);
    }
    select.closest("label").hidden = values.size === 0;
  };
  const tally = (samples, key) => {
    const found = new Map();
    for (const sample of samples) if (sample[key]) found.set(sample[key], (found.get(sample[key]) || 0) + 1);
    return found;
  };

  const browse = (root) => {
    const samples = JSON.parse(root.nextElementSibling.textContent);
    const form = root.querySelector("form");
    const list = root.querySelector("ol");
    const status = root.querySelector("[role=status]");
    const binary = root.dataset.binary === "true";
    const labels = binary ? { right: "right", wrong: "wrong" } : { right: "above 0", wrong: "0" };
    const view = { binary, labels, repeated: samples.some((sample) => sample.repeat > 0) };
    const [earlier, later] = root.querySelectorAll(".pager button");
    const place = root.querySelector(".pager .place");
    let page = 0;

    const groups = tally(samples, "group");
    for (const option of form.elements.group.options) {
      if (!option.value) continue;
      const label = labels[option.value];
      option.textContent = (label ? label[0].toUpperCase() + label.slice(1) : option.textContent)
        + " (" + count(groups.get(option.value) || 0) + ")";
    }
    choices(form.elements.kind, tally(samples, "kind"));
    choices(form.elements.category, tally(samples, "category"));

    const show = () => {
      const { group, kind, category, search } = form.elements;
      const words = search.value.trim().toLowerCase();
      const found = samples.filter((sample) =>
        (!group.value || sample.group === group.value)
        && (!kind.value || sample.kind === kind.value)
        && (!category.value || sample.category === category.value)
        && (!words || haystack(sample).includes(words)));
      const pages = Math.max(1, Math.ceil(found.length / PAGE));
      page = Math.min(page, pages - 1);
      const first = page * PAGE;
      list.replaceChildren(...found.slice(first, first + PAGE).map((sample) => row(sample, view)));
      status.textContent = found.length === samples.length
        ? count(found.length) + " samples"
        : count(found.length) + " of " + count(samples.length) + " samples match";
      place.textContent = "Page " + (page + 1) + " of " + pages;
      earlier.disabled = page === 0;
      later.disabled = page + 1 >= pages;
      root.querySelector(".pager").hidden = pages === 1;
    };
    const turn = (by) => {
      page += by;
      show();
      root.querySelector("h3").scrollIntoView({ block: "start" });
    };
    let timer;
    form.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(() => { page = 0; show(); }, 120);
    });
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => setTimeout(() => { page = 0; show(); }, 0));
    earlier.addEventListener("click", () => turn(-1));
    later.addEventListener("click", () => turn(1));
    root.querySelector(".browser").hidden = false;
    root.querySelector(".needs-script").hidden = true;
    show();
  };

  const sortable = (table) => {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = node("button", "", head.textContent);
      button.type = "button";
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const downward = head.getAttribute("aria-sort") !== "descending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", downward ? "descending" : "ascending");
        const key = (line) => {
          const raw = line.cells[column].dataset.sort;
          if (raw === undefined) return line.cells[column].textContent;
          return raw === "" ? -Infinity : Number(raw);
        };
        const body = table.tBodies[0];
        const sign = downward ? -1 : 1;
        body.append(...[...body.rows].sort((a, b) => {
          const [x, y] = [key(a), key(b)];
          return x === y ? 0 : (x < y ? -sign : sign);
        }));
      });
    });
  };

  document.querySelectorAll("table.sortable").forEach(sortable);
  document.querySelectorAll(".samples").forEach(browse);
})();
