"use strict";
// What the other scripts of the page use: its data, elements, colours. All of them are one script in the page.

// Texts of a record are put into the page only with textContent and attributes, never as markup.
const data = JSON.parse(document.getElementById("data").textContent);
const text = (n) => data.strings[n] ?? "";
const byId = (id) => document.getElementById(id);
const clamp = (x, low, high) => Math.max(low, Math.min(high, x));
const grouped = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ",");
const us = (ns) => `${grouped(Math.floor(ns / 1000))}.${String(ns % 1000).padStart(3, "0")}`;

function make(tag, props = {}, ...inside) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...inside.filter((each) => each !== "" && each !== undefined));
  return made;
}

const undelta = (column) => {
  const found = new Float64Array(column.length);
  let last = 0;
  for (let i = 0; i < column.length; i++) found[i] = last += column[i];
  return found;
};

// The first of `count` places, in order, at which `is` holds; `count` when it holds nowhere.
function bisect(count, is) {
  let low = 0, high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (is(middle)) high = middle; else low = middle + 1;
  }
  return low;
}

const streamNames = new Map();
for (let i = 0; i < data.streams.length; i += 2) streamNames.set(data.streams[i], text(data.streams[i + 1]));
const runAt = (time) => {
  const after = bisect(data.runs.length, (i) => data.runs[i][1] > time);
  return after ? data.runs[after - 1][0] : 0;
};


const listeners = [];
let colours = {};
function readColours() {
  const style = getComputedStyle(document.documentElement);
  const names = ["page", "raised", "line", "strong-line", "ink", "soft", "accent", "neutral", "neutral-ink", "wait", "on",
    "flow", "bad", "warn", "c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7"];
  colours = Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
  listeners.forEach((each) => each());
}

function themes() {
  const button = byId("theme"), root = document.documentElement, order = ["system", "light", "dark"];
  let now = 0;
  const show = () => {
    if (now) root.dataset.theme = order[now]; else delete root.dataset.theme;
    button.textContent = `Theme: ${order[now]}`;
    readColours();
  };
  button.hidden = false;
  button.addEventListener("click", () => { now = (now + 1) % order.length; show(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", readColours);
  addEventListener("beforeprint", () => { root.dataset.theme = "light"; readColours(); });
  addEventListener("afterprint", show);
  show();
}
