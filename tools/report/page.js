"use strict";
(() => {
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

  // ---- colours -------------------------------------------------------------------------------------------------

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

  // ---- timeline ------------------------------------------------------------------------------------------------

  const ROW = 19, PAD = 5, HEAD = 26, AXIS = 26, MARKS = 9;
  const QUIET = /^(waits for|without a core|execution \d)/;

  function trackOf(raw) {
    const count = raw.start.length, deepest = raw.depth.reduce((a, b) => Math.max(a, b), -1);
    const rows = Array.from({ length: deepest + 1 }, () => []);
    for (let i = 0; i < count; i++) rows[raw.depth[i]].push(i);
    const name = text(raw.name), stream = /^stream (\d+)/.exec(name);
    return {
      ...raw, name, rows, start: undelta(raw.start), at: undelta(raw.at), stream: stream ? Number(stream[1]) : -1,
      tall: rows.length * ROW + (raw.at.length ? MARKS : 0) + PAD,
    };
  }

  const tracks = data.timeline.tracks.map(trackOf);
  const groups = data.timeline.groups.map(([name, first, end]) => ({ name: text(name), first, end, shown: end - first <= 24 }));
  const streamTracks = groups.filter((g) => g.name === "streams").flatMap((g) => tracks.slice(g.first, g.end));
  const hue = new Map();
  for (const track of streamTracks) {
    for (let i = 0; i < track.title.length; i++) {
      const word = wordOf(text(track.title[i]));
      if (track.task[i] >= 0 && !QUIET.test(text(track.title[i])) && !hue.has(word)) hue.set(word, `c${hue.size % 8}`);
    }
  }
  function wordOf(title) { return title.split(" ", 1)[0]; }

  const flowsAt = new Map();
  const flowKey = (track, slice) => track * 1e8 + slice;
  for (let i = 0; i < data.timeline.flows.length; i += 4) {
    const flow = data.timeline.flows.slice(i, i + 4);
    for (const [at, end] of [[0, "out"], [2, "in"]]) {
      const key = flowKey(flow[at], flow[at + 1]);
      if (!flowsAt.has(key)) flowsAt.set(key, { out: [], in: [] });
      flowsAt.get(key)[end].push(flow);
    }
  }

  function Timeline(holder) {
    let from = Infinity, until = -Infinity;
    for (const track of tracks) {
      for (let i = 0; i < track.start.length; i++) {
        if (track.start[i] < from) from = track.start[i];
        if (track.start[i] + track.length[i] > until) until = track.start[i] + track.length[i];
      }
    }
    if (!(until > from)) { from = 0; until = 1; }
    const whole = [from, until];
    let [t0, t1] = whole, lines = [], height = 0, width = 800, labels = 150, chosen = null, allFlows = false, waiting = false;

    const canvas = make("canvas"), pen = canvas.getContext("2d"), spacer = make("div"), tip = make("div", { class: "tip", hidden: true });
    const box = make("div", { class: "lanes", tabindex: "0", role: "application", "aria-roledescription": "timeline",
      "aria-label": `Timeline of ${data.runs.length} executions, ${us(until - from)} microseconds`, "aria-describedby": "timeline-keys" },
      canvas, spacer);
    const panel = make("div", { class: "chosen", "aria-live": "polite" }), range = make("span", { class: "quiet" });
    const button = (label, action, more = {}) => make("button", { type: "button", onclick: action, ...more }, label);
    const toggles = groups.map((group) => button(`${group.name} ${group.end - group.first}`, (event) => {
      group.shown = !group.shown;
      event.target.setAttribute("aria-pressed", group.shown);
      layout();
    }, { "aria-pressed": String(group.shown) }));
    const flows = button("all flows", () => { allFlows = !allFlows; flows.setAttribute("aria-pressed", allFlows); draw(); },
      { "aria-pressed": "false" });
    holder.append(
      make("div", { class: "bar-of-tools", role: "toolbar", "aria-label": "Timeline" },
        button("+", () => zoom(0.5), { "aria-label": "Zoom in" }), button("−", () => zoom(2), { "aria-label": "Zoom out" }),
        button("Fit", fit), make("span", { class: "gap" }), ...toggles, data.timeline.flows.length ? flows : "", range),
      make("div", { class: "holds-tip" }, box, tip), panel,
      make("p", { class: "keys", id: "timeline-keys" }, ...keyHelp([
        ["Wheel", "zooms once the timeline has the focus, or with Ctrl"], ["+ −", "zoom"], ["0", "fit"], ["← →", "pan"],
        ["↑ ↓", "scroll"], ["J K", "next and previous task of the stream"], ["Enter", "entry"], ["F", "zoom to it"], ["Esc", "let go"]])));
    holder.querySelector(".holds-tip").style.position = "relative";

    const X = (time) => labels + (time - t0) / (t1 - t0) * (width - labels);
    const timeAt = (x) => t0 + (x - labels) / (width - labels) * (t1 - t0);

    function layout() {
      lines = [];
      let y = 0;
      for (const group of groups) {
        if (!group.shown) continue;
        lines.push({ group, y, tall: HEAD });
        y += HEAD;
        for (let k = group.first; k < group.end; k++) {
          lines.push({ track: tracks[k], number: k, y, tall: tracks[k].tall });
          y += tracks[k].tall;
        }
      }
      height = y + 6;
      size();
    }

    function size() {
      width = Math.max(box.clientWidth, 240);
      labels = clamp(Math.round(width * 0.17), 84, 190);
      const shown = Math.min(height + AXIS, box.clientHeight ? Math.max(window.innerHeight * 0.66 - 2, 160) : height);
      const ratio = window.devicePixelRatio || 1;
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(shown * ratio);
      canvas.style.height = `${shown}px`;
      spacer.style.height = `${Math.max(height + AXIS - shown, 0)}px`;
      pen.setTransform(ratio, 0, 0, ratio, 0, 0);
      draw();
    }

    function draw() {
      if (!waiting) { waiting = true; requestAnimationFrame(() => { waiting = false; paint(); }); }
    }

    function paint() {
      const tall = canvas.clientHeight, top = box.scrollTop;
      pen.fillStyle = colours.page;
      pen.fillRect(0, 0, width, tall);
      pen.font = "11px system-ui, sans-serif";
      pen.textBaseline = "middle";
      const ticks = ticksOf();
      pen.fillStyle = colours.line;
      for (const tick of ticks.at) if (X(tick) > labels) pen.fillRect(Math.round(X(tick)), AXIS, 1, tall);
      const onScreen = new Map();
      for (const line of lines) {
        const y = line.y - top + AXIS;
        if (line.track) onScreen.set(line.number, y);
        if (y > tall || y + line.tall < AXIS) continue;
        if (line.group) paintGroup(line.group, y); else paintTrack(line.track, line.number, y);
      }
      paintFlows(onScreen);
      paintAxis(ticks);
      range.textContent = `${us(Math.round(Math.max(t0, whole[0])))} – ${us(Math.round(Math.min(t1, whole[1])))} µs`;
      holder.dataset.from = t0;
      holder.dataset.until = t1;
      holder.dataset.painted = Number(holder.dataset.painted || 0) + 1;
    }

    function ticksOf() {
      const wanted = (t1 - t0) / Math.max((width - labels) / 110, 2), power = 10 ** Math.floor(Math.log10(Math.max(wanted, 1)));
      const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= wanted) ?? power * 10;
      const at = [];
      for (let time = Math.ceil(Math.max(t0, 0) / step) * step; time <= t1; time += step) at.push(time);
      return { at, step };
    }

    function paintAxis({ at, step }) {
      pen.fillStyle = colours.page;
      pen.fillRect(0, 0, width, AXIS);
      pen.fillStyle = colours["strong-line"];
      pen.fillRect(0, AXIS - 1, width, 1);
      pen.fillStyle = colours.soft;
      const digits = step >= 1000 ? 0 : step >= 100 ? 1 : step >= 10 ? 2 : 3;
      for (const time of at) {
        const x = X(time);
        if (x < labels || x > width - 30) continue;
        const whole = grouped(Math.floor(time / 1000)), rest = String(Math.round(time) % 1000).padStart(3, "0").slice(0, digits);
        pen.fillText(digits ? `${whole}.${rest}` : whole, x + 4, AXIS / 2);
      }
      pen.fillText("µs", 12, AXIS / 2);
    }

    function paintGroup(group, y) {
      pen.fillStyle = colours.raised;
      pen.fillRect(0, y, width, HEAD);
      pen.fillStyle = colours.ink;
      pen.font = "600 11px system-ui, sans-serif";
      pen.fillText(group.name, 12, y + HEAD / 2 + 1);
      pen.font = "11px system-ui, sans-serif";
    }

    function paintTrack(track, number, y) {
      track.rows.forEach((row, depth) => paintRow(track, number, row, y + depth * ROW + 2));
      if (track.at.length) paintMarks(track, number, y + track.rows.length * ROW + 2);
      pen.fillStyle = colours.page;
      pen.fillRect(0, y, labels, track.tall);
      pen.fillStyle = colours.soft;
      pen.fillText(cut(track.name, labels - 20), 12, y + ROW / 2 + 2);
      pen.fillStyle = colours.line;
      pen.fillRect(0, y + track.tall - 1, width, 1);
    }

    function paintRow(track, number, row, y) {
      let k = bisect(row.length, (i) => track.start[row[i]] + track.length[row[i]] >= t0);
      while (k < row.length) {
        const i = row[k], start = track.start[i];
        if (start > t1) break;
        const x = Math.max(X(start), labels - 2), right = Math.min(X(start + track.length[i]), width + 2), wide = right - x;
        const here = chosen && chosen.track === number && chosen.slice === i;
        if (wide < 1.5 && !here) {
          pen.fillStyle = fillOf(track, i)[0];
          pen.fillRect(Math.floor(x), y, 1, ROW - 3);
          const next = timeAt(Math.floor(x) + 1);
          k = Math.max(k + 1, bisect(row.length, (n) => track.start[row[n]] + track.length[row[n]] >= next));
          continue;
        }
        paintSlice(track, i, x, y, Math.max(wide, 2), here);
        k++;
      }
    }

    function fillOf(track, i) {
      const title = text(track.title[i]);
      if (track.task[i] < 0) return [colours.neutral, colours["neutral-ink"], ""];
      if (QUIET.test(title)) return [colours.wait, colours.soft, colours["strong-line"]];
      return [colours[hue.get(wordOf(title)) ?? "c7"], colours.on, ""];
    }

    function paintSlice(track, i, x, y, wide, here) {
      const [fill, ink, rim] = fillOf(track, i), tall = ROW - 3;
      pen.fillStyle = fill;
      pen.fillRect(x, y, wide - (wide > 3 ? 0.75 : 0), tall);
      if (rim && wide > 4) {
        pen.strokeStyle = rim;
        pen.lineWidth = 1;
        pen.setLineDash([3, 2]);
        pen.strokeRect(x + 0.5, y + 0.5, wide - 1.75, tall - 1);
        pen.setLineDash([]);
      }
      if (here) {
        pen.strokeStyle = colours.ink;
        pen.lineWidth = 2;
        pen.strokeRect(x - 1, y - 1, wide + 2, tall + 2);
      }
      if (wide > 26) {
        pen.fillStyle = ink;
        pen.fillText(cut(text(track.title[i]), wide - 9), Math.max(x, labels) + 4, y + tall / 2 + 0.5);
      }
    }

    function cut(words, room) {
      if (words.length * 11 <= room) return words;
      const wide = pen.measureText(words.slice(0, 200)).width, most = Math.floor(room / wide * Math.min(words.length, 200));
      if (most >= words.length) return words;
      return most < 4 ? "" : `${words.slice(0, most - 2)}…`;
    }

    const isBad = (what) => /^(hazard|fault|[a-z-]+\.)/.test(what) && !/^(patch|write) /.test(what);

    function paintMarks(track, number, y) {
      let last = -9;
      for (let k = bisect(track.at.length, (i) => track.at[i] >= t0); k < track.at.length && track.at[k] <= t1; k++) {
        const x = X(track.at[k]), here = chosen && chosen.track === number && chosen.mark === k;
        if (x - last < 1.5 && !here) continue;
        last = x;
        pen.fillStyle = here ? colours.ink : isBad(text(track.what[k])) ? colours.bad : colours.warn;
        pen.beginPath();
        pen.moveTo(x, y); pen.lineTo(x + 4, y + 4); pen.lineTo(x, y + 8); pen.lineTo(x - 4, y + 4);
        pen.fill();
      }
    }

    function paintFlows(onScreen) {
      const mine = chosen && chosen.slice >= 0 ? flowsAt.get(flowKey(chosen.track, chosen.slice)) : null;
      const list = mine ? [...mine.out, ...mine.in] : [];
      pen.save();
      pen.beginPath();
      pen.rect(labels, AXIS, width, canvas.clientHeight);
      pen.clip();
      if (allFlows) {
        const every = data.timeline.flows, seen = new Set();
        for (let i = 0; i < every.length; i += 4) paintFlow(every.slice(i, i + 4), onScreen, 0.35, seen);
      }
      for (const flow of list) paintFlow(flow, onScreen, 1, null);
      pen.restore();
    }

    function paintFlow([a, i, b, j], onScreen, alpha, seen) {
      if (!onScreen.has(a) || !onScreen.has(b)) return;
      const one = tracks[a], other = tracks[b];
      const x1 = X(Math.min(one.start[i] + one.length[i], other.start[j])), x2 = X(other.start[j]);
      if (Math.max(x1, x2) < labels || Math.min(x1, x2) > width) return;
      const y1 = onScreen.get(a) + one.depth[i] * ROW + ROW / 2, y2 = onScreen.get(b) + other.depth[j] * ROW + ROW / 2;
      if (seen) {
        const key = `${a} ${b} ${Math.round(x1 / 2)} ${Math.round(x2 / 2)}`;
        if (seen.has(key) || seen.size > 3000) return;
        seen.add(key);
      }
      pen.globalAlpha = alpha;
      pen.strokeStyle = pen.fillStyle = colours.flow;
      pen.lineWidth = 1.4;
      const bend = Math.max(12, Math.abs(x2 - x1) / 2);
      pen.beginPath();
      pen.moveTo(x1, y1);
      pen.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2, y2);
      pen.stroke();
      pen.beginPath();
      pen.moveTo(x2, y2); pen.lineTo(x2 - 6, y2 - 3.5); pen.lineTo(x2 - 6, y2 + 3.5);
      pen.fill();
      pen.globalAlpha = 1;
    }

    function hit(x, y) {
      if (y < AXIS || x < labels) return null;
      const at = y - AXIS + box.scrollTop, line = lines.find((l) => l.track && at >= l.y && at < l.y + l.tall);
      if (!line) return null;
      const track = line.track, depth = Math.floor((at - line.y - 2) / ROW), near = 5 / (width - labels) * (t1 - t0), time = timeAt(x);
      if (depth >= track.rows.length) {
        const k = bisect(track.at.length, (i) => track.at[i] >= time - near);
        return k < track.at.length && track.at[k] <= time + near ? { track: line.number, slice: -1, mark: k } : null;
      }
      const row = track.rows[Math.max(depth, 0)];
      const k = bisect(row.length, (i) => track.start[row[i]] + track.length[row[i]] >= time - near / 2);
      const best = [k, k + 1].find((n) => n < row.length && track.start[row[n]] <= time && time <= track.start[row[n]] + track.length[row[n]]);
      const found = best ?? (k < row.length && track.start[row[k]] <= time + near / 2 ? k : -1);
      return found < 0 ? null : { track: line.number, slice: row[found], mark: -1 };
    }

    function described({ track: number, slice, mark }) {
      const track = tracks[number];
      if (mark >= 0) return [text(track.what[mark]), `at ${us(track.at[mark])} µs, ${text(track.about[mark])}`];
      return [text(track.title[slice]), `${us(track.start[slice])} µs, took ${us(track.length[slice])} µs`];
    }

    function choose(found, move) {
      chosen = found;
      panel.replaceChildren(...(found ? details(found) : [make("p", { class: "quiet" }, "Choose a slice to see its task.")]));
      if (found && move) reveal(found);
      draw();
    }

    function details(found) {
      const track = tracks[found.track], [title, when] = described(found), parts = [make("h3", {}, title)];
      const place = found.slice >= 0 && track.task[found.slice] >= 0 ? ` · task ${track.task[found.slice]}, slot ${track.slot[found.slice]}` : "";
      const row = found.slice >= 0 ? entryOf(found) : -1;
      const kind = row >= 0 ? ` · ${text(E.raws.kind[E.raw[row]])}${text(E.node[row]) ? ` of ${text(E.node[row])}` : ""}` : "";
      parts.push(make("p", {}, `${track.name}${place}${kind} · ${when}`));
      if (row >= 0) parts.push(make("p", {}, button("Show its entry", () => entries.show(row), { class: "link" })));
      const flow = flowsAt.get(flowKey(found.track, found.slice));
      if (flow) {
        const link = (word, number, slice) => make("li", {}, `${word} `,
          button(`${text(tracks[number].title[slice])} on ${tracks[number].name}`, () => choose({ track: number, slice, mark: -1 }, true), { class: "link" }));
        parts.push(make("ul", {}, ...flow.in.map(([a, i]) => link("released or patched by", a, i)),
          ...flow.out.map(([, , b, j]) => link("releases or patches", b, j))));
      }
      return parts;
    }

    // The same task on its stream: slices of engines and cores do not say their stream.
    function onStream({ track: number, slice }) {
      const track = tracks[number];
      if (track.stream >= 0) return { track: number, slice, mark: -1 };
      for (const other of streamTracks) {
        for (const row of other.rows) {
          const end = track.start[slice];
          let k = bisect(row.length, (i) => other.start[row[i]] > end) - 1;
          if (k >= 0 && other.task[row[k]] === track.task[slice] && other.title[row[k]] === track.title[slice] &&
            other.slot[row[k]] === track.slot[slice]) return { track: tracks.indexOf(other), slice: row[k], mark: -1 };
        }
      }
      return null;
    }

    function entryOf(found) {
      if (tracks[found.track].task[found.slice] < 0) return -1;
      const own = onStream(found);
      if (!own) return -1;
      const track = tracks[own.track];
      return entryRow(runAt(track.start[own.slice]), track.stream, track.slot[own.slice]);
    }

    function reveal(found) {
      const group = groups.find((g) => found.track >= g.first && found.track < g.end);
      if (!group.shown) { group.shown = true; toggles[groups.indexOf(group)].setAttribute("aria-pressed", "true"); layout(); }
      const track = tracks[found.track], line = lines.find((l) => l.number === found.track);
      const start = found.mark >= 0 ? track.at[found.mark] : track.start[found.slice];
      const end = found.mark >= 0 ? start : start + track.length[found.slice];
      if (start < t0 || end > t1) {
        const span = Math.max(t1 - t0, (end - start) * 1.2), middle = (start + end) / 2;
        view(middle - span / 2, middle + span / 2);
      }
      const room = canvas.clientHeight - AXIS;
      if (line.y < box.scrollTop || line.y + line.tall > box.scrollTop + room) box.scrollTop = Math.max(line.y - room / 3, 0);
    }

    function view(start, end) {
      const span = clamp(end - start, 10, (whole[1] - whole[0]) * 1.04), margin = (whole[1] - whole[0]) * 0.02;
      t0 = clamp(start, whole[0] - margin, Math.max(whole[1] + margin - span, whole[0] - margin));
      t1 = t0 + span;
      draw();
    }
    function zoom(factor, x = labels + (width - labels) / 2) {
      const at = timeAt(Math.max(x, labels));
      view(at - (at - t0) * factor, at + (t1 - at) * factor);
    }
    function pan(part) { const by = (t1 - t0) * part; view(t0 + by, t1 + by); }
    function fit() { view(whole[0] - (whole[1] - whole[0]) * 0.01, whole[1] + (whole[1] - whole[0]) * 0.01); }
    function closeUp(found) {
      const track = tracks[found.track], start = found.mark >= 0 ? track.at[found.mark] : track.start[found.slice];
      const span = Math.max(found.mark >= 0 ? 0 : track.length[found.slice], 200);
      view(start - span * 0.4, start + span * 1.4);
    }

    function step(by) {
      if (chosen && chosen.slice < 0) return;
      const own = chosen && tracks[chosen.track].task[chosen.slice] >= 0 ? chosen : null;
      const number = chosen ? chosen.track : tracks.findIndex((t) => t.stream >= 0 && t.start.length);
      if (number < 0) return;
      const track = tracks[number], ends = track.title.length;
      let i = own || chosen ? chosen.slice + by : 0;
      while (i >= 0 && i < ends && track.task[i] < 0) i += by;
      if (i >= 0 && i < ends) choose({ track: number, slice: i, mark: -1 }, true);
    }

    const keys = {
      "+": () => zoom(0.6), "=": () => zoom(0.6), "-": () => zoom(1 / 0.6), "_": () => zoom(1 / 0.6), "0": fit, ArrowLeft: () => pan(-0.15),
      ArrowRight: () => pan(0.15), ArrowUp: () => box.scrollBy(0, -60), ArrowDown: () => box.scrollBy(0, 60), j: () => step(1), k: () => step(-1),
      f: () => chosen && closeUp(chosen), Escape: () => choose(null),
      Enter: () => { const row = chosen && chosen.slice >= 0 ? entryOf(chosen) : -1; if (row >= 0) entries.show(row); },
    };
    box.addEventListener("keydown", (event) => {
      const action = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
      if (action && !event.ctrlKey && !event.metaKey && !event.altKey) { event.preventDefault(); action(); }
    });
    box.addEventListener("wheel", (event) => {
      if (!(event.ctrlKey || event.metaKey || document.activeElement === box)) return;
      event.preventDefault();
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan((event.deltaX || event.deltaY) / width);
      else zoom(Math.exp(clamp(event.deltaY, -200, 200) / 300), event.offsetX);
    }, { passive: false });

    let held = null;
    const spot = (event) => { const area = canvas.getBoundingClientRect(); return [event.clientX - area.left, event.clientY - area.top]; };
    canvas.addEventListener("pointerdown", (event) => {
      held = { x: event.clientX, y: event.clientY, t0, t1, top: box.scrollTop, moved: false };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (held) {
        const dx = event.clientX - held.x, dy = event.clientY - held.y;
        held.moved ||= Math.abs(dx) + Math.abs(dy) > 4;
        if (!held.moved) return;
        const by = dx / (width - labels) * (held.t1 - held.t0);
        view(held.t0 - by, held.t1 - by);
        if (event.pointerType === "mouse") box.scrollTop = held.top - dy;
        tip.hidden = true;
        return;
      }
      const [x, y] = spot(event), found = hit(x, y);
      tip.hidden = !found;
      canvas.style.cursor = found ? "pointer" : "default";
      if (!found) return;
      tip.textContent = described(found).join(" · ");
      tip.style.left = `${clamp(x + 12, 0, Math.max(width - tip.offsetWidth - 8, 0))}px`;
      tip.style.top = `${y + 18}px`;
    });
    canvas.addEventListener("pointerup", (event) => {
      if (held && !held.moved) choose(hit(...spot(event)));
      held = null;
    });
    canvas.addEventListener("pointercancel", () => { held = null; });
    canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
    canvas.addEventListener("dblclick", (event) => { const found = hit(...spot(event)); if (found) closeUp(found); else fit(); });
    box.addEventListener("scroll", draw);
    new ResizeObserver(size).observe(holder);
    listeners.push(draw);
    fit();
    layout();
    choose(null);

    // Choose the task of a stream in an execution, and bring it into view.
    return { show(run, stream, task) {
      const number = tracks.findIndex((t) => t.stream === stream && streamTracks.includes(t));
      if (number < 0) return;
      const track = tracks[number];
      let best = -1;
      for (let i = 0; i < track.task.length; i++) if (track.task[i] === task && runAt(track.start[i]) === run) best = i;
      byId("timeline").scrollIntoView();
      if (best < 0) return;
      const found = { track: number, slice: best, mark: -1 };
      choose(found, true);
      closeUp(found);
      box.focus({ preventScroll: true });
    } };
  }

  function keyHelp(pairs) {
    return pairs.flatMap(([key, what], n) => [n ? " · " : "", make("kbd", {}, key), ` ${what}`]);
  }

  // ---- tables --------------------------------------------------------------------------------------------------

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
  function Grid({ holder, filters = holder, name, columns, count, extra, onChoose, hint }) {
    let order = Array.from({ length: count }, (_, i) => i), sorted = null, down = false, current = -1;
    const template = columns.map((column) => column.width).join(" ");
    const least = columns.reduce((sum, column) => sum + Number(/[\d.]+/.exec(column.width)[0]) + 0.7, 0.9);
    const fit = (line) => { line.style.gridTemplateColumns = template; line.style.minWidth = `${least}rem`; return line; };
    const heads = columns.map((column, k) => make("div", { role: "columnheader", "aria-sort": "none", class: column.look },
      make("button", { type: "button", tabindex: "-1", onclick: () => sortBy(k) }, column.title)));
    const head = make("div", { class: "line heads", role: "row", "aria-rowindex": "1" }, ...heads), rows = make("div", { class: "rows", role: "rowgroup" });
    const box = make("div", { class: "grid", role: "grid", tabindex: "0", "aria-label": name, "aria-colcount": columns.length }, head, rows);
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

  // ---- entries -------------------------------------------------------------------------------------------------

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
    const grid = Grid({ holder: left, filters: holder, name: "entries-grid", columns, count: E.raw.length, extra, onChoose: show,
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
    return Grid({ holder, name: "patches-grid", columns, count: W.time.length, extra, hint: "Enter in the table shows who wrote in the timeline." });
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
})();
