"use strict";
// Tables that are filtered, sorted and gone through with the keyboard; only rows in sight are in the document.

const HIGH = 28, AHEAD = 8;
const TEST = /^([a-z_][\w.]*)(!=|>=|<=|=|>|<)(.+)$/i;

const SIGNS = { "=": (o) => o === 0, "!=": (o) => o !== 0, ">": (o) => o > 0, "<": (o) => o < 0, ">=": (o) => o >= 0, "<=": (o) => o <= 0 };
const NUMBER = /^-?(\d+|0x[0-9a-f]+)$/i;

// Whether a value stands to `wanted` as `sign` says: numbers by size, of any width; all others only as equal or not.
function comparison(sign, wanted) {
  const holds = SIGNS[sign], words = wanted.toLowerCase(), plain = NUMBER.test(words) ? BigInt(words) : null;
  return (value) => {
    if (plain !== null && (typeof value !== "string" || NUMBER.test(value))) {
      const mine = typeof value === "object" ? null : BigInt(value);
      return mine === null ? sign === "!=" : holds(mine < plain ? -1 : mine > plain ? 1 : 0);
    }
    return holds(String(value).toLowerCase() === words ? 0 : NaN);
  };
}

// A table of which only the rows in sight are in the document. `columns`: title, key, width, cell, optional sort value.
function Grid({ holder, filters = holder, name, label, columns, count, extra, onChoose, hint }) {
  let order = Array.from({ length: count }, (_, i) => i), sorted = null, down = false, current = -1;
  const template = columns.map((column) => column.width).join(" ");
  const least = columns.reduce((sum, column) => sum + Number(/[\d.]+/.exec(column.width)[0]) + 0.7, 0.9);
  const fit = (line) => { line.style.gridTemplateColumns = template; line.style.minWidth = `${least}rem`; return line; };
  const heads = columns.map((column, k) => make("div", { role: "columnheader", "aria-sort": "none", class: column.look },
    make("button", { type: "button", tabindex: "-1", onclick: () => sortBy(k) }, column.title)));
  const head = make("div", { class: "line heads", role: "row", "aria-rowindex": "1" }, ...heads), rows = make("div", { class: "rows", role: "rowgroup" });
  const box = make("div", { class: "grid", role: "grid", tabindex: "0", "aria-label": label, "aria-colcount": columns.length }, head, rows);
  const said = make("span", { class: "quiet", role: "status" }), search = make("input", { type: "search", "aria-describedby": `${name}-hint`,
    spellcheck: "false", autocomplete: "off", oninput: filter });
  fit(head);
  filters.append(make("div", { class: "filter" }, make("label", {}, make("span", {}, "Filter"), search), said,
    make("span", { class: "quiet", id: `${name}-hint` }, hint)));
  holder.append(box);

  function value(row, key) {
    const column = columns.find((c) => c.key === key);
    return column ? (column.value ?? column.cell)(row) : extra?.field(row, key);
  }
  function test(word) {
    const found = TEST.exec(word), words = word.toLowerCase();
    if (!found) return (row) => extra.words(row).includes(words);
    const [, key, sign, wanted] = found, lower = key.toLowerCase(), holds = comparison(sign, wanted);
    return (row) => {
      const mine = value(row, lower) ?? value(row, key);
      return mine !== undefined && holds(mine);
    };
  }
  function filter() {
    const wanted = search.value.trim().split(/\s+/).filter(Boolean).map(test);
    order = [];
    for (let row = 0; row < count; row++) if (wanted.every((is) => is(row))) order.push(row);
    arrange();
  }
  function arrange() {
    if (sorted !== null) {
      const column = columns[sorted], of = column.value ?? column.cell, keys = new Map(order.map((row) => [row, of(row)]));
      order.sort((a, b) => {
        const [x, y] = [keys.get(a), keys.get(b)];
        return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1) || a - b;
      });
    }
    heads.forEach((each, k) => {
      each.setAttribute("aria-sort", k !== sorted ? "none" : down ? "descending" : "ascending");
      each.firstChild.textContent = columns[k].title + (k !== sorted ? "" : down ? " ↓" : " ↑");
    });
    said.textContent = order.length === count ? `${grouped(count)} rows` : `${grouped(order.length)} of ${grouped(count)} rows`;
    box.setAttribute("aria-rowcount", order.length + 1);
    rows.style.height = `${order.length * HIGH}px`;
    box.classList.toggle("short", order.length * HIGH < 440);
    current = order.length ? clamp(order.indexOf(chosenRow), -1, order.length - 1) : -1;
    render();
  }
  function sortBy(k) {
    if (sorted !== k) { sorted = k; down = false; } else if (!down) down = true; else { sorted = null; down = false; return filter(); }
    arrange();
  }
  let chosenRow = -1, printing = false;
  function render() {
    const tall = box.clientHeight || 480;
    const first = printing ? 0 : Math.max(Math.floor((box.scrollTop - 32) / HIGH) - AHEAD, 0);
    const last = Math.min(printing ? 400 : first + Math.ceil(tall / HIGH) + 2 * AHEAD, order.length), made = [];
    for (let at = first; at < last; at++) made.push(line(at));
    rows.replaceChildren(...(made.length ? made : [make("p", { class: "empty" }, count ? "No row matches." : "Nothing was recorded.")]));
    if (current >= first && current < last) box.setAttribute("aria-activedescendant", `${name}-${current}`);
    else box.removeAttribute("aria-activedescendant");
  }
  function line(at) {
    const row = order[at];
    const made = make("div", { class: "line", role: "row", id: `${name}-${at}`, "aria-rowindex": at + 2, "aria-selected": at === current ? "true" : "false" },
      ...columns.map((column) => make("div", { role: "gridcell", class: column.look }, column.node?.(row) ?? String(column.cell(row)))));
    fit(made);
    if (!printing) made.style.top = `${at * HIGH}px`;
    made.addEventListener("click", () => go(at));
    return made;
  }
  function go(at) {
    if (!order.length) return;
    current = clamp(at, 0, order.length - 1);
    chosenRow = order[current];
    const y = current * HIGH, room = box.clientHeight - 32;
    if (y < box.scrollTop) box.scrollTop = y; else if (y + HIGH > box.scrollTop + room) box.scrollTop = y + HIGH - room;
    render();
    onChoose?.(chosenRow);
  }
  const page = () => Math.max(Math.floor((box.clientHeight - 32) / HIGH) - 1, 1);
  const keys = { ArrowDown: () => go(current + 1), ArrowUp: () => go(Math.max(current - 1, 0)), PageDown: () => go(current + page()),
    PageUp: () => go(current - page()), Home: () => go(0), End: () => go(order.length - 1) };
  box.addEventListener("keydown", (event) => {
    if (event.target !== box || event.ctrlKey || event.metaKey || event.altKey) return;
    const n = Number(event.key);
    if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
    else if (n >= 1 && n <= columns.length) { event.preventDefault(); sortBy(n - 1); }
    else if (event.key === "Enter" && chosenRow >= 0 && extra?.enter) { event.preventDefault(); extra.enter(chosenRow); }
  });
  search.addEventListener("keydown", (event) => { if (event.key === "ArrowDown") { event.preventDefault(); box.focus(); go(Math.max(current, 0)); } });
  box.addEventListener("scroll", render);
  addEventListener("beforeprint", () => { printing = true; render(); });
  addEventListener("afterprint", () => { printing = false; render(); });
  arrange();
  return {
    box, search,
    show(row) {
      if (!order.includes(row)) { search.value = ""; filter(); }
      holder.closest("section").scrollIntoView();
      box.focus({ preventScroll: true });
      go(order.indexOf(row));
    },
  };
}
