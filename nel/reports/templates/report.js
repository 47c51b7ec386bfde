"use strict";
// Filters, pages and expands samples, and sorts tables. All text goes through textContent; there is no HTML here.
(() => {
  const PAGE = 50;
  const BLOCK = 200;
  const BLOCKS_KEPT = 8;

  const node = (tag, className, text) => {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text !== undefined && text !== null) element.textContent = String(text);
    return element;
  };
  const count = (value) => String(value).replace(/\B(?=(\d{3})+$)/g, ",");

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

  const options = (sample) => {
    const section = node("section", "block");
    const list = node("dl", "options");
    for (const [label, text, isExpected, isRead] of sample.options) {
      const item = node("div", isExpected ? "right" : isRead ? "wrong" : "");
      const words = node("dd", "", text);
      if (isExpected) words.append(" ", node("span", "note", "expected"));
      if (isRead) words.append(" ", node("span", "note", "read from the answer"));
      item.append(node("dt", "", label), words);
      list.append(item);
    }
    section.append(node("h4", "", "Options"), list);
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
    if (sample.options.length) panel.append(options(sample));
    if (sample.reasoning) panel.append(folded("Reasoning (not scored)", sample.reasoning));
    panel.append(block("Response", sample.response));
    const pair = node("div", "two");
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

  // A row of the island, in the order in which nel/reports/samples.py writes it.
  const rowOf = ([index, repeat, group, kind, category, reward, question, answer, extracted, target], position) =>
    ({ index, repeat, group, kind, category, reward, question, answer, extracted, target, position });

  const unpacked = async (script) => {
    const bytes = Uint8Array.from(atob(script.textContent), (character) => character.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  };

  const NAMES = { right: "right", wrong: "wrong", model_failure: "model failure", unscored: "unscored" };
  const said = (sample, binary) => {
    if (sample.kind) return sample.kind;
    return binary || sample.reward === null ? NAMES[sample.group] : String(sample.reward);
  };
  const pill = (sample, binary, tag) => node(tag || "span", "pill " + sample.group, said(sample, binary));

  const squares = (samples) => {
    const part = (tag, attributes) => {
      const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
      for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
      return element;
    };
    const shown = samples.slice(0, 64);
    const width = shown.length * 5;
    const drawing = part("svg", { class: "squares", viewBox: "0 0 " + width + " 8", width, height: 8, "aria-hidden": "true" });
    shown.forEach((sample, place) => drawing.append(
      part("rect", { class: sample.group + (sample.matches ? "" : " other"), x: place * 5, y: 0, width: 4, height: 8, rx: 1 })));
    return drawing;
  };

  const haystack = (sample) => {
    const fields = [sample.id, sample.response, sample.reasoning, sample.expected, sample.extracted, sample.detail];
    fields.push(sample.reading, sample.scoring, sample.metadata);
    for (const [, text] of sample.prompt) fields.push(text);
    for (const { opinions } of sample.judgements) {
      for (const one of opinions) fields.push(one.judge, one.grade, one.fault, one.reply);
    }
    return fields.filter((field) => field).join("\n").toLowerCase();
  };

  // The samples of one benchmark: rows at hand, everything else in blocks that are unpacked when they are needed.
  const library = async (island) => {
    const parts = [...island.querySelectorAll("[data-part=block]")];
    const { rows, totals } = await unpacked(island.querySelector("[data-part=rows]"));
    const samples = rows.map(rowOf);
    const blocks = new Map();
    const size = parts.length > 1 ? BLOCK : Math.max(1, samples.length);
    const block = (place) => {
      const found = blocks.get(place) || unpacked(parts[place]);
      blocks.delete(place);
      blocks.set(place, found);
      if (blocks.size > BLOCKS_KEPT) blocks.delete(blocks.keys().next().value);
      return found;
    };
    const texts = [];
    return {
      samples,
      totals,
      details: async (sample) => (await block(Math.floor(sample.position / size)))[sample.position % size],
      text: (sample) => texts[sample.position],
      isRead: () => texts.length === samples.length,
      // Reads all blocks once; returns false when it is no longer wanted.
      read: async (isWanted, tell) => {
        for (let place = Math.floor(texts.length / size); place < parts.length; place += 1) {
          tell(place / parts.length);
          const found = await unpacked(parts[place]);
          if (texts.length === place * size) for (const one of found) texts.push(haystack(one));
          if (!isWanted()) return false;
        }
        return true;
      },
    };
  };

  const fold = (samples) => {
    const questions = new Map();
    for (const sample of samples) {
      const found = questions.get(sample.index);
      if (found) found.push(sample); else questions.set(sample.index, [sample]);
    }
    return [...questions.values()];
  };

  const option = (select, value, text) => {
    const made = node("option", "", text);
    made.value = value;
    select.append(made);
  };
  const choices = (select, samples, key, totals, names) => {
    const shown = new Map();
    for (const sample of samples) if (sample[key]) shown.set(sample[key], (shown.get(sample[key]) || 0) + 1);
    const order = names ? Object.keys(names) : Object.keys(totals).sort();
    for (const value of order) {
      const [all, n] = [totals[value] || 0, shown.get(value) || 0];
      const name = names ? names[value] : value;
      option(select, value, name + " (" + count(all) + (n < all ? "; " + count(n) + " shown" : "") + ")");
    }
    select.closest("label").hidden = order.length === 0;
  };

  const panelOf = (panel, members, first, view) => {
    const bar = node("p", "repeats");
    const body = node("div", "panel-body");
    const show = async (sample) => {
      for (const button of bar.children) button.setAttribute("aria-current", String(button.value === String(sample.repeat)));
      const details = await view.details(sample);
      const facts = node("div", "panel");
      fill(facts, details);
      const own = node("a", "own", "Link to this sample");
      own.href = view.place(sample);
      facts.querySelector(".facts").prepend(own);
      body.replaceChildren(facts);
    };
    for (const sample of members.length > 1 ? members : []) {
      const button = pill(sample, view.binary, "button");
      button.type = "button";
      button.value = sample.repeat;
      button.textContent = "." + sample.repeat + " " + button.textContent;
      button.addEventListener("click", () => { view.opened(sample); show(sample); });
      bar.append(button);
    }
    panel.append(...(members.length > 1 ? [bar, body] : [body]));
    show(first);
  };

  const row = (members, view) => {
    const shown = members.find((sample) => sample.matches);
    const item = node("li");
    const details = node("details", "sample");
    const summary = node("summary", "line");
    summary.append(node("span", "number", "#" + shown.index));
    const outcome = node("span", "outcome");
    if (members.length > 1) {
      const right = members.filter((sample) => sample.group === "right").length;
      const tally = node("span", "tally", right);
      tally.append(node("span", "of", "/" + members.length));
      outcome.append(tally, squares(members));
    } else outcome.append(pill(shown, view.binary));
    const texts = node("span", "texts");
    texts.append(node("span", "gist", shown.question || "no question"), node("span", "gist answer", shown.answer || "no response"));
    const pair = node("span", "pair");
    if (shown.extracted !== null) pair.append(node("span", "got", shown.extracted));
    if (shown.target !== null) pair.append(node("span", "target", shown.target));
    summary.append(outcome, texts, pair, node("span", "category", shown.category || ""));
    const panel = node("div", "panel");
    details.append(summary, panel);
    details.addEventListener("toggle", () => {
      const wanted = view.wanted(members) || shown;
      if (details.open && !panel.hasChildNodes()) panelOf(panel, members, wanted, view);
      if (details.open) view.opened(wanted); else view.closed(members);
    });
    item.append(details);
    return item;
  };

  const browse = async (root) => {
    const anchor = root.dataset.anchor;
    const form = root.querySelector("form");
    const fields = ["search", "group", "kind", "category"];
    const list = root.querySelector("ol");
    const status = root.querySelector("[role=status]");
    const [earlier, later] = root.querySelectorAll(".pager button");
    const pages = () => Math.max(1, Math.ceil(found.length / PAGE));
    const found_ = await library(root.parentElement.querySelector(".island"));
    const { samples, totals } = found_;
    const questions = fold(samples);
    const binary = root.dataset.binary === "true";
    const total = Object.values(totals.group).reduce((sum, n) => sum + n, 0);
    let [page, open, found, asked] = [0, "", questions, 0];

    choices(form.elements.group, samples, "group", totals.group, binary
      ? { right: "Right", wrong: "Wrong", model_failure: "Model failure", unscored: "Unscored" }
      : { right: "Above 0", wrong: "0 or less", model_failure: "Model failure", unscored: "Unscored" });
    choices(form.elements.kind, samples, "kind", totals.kind);
    choices(form.elements.category, samples, "category", totals.category);

    const nameOf = (sample) => sample.index + "." + sample.repeat;
    const remember = () => {
      const state = new URLSearchParams();
      for (const name of fields) if (form.elements[name].value) state.set(name, form.elements[name].value);
      if (page) state.set("page", page + 1);
      if (open) state.set("open", open);
      const here = String(state);
      if (here || location.hash.startsWith("#" + anchor + "?")) history.replaceState(null, "", "#" + anchor + (here ? "?" + here : ""));
    };
    const view = {
      binary,
      details: found_.details,
      place: (sample) => "#" + anchor + "?open=" + nameOf(sample),
      opened: (sample) => { open = nameOf(sample); remember(); },
      closed: (members) => { if (members.some((sample) => nameOf(sample) === open)) { open = ""; remember(); } },
      wanted: (members) => members.find((sample) => nameOf(sample) === open),
    };

    const draw = () => {
      page = Math.max(0, Math.min(page, pages() - 1));
      const first = page * PAGE;
      list.replaceChildren(...found.slice(first, first + PAGE).map((members) => row(members, view)));
      root.querySelector(".pager .place").textContent = "Page " + count(page + 1) + " of " + count(pages());
      earlier.disabled = page === 0;
      later.disabled = page + 1 >= pages();
      root.querySelector(".pager").hidden = pages() === 1;
    };
    const filter = () => {
      const { group, kind, category, search } = form.elements;
      const words = search.value.trim().toLowerCase();
      let n = 0;
      for (const sample of samples) {
        sample.matches = (!group.value || sample.group === group.value)
          && (!kind.value || sample.kind === kind.value)
          && (!category.value || sample.category === category.value)
          && (!words || words === "#" + sample.index || found_.text(sample).includes(words));
        if (sample.matches) n += 1;
      }
      found = n === samples.length ? questions : questions.filter((members) => members.some((sample) => sample.matches));
      const things = questions.length < samples.length ? "answers to " + count(found.length) + (found.length === 1 ? " question" : " questions") : "samples";
      const of = count(samples.length) + (samples.length < total ? " shown (" + count(total) + " in all)" : "");
      status.textContent = n === samples.length ? of + (things === "samples" ? " samples" : " " + things)
        : count(n) + " of " + of + " " + (things === "samples" ? "samples match" : things + " match");
    };
    const show = async () => {
      asked += 1;
      const mine = asked;
      if (form.elements.search.value.trim() && !found_.isRead()) {
        const tell = (share) => { status.textContent = "Reading the samples, " + Math.round(share * 100) + " %"; };
        if (!await found_.read(() => mine === asked, tell)) return false;
      }
      filter();
      draw();
      return true;
    };
    const changed = async () => { page = 0; open = ""; if (await show()) remember(); };
    const turn = (by) => {
      if (page + by < 0 || page + by >= pages()) return;
      page += by;
      open = "";
      draw();
      remember();
      root.querySelector("h3").scrollIntoView({ block: "start" });
    };

    // The address holds the filters, the page and the sample that is open.
    const follow = async () => {
      const cut = location.hash.indexOf("?");
      if (cut < 0 || location.hash.slice(1, cut) !== anchor) return false;
      const state = new URLSearchParams(location.hash.slice(cut + 1));
      for (const name of fields) form.elements[name].value = state.get(name) || "";
      for (const name of fields.slice(1)) if (form.elements[name].selectedIndex < 0) form.elements[name].value = "";
      page = (Number(state.get("page")) || 1) - 1;
      open = state.get("open") || "";
      if (!await show()) return true;
      if (!open) { root.scrollIntoView({ block: "start" }); return true; }
      const place = found.findIndex((members) => members.some((sample) => nameOf(sample) === open));
      if (place < 0) { status.textContent = "The sample " + open + " is not on this page. " + status.textContent; return true; }
      page = Math.floor(place / PAGE);
      draw();
      const details = list.children[place % PAGE].firstElementChild;
      details.open = true;
      details.scrollIntoView({ block: "start" });
      return true;
    };

    let timer;
    form.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(changed, 150); });
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => setTimeout(changed, 0));
    earlier.addEventListener("click", () => turn(-1));
    later.addEventListener("click", () => turn(1));
    addEventListener("hashchange", follow);
    root.querySelector(".browser").hidden = false;
    root.querySelector(".needs-script").hidden = true;
    if (!await follow()) await show();
    return { root, turn };
  };

  const keys = (browsers) => {
    let current = 0;
    const here = () => {
      const place = browsers.findIndex(({ root }) => root.contains(document.activeElement));
      current = place >= 0 ? place : current;
      return browsers[current];
    };
    const step = (by) => {
      const { root } = here();
      const rows = [...root.querySelectorAll("ol > li > details > summary")];
      const at = rows.findIndex((one) => one.parentElement.contains(document.activeElement));
      const next = rows[at < 0 ? 0 : Math.max(0, Math.min(at + by, rows.length - 1))];
      if (next) next.focus();
    };
    const acts = {
      j: () => step(1),
      k: () => step(-1),
      ArrowRight: () => here().turn(1),
      ArrowLeft: () => here().turn(-1),
      "/": () => { const { search } = here().root.querySelector("form").elements; search.focus(); search.select(); },
    };
    document.addEventListener("keydown", (event) => {
      const typing = event.target.closest("input, select, textarea");
      if (event.key === "Escape" && typing) typing.blur();
      if (typing || event.ctrlKey || event.metaKey || event.altKey || !acts[event.key]) return;
      if (event.key.startsWith("Arrow") && event.target.closest(".scroll, pre")) return;
      event.preventDefault();
      acts[event.key]();
    });
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
  if (typeof DecompressionStream === "undefined") {
    for (const line of document.querySelectorAll(".needs-script")) line.textContent = "This browser cannot unpack the samples; one from 2023 or later can.";
  } else {
    Promise.all([...document.querySelectorAll(".browse")].map(browse)).then((browsers) => {
      keys(browsers);
      document.documentElement.dataset.ready = "yes";
    });
  }
})();
