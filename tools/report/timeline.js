"use strict";
// The timeline: a canvas on which only what is in sight is drawn.

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
