// What the page does beyond showing: tabs, sorting, copying, values on hover and by keyboard. Without it everything is shown.
"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  // Copying: a command, or a table as Markdown.
  const said = document.getElementById("said");
  const copied = async text => {
    try { await navigator.clipboard.writeText(text); return true; } catch { /* no clipboard for this page: the old way */ }
    const field = document.createElement("textarea");
    field.value = text;
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    return done;
  };
  for (const button of all("button.copy")) {
    const name = button.textContent;
    button.hidden = false;
    button.addEventListener("click", async () => {
      const done = await copied(button.dataset.copy);
      button.focus();
      button.textContent = said.textContent = done ? "Copied" : "Not copied";
      setTimeout(() => { button.textContent = name; said.textContent = ""; }, 1500);
    });
  }

  // Tabs: the links to the loads become tabs, the loads their panels.
  const list = document.querySelector("[data-tabs]");
  const tabs = list ? all("a", list) : [];
  const panelOf = tab => document.getElementById(tab.hash.slice(1));
  const choose = chosen => {
    for (const tab of tabs) {
      const on = tab === chosen;
      tab.setAttribute("aria-selected", on);
      tab.tabIndex = on ? 0 : -1;
      panelOf(tab).hidden = !on;
    }
  };
  const tabFor = id => {
    const target = id && document.getElementById(id);
    return target && tabs.find(tab => panelOf(tab).contains(target));
  };
  const follow = () => {
    const tab = tabFor(location.hash.slice(1));
    if (tab) { choose(tab); document.getElementById(location.hash.slice(1)).scrollIntoView(); }
    const inside = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    const folded = inside && inside.querySelector(":scope > details");
    if (folded) folded.open = true;
  };
  if (tabs.length) {
    list.setAttribute("role", "tablist");
    list.setAttribute("aria-label", "Loads");
    tabs.forEach((tab, index) => {
      tab.setAttribute("role", "tab");
      tab.setAttribute("aria-controls", panelOf(tab).id);
      panelOf(tab).setAttribute("role", "tabpanel");
      tab.addEventListener("click", event => { event.preventDefault(); choose(tab); });
      tab.addEventListener("keydown", event => {
        const to = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: tabs.length - 1, " ": index }[event.key];
        if (to === undefined) return;
        event.preventDefault();
        const next = tabs[(to + tabs.length) % tabs.length];
        choose(next);
        next.focus();
      });
    });
    choose(tabs[0]);
  }
  addEventListener("hashchange", follow);
  follow();

  // Sorting: a click on a head sorts by it, up, then down, then as it was.
  const valueOf = (row, column) => {
    const cell = row.cells[column];
    const text = cell.dataset.value ?? cell.textContent.trim();
    return text === "" ? null : Number.isNaN(Number(text)) ? text : Number(text);
  };
  const order = (a, b) => a === null ? (b === null ? 0 : 1) : b === null ? -1
    : typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
  for (const table of all("table.sortable")) {
    const body = table.tBodies[0], rows = [...body.rows], heads = all("thead th", table);
    for (const head of heads) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const next = { none: "ascending", ascending: "descending", descending: "none" }[head.getAttribute("aria-sort") ?? "none"];
        for (const other of heads) other.removeAttribute("aria-sort");
        if (next !== "none") head.setAttribute("aria-sort", next);
        const sign = next === "descending" ? -1 : 1;
        const keyed = rows.map(row => [valueOf(row, head.cellIndex), row]);
        const known = keyed.filter(pair => pair[0] !== null), rest = keyed.filter(pair => pair[0] === null);
        known.sort((a, b) => sign * order(a[0], b[0]));
        body.append(...(next === "none" ? rows : [...known, ...rest].map(pair => pair[1])));
      });
    }
  }

  // Values: what a mark of a chart shows, beside it, on hover and on focus; Escape puts it away.
  const tip = document.getElementById("tip");
  const hide = () => { tip.hidden = true; };
  const show = mark => {
    tip.textContent = mark.dataset.said;
    tip.hidden = false;
    const at = mark.getBoundingClientRect(), own = tip.getBoundingClientRect();
    const left = Math.min(Math.max(at.left + at.width / 2 - own.width / 2, 6), document.documentElement.clientWidth - own.width - 6);
    const above = at.top - own.height - 8;
    tip.style.left = `${left + scrollX}px`;
    tip.style.top = `${(above < 50 ? at.bottom + 8 : above) + scrollY}px`;
  };
  for (const mark of all("svg .mark")) {
    const title = mark.querySelector("title");  // the browser's own tooltip would come on top of ours
    mark.dataset.said = title.textContent;
    title.remove();
    mark.addEventListener("mouseenter", () => show(mark));
    mark.addEventListener("mouseleave", hide);
    mark.addEventListener("focus", () => show(mark));
    mark.addEventListener("blur", hide);
  }
  addEventListener("keydown", event => { if (event.key === "Escape") hide(); });
})();
