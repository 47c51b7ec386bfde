"use strict";
// Keys, live runs, and tags, notes and ratings. All text goes through textContent; there is no HTML here but that of the app's own pages.
(() => {
  const base = document.documentElement.dataset.base;
  const count = (value) => String(value).replace(/\B(?=(\d{3})+$)/g, ",");
  const first = (selector) => document.querySelector(selector);
  const all = (selector) => [...document.querySelectorAll(selector)];

  // Rows that open something.

  const rows = all("[data-href], [data-row]");
  let selected = -1;
  const select = (place) => {
    if (!rows.length) return;
    if (selected >= 0) rows[selected].classList.remove("selected");
    selected = Math.max(0, Math.min(place, rows.length - 1));
    rows[selected].classList.add("selected");
    rows[selected].scrollIntoView({ block: "nearest" });
  };
  for (const row of rows) {
    if (!row.dataset.href) continue;
    row.addEventListener("click", (event) => {
      if (event.target.closest("a, button, input, summary, label") || String(getSelection())) return;
      location.assign(row.dataset.href);
    });
  }

  // Runs to compare.

  const boxes = all("#compare-form input[type=checkbox]");
  const button = first("#compare-button");
  const chosen = () => boxes.filter((box) => box.checked);
  const allow = () => { if (button) { const n = chosen().length; button.disabled = n < 2 || n > 8; } };
  for (const box of boxes) {
    box.addEventListener("change", () => {
      // A run of several benchmarks has a box in each of its rows; they are one choice.
      for (const other of boxes) if (other.value === box.value) other.checked = false;
      box.checked = box.dataset.was !== "yes";
      for (const other of boxes) other.dataset.was = other.checked ? "yes" : "";
      allow();
    });
  }
  allow();

  // Keys.

  const help = first("#help");
  const go = (selector) => {
    const link = first(selector);
    if (link && link.getAttribute("href")) location.assign(link.getAttribute("href"));
    return Boolean(link);
  };
  const move = (by) => {
    if (rows.length) select(selected < 0 ? (by > 0 ? 0 : rows.length - 1) : selected + by);
    else go(by > 0 ? "[rel=next]" : "[rel=prev]");
  };
  const step = (by) => {
    const steps = all("[data-step]").filter((item) => item.offsetParent);
    const place = steps.indexOf(document.activeElement.closest("[data-step]"));
    const next = steps[place < 0 ? (by > 0 ? 0 : steps.length - 1) : place + by];
    if (next) { next.focus(); next.scrollIntoView({ block: "nearest" }); }
  };
  const unfold = () => {
    const folds = all("[data-step]:focus > details");
    const open = folds.some((fold) => !fold.open);
    for (const fold of folds) fold.open = open;
    return folds.length > 0;
  };
  const keys = {
    n: () => step(1),
    p: () => step(-1),
    j: () => move(1),
    k: () => move(-1),
    ArrowRight: () => go("[rel=next]"),
    ArrowLeft: () => go("[rel=prev]"),
    Enter: () => { if (!unfold() && selected >= 0) location.assign(rows[selected].dataset.href || rows[selected].querySelector("a").href); },
    u: () => go("[rel=up]") || go(".brand"),
    g: () => go(".brand"),
    x: () => { const box = selected >= 0 && rows[selected].querySelector("input[type=checkbox]"); if (box && !box.disabled) box.click(); },
    c: () => { if (button && !button.disabled) button.click(); },
    r: () => { const field = first("[data-rate]"); if (field) field.focus(); },
    "/": () => { const field = first("[data-search]"); if (field) { field.focus(); field.select(); } },
    "?": () => help.showModal(),
  };
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input:not([type=checkbox]), select, textarea, dialog");
    if (event.key === "Escape" && typing && !typing.matches("dialog")) typing.blur();
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" && event.target.closest("a, button, summary, input")) return;
    if (event.key.startsWith("Arrow") && event.target.closest(".scroll")?.scrollWidth > event.target.closest(".scroll")?.clientWidth) return;
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
  first("#help-button").addEventListener("click", () => help.showModal());
  for (const field of all("[data-submit]")) field.addEventListener("change", () => field.form.requestSubmit());

  // What changes while it is looked at: asked for every two seconds, and not while the page is hidden.

  const every = (seconds, ask) => {
    const again = async () => {
      try {
        if (!document.hidden && (await ask()) === "over") return;
      } catch {
        // The server was stopped, or is busy: asked again later.
      }
      setTimeout(again, seconds * 1000);
    };
    setTimeout(again, seconds * 1000);
  };
  const asked = async (address) => {
    const answer = await fetch(address);
    if (!answer.ok) throw new Error(answer.status);
    return answer.json();
  };

  const put = (element, text) => { if (element && element.textContent !== text) element.textContent = text; };
  const liveRows = all("tr[data-live]");
  if (liveRows.length) {
    every(2, async () => {
      const { runs } = await asked(`${base}/api/live`);
      for (const row of liveRows) {
        const run = runs[row.dataset.live];
        if (!run) { if (!chosen().length) location.reload(); return "over"; }
        const found = run.benchmarks[row.dataset.benchmark];
        put(row.querySelector("[data-live-elapsed]"), run.elapsed);
        if (!found) continue;
        put(row.querySelector("[data-live-score]"), found.score);
        put(row.querySelector("[data-live-done]"), found.done);
        put(row.querySelector("[data-live-unscored]"), found.unscored);
      }
      return "";
    });
  }
  const liveHead = first("[data-live-run]");
  if (liveHead) {
    every(2, async () => {
      const run = await asked(`${base}/api/runs/${encodeURIComponent(liveHead.dataset.liveRun)}/live`);
      if (run.is_over) { location.reload(); return "over"; }
      put(liveHead.querySelector("[data-live-line]"), run.line);
      put(liveHead.querySelector("[data-live-time]"), run.elapsed);
      if (run.share !== undefined) liveHead.querySelector("[data-live-bar]").value = run.share;
      for (const part of all("[data-live-benchmark]")) {
        const found = (run.benchmarks || {})[part.dataset.liveBenchmark];
        if (found) for (const spot of part.querySelectorAll("[data-live]")) put(spot, found[spot.dataset.live]);
      }
      return "";
    });
  }

  // Steps of an episode in progress are appended as they come; the page is made again once it is over.
  if (first("[data-live-steps]")) {
    every(2, async () => {
      const answer = await fetch(location.href);
      if (!answer.ok) throw new Error(answer.status);
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (!fresh.querySelector("[data-live-steps]")) { location.reload(); return "over"; }
      const lists = [...fresh.querySelectorAll("[data-steps]")];
      if (lists.length !== all("[data-steps]").length) { location.reload(); return "over"; }
      for (const item of lists[lists.length - 1].querySelectorAll("[data-step]")) {
        const known = document.getElementById(item.id);
        if (!known) all("[data-steps]").pop().append(document.importNode(item, true));
        else if (known.hasAttribute("data-open")) known.replaceWith(document.importNode(item, true));
      }
      return "";
    });
  }

  for (const line of all('[data-ready="no"]')) {
    every(1, async () => {
      const index = await asked(line.dataset.index);
      const far = `${count(index.n)} of ${count(index.total)} answers`;
      const typing = document.activeElement.closest("input, textarea");
      // Once: the index of a run in progress is never complete for long.
      const again = performance.getEntriesByType("navigation")[0]?.type === "reload";
      if (index.is_ready && !index.problem && !typing && !again) location.reload();
      line.textContent = index.problem || (index.is_ready
        ? `The index of ${count(index.n)} answers is built; reload the page to see all of them.`
        : `The index of filters and search is being built: ${far}.`);
      return index.is_ready ? "over" : "";
    });
  }

  // Tags, notes and ratings.

  for (const area of all("[data-notes]")) {
    const edit = area.querySelector("[data-notes-edit]");
    const form = area.querySelector("form");
    if (!edit) continue;
    edit.hidden = false;
    edit.addEventListener("click", () => { form.hidden = false; edit.hidden = true; form.elements.tags.focus(); });
    form.addEventListener("reset", () => { form.hidden = true; edit.hidden = false; });
  }
  for (const field of all("[data-remember]")) field.value = localStorage.getItem(`nel ${field.name}`) || "";
  for (const form of all("[data-save]")) {
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const fields = Object.fromEntries(new FormData(form));
      if ("tags" in fields) fields.tags = fields.tags.split(",").map((tag) => tag.trim()).filter((tag) => tag);
      for (const field of form.querySelectorAll("[data-remember]")) localStorage.setItem(`nel ${field.name}`, field.value);
      const problem = form.querySelector("[data-problem]");
      try {
        const answer = await fetch(form.dataset.save, {
          method: "POST",
          headers: { "Content-Type": "application/json" },
          body: JSON.stringify(fields),
        });
        if (answer.ok) location.reload();
        else problem.textContent = (await answer.json()).error;
      } catch {
        problem.textContent = "nel view does not answer; was it stopped?";
      }
    });
  }
})();
