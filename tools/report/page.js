"use strict";
// Entries with their bytes and fields, patches, and the start of it all.

const E = data.entries, W = data.writes, several = data.runs.length > 1;
const STATES = ["not run", "done", "failed", "unfinished"];
const place = (table, row) => `${table.stream[row]}:${table.task[row]}`;
const packed = atob(E.raws.bytes);
const bytesOf = (raw) => Uint8Array.from(packed.slice(raw * 64, raw * 64 + 64), (c) => c.charCodeAt(0));
const layouts = E.layouts.map((layout) => ({
  name: text(layout.name),
  fields: layout.fields.map(([name, offset, width, count, kind, reserved, meaning, names]) => {
    const known = new Map();
    for (let i = 0; i < names.length; i += 2) known.set(String(names[i]), text(names[i + 1]));
    return { name: text(name), offset, width, count, kind, reserved, meaning: text(meaning), known };
  }),
}));

function bits(bytes, offset, width, signed) {
  let found = 0n;
  const first = offset >> 3, last = (offset + width - 1) >> 3;
  for (let i = last; i >= first; i--) found = (found << 8n) | BigInt(bytes[i] ?? 0);
  found = (found >> BigInt(offset & 7)) & ((1n << BigInt(width)) - 1n);
  return signed ? BigInt.asIntN(width, found) : found;
}
const decoded = new Map();
function valuesOf(raw) {
  if (!decoded.has(raw)) {
    const bytes = bytesOf(raw), found = new Map();
    for (const f of layouts[E.raws.layout[raw]].fields) {
      const one = (k) => bits(bytes, f.offset + k * f.width, f.width, f.kind === "int");
      found.set(f.name, f.count ? Array.from({ length: f.count }, (_, k) => one(k)) : one(0));
    }
    decoded.set(raw, found);
  }
  return decoded.get(raw);
}

const rowOf = new Map();
for (let row = 0; row < E.raw.length; row++) rowOf.set(`${E.run[row]} ${E.stream[row]} ${E.slot[row]}`, row);
const entryRow = (run, stream, slot) => rowOf.get(`${run} ${stream} ${slot}`) ?? -1;
const patchesOf = new Map();
for (let row = 0; row < W.time.length; row++) {
  if (W.target[row] > 1) continue;
  const key = `${W.run[row]} ${W.stream[row]} ${W.slot[row]}`;
  if (!patchesOf.has(key)) patchesOf.set(key, []);
  patchesOf.get(key).push(row);
}
const patched = (row) => patchesOf.get(`${E.run[row]} ${E.stream[row]} ${E.slot[row]}`) ?? [];

function makeEntries(holder, timeline) {
  const side = make("div", { class: "entry", tabindex: "0", role: "region", "aria-label": "The chosen entry" }, make("p", { class: "quiet" }, "Choose an entry to see its bytes and fields."));
  const left = make("div"), pair = make("div", { class: "pair split" }, left, side);
  let zeros = false, chosen = -1;
  const time = (column) => (row) => (E[column][row] < 0 ? "" : us(E[column][row]));
  const columns = [
    ...(several ? [{ title: "Execution", key: "run", width: "4.6rem", look: "n", cell: (r) => E.run[r] }] : []),
    { title: "Entry", key: "entry", width: "3.6rem", cell: (r) => place(E, r), value: (r) => E.stream[r] * 1e10 + E.task[r] },
    { title: "Slot", key: "slot", width: "2.6rem", look: "n", cell: (r) => E.slot[r] },
    { title: "Kind", key: "kind", width: "7rem", cell: (r) => text(E.raws.kind[E.raw[r]]) },
    { title: "Node", key: "node", width: "minmax(5.5rem, 0.4fr)", cell: (r) => text(E.node[r]) },
    { title: "Start µs", key: "start", width: "5.2rem", look: "n", cell: time("start"), value: (r) => E.start[r] },
    { title: "Took µs", key: "took", width: "4.4rem", look: "n", cell: time("took"), value: (r) => E.took[r] },
    { title: "State", key: "state", width: "4.6rem", cell: (r) => STATES[E.state[r]] },
    { title: "Patches", key: "patches", width: "3.8rem", look: "n", cell: (r) => patched(r).length || "", value: (r) => patched(r).length },
    { title: "Facts", key: "facts", width: "minmax(14rem, 1fr)", cell: (r) => text(E.raws.facts[E.raw[r]]) },
  ];
  const extra = {
    words: (r) => `${place(E, r)} ${text(E.node[r])} ${STATES[E.state[r]]} `.toLowerCase() + rawWords(E.raw[r]),
    field: (r, key) => key === "stream" || key === "task" ? E[key][r] : valuesOf(E.raw[r]).get(key),
    enter: (r) => timeline().show(E.run[r], E.stream[r], E.task[r]),
  };
  const grid = Grid({ holder: left, filters: holder, name: "entries-grid", label: "Entries", columns, count: E.raw.length, extra, onChoose: show,
    hint: "Words, or field=value: kind=kernel block_dim>3. In the table 1 to 9 sort." });
  holder.append(pair);
  const known = new Map();
  function rawWords(raw) {
    if (!known.has(raw)) known.set(raw, `${text(E.raws.kind[raw])} ${text(E.raws.facts[raw])} ${layouts[E.raws.layout[raw]].name} ${hexOf(raw)}`.toLowerCase());
    return known.get(raw);
  }
  const hexOf = (raw) => Array.from(bytesOf(raw), (b) => b.toString(16).padStart(2, "0")).join("");

  function show(row) {
    chosen = row;
    const raw = E.raw[row], layout = layouts[E.raws.layout[raw]], writes = patched(row).filter((w) => W.target[w] === 0);
    const touched = new Set(), changes = new Map();
    for (const w of writes) {
      for (let bit = W.offset[w]; bit < W.offset[w] + W.width[w]; bit += 1) touched.add(bit >> 3);
      changes.set(text(W.field[w]), w);
    }
    const node = text(E.node[row]);
    side.replaceChildren(
      make("h3", {}, `${place(E, row)} ${text(E.raws.kind[raw])}${node ? ` of ${node}` : ""}`),
      make("p", { class: "quiet" }, `${layout.name} · stream ${E.stream[row]}${streamNames.has(E.stream[row]) ? ` (${streamNames.get(E.stream[row])})` : ""} · slot ${E.slot[row]} · ${STATES[E.state[row]]}`
        + (E.count[row] > 1 ? ` · executed ${E.count[row]} times, the last is shown` : "")),
      E.start[row] >= 0 ? make("p", {}, make("button", { type: "button", class: "link", onclick: () => extra.enter(row) }, "Show in the timeline")) : "",
      hexDump(bytesOf(raw), touched), fieldTable(layout, valuesOf(raw), changes),
      make("label", {}, make("input", { type: "checkbox", checked: zeros, onchange: (event) => { zeros = event.target.checked; show(chosen); } }), "Fields that are 0"));
  }

  function hexDump(bytes, touched) {
    const box = make("div", { class: "hex", role: "img", "aria-label": "The 64 bytes of the entry in hexadecimal" });
    for (let i = 0; i < 64; i++) {
      if (i % 16 === 0) box.append(`${i ? "\n" : ""}${i.toString(16).padStart(2, "0")}  `);
      const look = touched.has(i) ? "patched" : bytes[i] ? "" : "zero";
      box.append(make("span", { class: look || undefined }, bytes[i].toString(16).padStart(2, "0")), i % 16 === 15 ? "" : i % 8 === 7 ? "  " : " ");
    }
    return box;
  }

  function fieldTable(layout, values, changes) {
    const body = make("tbody");
    for (const f of layout.fields) {
      const value = values.get(f.name), zero = f.count ? value.every((v) => v === 0n) : value === 0n;
      if (zero && !zeros && !changes.has(f.name)) continue;
      const w = changes.get(f.name), hex = (v) => (v < 0n || v < 10n ? String(v) : `0x${v.toString(16)}`), named = f.count ? "" : f.known.get(String(value)) ?? "";
      const words = f.count ? value.map(hex).join(" ") : `${value}${value >= 10n ? ` (${hex(value)})` : ""}${named ? ` ${named}` : ""}`;
      const end = f.offset + f.width * (f.count || 1) - 1;
      body.append(make("tr", {}, make("td", { title: f.meaning || undefined }, f.name), make("td", { class: "n" }, f.offset === end ? `${end}` : `${f.offset}–${end}`),
        make("td", { class: w === undefined ? "mono" : "mono patched" }, words, w === undefined ? "" : make("div", {}, `was ${text(W.before[w])}, by ${text(W.by[w])}`))));
    }
    return make("table", {}, make("caption", { class: "unseen" }, "Fields"),
      make("thead", {}, make("tr", {}, ...["Field", "Bits", "Value"].map((t, k) => make("th", { scope: "col", class: k === 1 ? "n" : undefined }, t)))), body);
  }
  return { ...grid, show(row) { grid.show(row); } };
}

function makePatches(holder, timeline) {
  const optional = (n) => (n < 0 ? "" : text(n)), targets = ["entry", "context", "tiling cell"];
  const columns = [
    ...(several ? [{ title: "Execution", key: "run", width: "4.6rem", look: "n", cell: (r) => W.run[r] }] : []),
    { title: "Time µs", key: "time", width: "6rem", look: "n", cell: (r) => us(W.time[r]), value: (r) => W.time[r] },
    { title: "What", key: "what", width: "5.5rem", cell: (r) => targets[W.target[r]] },
    { title: "Entry", key: "entry", width: "4rem", cell: (r) => (W.stream[r] < 0 ? "" : place(W, r)) },
    { title: "Node", key: "node", width: "6rem", cell: (r) => text(W.node[r]) },
    { title: "Field", key: "field", width: "minmax(13rem, 1fr)", cell: (r) => (W.target[r] === 2 ? text(W.struct[r]) : `${text(W.struct[r])}.${text(W.field[r])}`) },
    { title: "Bits", key: "bits", width: "5.5rem", look: "n", cell: (r) => (W.width[r] ? `${W.offset[r]}–${W.offset[r] + W.width[r] - 1}` : ""), value: (r) => W.offset[r] },
    { title: "Before", key: "before", width: "6.5rem", look: "n mono", cell: (r) => text(W.before[r]) },
    { title: "After", key: "after", width: "6.5rem", look: "n mono", cell: (r) => text(W.after[r]) },
    { title: "Key", key: "key", width: "2.4rem", look: "n", cell: (r) => optional(W.key[r]) },
    { title: "Row", key: "row", width: "2.4rem", look: "n", cell: (r) => (W.row[r] < 0 ? "" : W.row[r]) },
    { title: "By", key: "by", width: "9rem", cell: (r) => text(W.by[r]) },
  ];
  const words = (r) => `${place(W, r)} ${targets[W.target[r]]} ${text(W.node[r])} ${text(W.struct[r])}.${text(W.field[r])} ${text(W.before[r])} ${text(W.after[r])} ${text(W.by[r])}`.toLowerCase();
  const extra = { words, field: (r, key) => (["stream", "task", "slot"].includes(key) ? W[key][r] : undefined),
    enter: (r) => timeline().show(W.run[r], W.bystream[r], W.bytask[r]) };
  return Grid({ holder, name: "patches-grid", label: "Patches", columns, count: W.time.length, extra, hint: "Enter in the table shows who wrote in the timeline." });
}

function nav() {
  const links = [...document.querySelectorAll("nav a")], seen = new Map(links.map((a) => [a.hash.slice(1), a]));
  const watch = new IntersectionObserver((found) => {
    for (const each of found) if (each.isIntersecting) {
      links.forEach((a) => a.removeAttribute("aria-current"));
      seen.get(each.target.id)?.setAttribute("aria-current", "true");
    }
  }, { rootMargin: "-15% 0px -75% 0px" });
  document.querySelectorAll("section").forEach((each) => watch.observe(each));
}

themes();
let timeline = null;
const entries = makeEntries(byId("entries-view"), () => timeline);
const patches = makePatches(byId("patches-view"), () => timeline);
timeline = Timeline(byId("timeline-view"));
document.querySelectorAll("button.show").forEach((each) => each.addEventListener("click", () => {
  timeline.show(Number(each.dataset.run), Number(each.dataset.stream), Number(each.dataset.task));
}));
addEventListener("keydown", (event) => {
  if (event.key === "/" && !/^(INPUT|TEXTAREA)$/.test(event.target.tagName)) { event.preventDefault(); entries.search.focus(); }
});
nav();
document.documentElement.dataset.ready = String(patches.box.getAttribute("aria-rowcount") - 1);
