// The page comes to life: controls set a row, the model runs, the network and the texts follow.
// Names are data: they reach the page as text nodes and attributes, never as HTML.
const { model, explain, scores } = globalThis.newron;
const data = JSON.parse(document.getElementById("data").textContent);
const one = (query, root = document) => root.querySelector(query);
const all = (query, root = document) => [...root.querySelectorAll(query)];
const SVG = "http://www.w3.org/2000/svg";

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function draw(tag, attributes, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// ---- numbers and words, as the library writes them ----

const minus = (text) => text.replaceAll("-", "−");
const write = (value) => minus(String(value + 0 === 0 ? 0 : value));
const shorten = (value, digits = 3) => write(Number(value.toPrecision(digits)));
const signed = (text, value) => (value > 0 && text !== "0" ? `+${text}` : text);

function writePlace(value, span) {
  if (!(span > 0)) return shorten(value, 4);
  const exponent = Math.floor(Math.log10(span)) - 2;
  if (exponent >= 0) return write(Math.round(value / 10 ** exponent) * 10 ** exponent);
  return write(Number(value.toFixed(Math.min(-exponent, 100))));
}

function writeAmount(value, span = 1) {
  if (value === Math.round(value) && Math.abs(value) < 1e6) return write(value);
  return Math.abs(value) >= 1e6 ? shorten(value) : writePlace(value, span);
}

function writeShare(value) {
  const rounded = Math.round(100 * value);
  if (rounded === 0 && value > 0) return "< 1\u00a0%";
  return rounded === 100 && value < 1 ? "> 99\u00a0%" : `${rounded}\u00a0%`;
}

// A value of a row: as it is, or to six digits where it has many.
const tidy = (value) => (String(value).length > 9 ? shorten(value, 6) : write(value));
const unitOf = (i) => (data.columns[i].unit ? ` ${data.columns[i].unit}` : "");

function show(i, x) {
  if (x === null) return "missing";
  const option = data.columns[i].options?.find(([value]) => value === x);
  return option?.[1] ?? tidy(x) + unitOf(i);
}

const subtract = (a, b) => Number((a - b).toPrecision(12));

// ---- the model ----

const n = data.columns.length;
const layers = model.layers;
const last = layers.at(-1);
const weightOf = (l, e) => layers[l].functions[e].weight ?? 1;
const bounded = (layer) => ["heaviside", "sigmoid", "tanh_prod"].includes(layer.processing);
const aggregates = {
  sum: (parts) => parts.reduce((a, b) => a + b, 0),
  mean: (parts) => parts.reduce((a, b) => a + b, 0) / Math.max(parts.length, 1),
  min: (parts) => (parts.length ? Math.min(...parts) : 0),
  max: (parts) => (parts.length ? Math.max(...parts) : 0),
  product: (parts) => parts.reduce((a, b) => a * b, 1),
};

const name = (row) => row.map((x, i) => {
  const { categories } = model.columns[i];
  return x === null || categories === null ? x : categories[x];
});

// Of an aggregation of one's own the total is known where no activation hides it.
function totalOf(layer, neuron, value, parts) {
  const aggregate = aggregates[layer.aggregation];
  if (aggregate) return aggregate(parts);
  return layer.activation === "identity" ? value + neuron.centre : NaN;
}

// What every part of the network makes of a row.
function run(row) {
  const traced = explain(name(row));
  const added = layers.map((layer, l) =>
    layer.functions.map((f, e) => weightOf(l, e) * traced.functions[l][e]));
  const totals = layers.map((layer, l) => layer.neurons.map((neuron, j) =>
    totalOf(layer, neuron, traced.neurons[l][j], added[l].filter((_, e) => layer.functions[e].neuron === j))));
  // The scores are exact where sums of many parts are rounded.
  totals[totals.length - 1] = traced.scores.map((score, j) =>
    Number((score + last.neurons[j].centre).toPrecision(12)));
  return { ...traced, added, totals, signals: [...row, ...traced.neurons.flat()] };
}

function choose(found) {
  if (data.binary) return found[0] >= 0 ? 1 : 0;
  if (data.limits) return data.thresholds.filter((limit) => found[0] >= limit).length;
  return found.indexOf(Math.max(...found));
}

const decide = (row) => choose(scores(name(row)));
const split = (key) => key.split(":").map(Number);
const isOn = (t, key) => {
  const [l, e] = split(key);
  return bounded(layers[l - 1]) ? t.functions[l - 1][e] >= 0.5 : t.added[l - 1][e] > 0;
};
const addOf = (t, keys) => keys.split(" ").reduce((sum, key) => {
  const [l, e] = split(key);
  return sum + t.added[l - 1][e];
}, 0);
const sourceOf = (key) => { const [l, e] = split(key); return layers[l - 1].functions[e].source; };
// The limit of two classes, in points; of regression what is taken from the sum.
const limitOf = () => data.limit ?? last.neurons[0].centre;
// What smooth columns and pairs add has mean 0 over the training rows: their sum is the score.
const sumOf = (t) => (data.terms ? t.scores[0] : t.totals.at(-1)[0]);
// The totals from which on each class after the first is said, where one score decides; and as
// they are shown beside such a sum.
const limitsOf = () => data.limits ?? [limitOf()];
const limitsShown = () => (!data.terms ? limitsOf() : data.limits ? data.thresholds : [0]);
const termOf = (t, term, k) => term.edges.reduce((sum, e) =>
  sum + (last.functions[e].neuron === k ? t.added.at(-1)[e] : 0), -term.means[k]);
// The amount of a target: what its score stands for.
const amountOf = (t, k) => (data.link === "log" ? Math.exp(t.scores[k])
  : data.link === "sorted" ? [...t.scores].sort((a, b) => a - b)[k] : t.scores[k]);

// ---- the figure: dots, strong lines, numbers ----

function placeDot(dot, where, x, y) {
  const d = where.dataset;
  let cx = Number(d.xm);
  if (x !== null && !Number.isNaN(x)) {
    const slot = d.slots?.split(" ").map((s) => s.split(":").map(Number)).find(([k]) => k === x);
    const share = (Math.min(Math.max(x, d.lo), d.hi) - d.lo) / (d.hi - d.lo);
    cx = slot ? slot[1] : Number(d.x0) + share * (d.x1 - d.x0);
  }
  const height = d.vhi > d.vlo ? (y - d.vlo) / (d.vhi - d.vlo) : 0;
  const cy = Number(d.y0) + Math.min(Math.max(height, 0), 1) * (d.y1 - d.y0);
  if (Number.isFinite(cx) && Number.isFinite(cy)) {
    dot.style.cx = `${cx}px`;
    dot.style.cy = `${cy}px`;
  }
}

function setText(element, text) {
  const node = [...element.childNodes].find((child) => child.nodeType === Node.TEXT_NODE);
  if (!node) return element.prepend(text);
  if (node.data === text) return undefined;
  node.data = text;
  return element.removeAttribute("textLength"); // that of the text before
}

// How wide each text of a figure may be: to its neighbours on the line, or to the edge.
let rooms = new Map(), boxes = new Map();
addEventListener("resize", () => { rooms = new Map(); boxes = new Map(); });

function roomOf(element) {
  if (rooms.has(element)) return rooms.get(element);
  const svg = element.ownerSVGElement, view = svg.viewBox.baseVal;
  if (!svg.getClientRects().length) return Infinity; // the other figure is shown
  if (!boxes.has(svg)) boxes.set(svg, all("text, .pill", svg).map((other) => [other, other.getBBox()]));
  const own = element.getBBox(), x = Number(element.getAttribute("x"));
  let left = view.x + 4, right = view.x + view.width - 4;
  for (const [other, box] of boxes.get(svg)) {
    if (other === element || box.y >= own.y + own.height || box.y + box.height <= own.y) continue;
    if (box.x + box.width / 2 < x) left = Math.max(left, box.x + box.width + 6);
    else right = Math.min(right, box.x - 6);
  }
  const anchor = element.getAttribute("text-anchor") ?? "start";
  const free = { start: right - x, end: x - left, middle: 2 * Math.min(x - left, right - x) }[anchor];
  const room = Math.min(free, Number(element.dataset.room ?? Infinity));
  rooms.set(element, room);
  return room;
}

// Write a text; in a figure it is cut to its room, with the whole as its title.
function setFitted(element, text) {
  setText(element, text);
  if (!(element instanceof SVGTextElement)) return;
  const length = element.getComputedTextLength(), room = roomOf(element);
  const title = one("title", element);
  if (length <= room) { title?.remove(); return; }
  const letters = [...text]; // an emoji is one
  let kept = Math.floor(letters.length * room / length);
  do {
    setText(element, `${letters.slice(0, kept).join("").trimEnd()}…`);
    kept -= 1;
  } while (kept > 0 && element.getComputedTextLength() > room);
  if (title) title.textContent = text; else element.append(draw("title", {}, text));
}

function flow(t) {
  for (const element of all("[data-fn]")) {
    const keys = element.dataset.fn;
    const on = keys.split(" ").some((key) => isOn(t, key));
    element.classList.toggle("on", on);
    const dot = element.matches("g.fn") && one("circle.dot", element);
    if (dot) placeDot(dot, element, t.signals[sourceOf(keys.split(" ")[0])] ?? null, addOf(t, keys));
  }
  for (const element of all("[data-part]")) {
    const value = addOf(t, element.dataset.part);
    const plot = one(`g.fn[data-fn="${element.dataset.part}"]`)?.dataset;
    const text = writeAmount(value, plot ? plot.vhi - plot.vlo : Math.abs(value));
    const on = element.dataset.part.split(" ").some((key) => isOn(t, key));
    const off = data.crisp && !on && element.matches("td");
    setText(element, off ? "·" : element.matches("td") && data.weighted ? signed(text, value) : text);
    element.classList.toggle("on", on);
  }
  for (const element of all("[data-term]")) {
    const [k, j] = split(element.dataset.term), value = termOf(t, data.terms[k], j);
    setText(element, signed(shorten(value, 4), value));
  }
  for (const element of all("[data-score]")) setText(element, shorten(t.scores[element.dataset.score], 4));
  for (const element of all("[data-reads]")) {
    const { columns } = data.terms[element.dataset.reads];
    setText(element, columns.map((i) => show(i, t.signals[i])).join(" · "));
  }
  for (const element of all("[data-val]")) {
    setFitted(element, show(Number(element.dataset.val), t.signals[element.dataset.val]));
  }
  for (const element of all("[data-sum]")) {
    const [l, j] = split(element.dataset.sum);
    const total = t.totals[l - 1][j - 1];
    setText(element, Number.isNaN(total) ? "" : writeAmount(total, spanOf(l - 1, j - 1)));
  }
  for (const element of all("[data-margin]")) {
    setFitted(element, describeMargin(t, element.dataset.margin.split(" ")[0]));
  }
  for (const element of all("g.act[data-act]")) {
    const [l, j] = split(element.dataset.act);
    const final = l === layers.length && (data.binary || data.limits);
    const value = final ? reach(t) : t.neurons[l - 1][j - 1];
    const dot = one("circle.dot", element);
    const total = t.totals[l - 1][j - 1];
    if (dot && Number.isNaN(total)) dot.remove();
    else if (dot) placeDot(dot, element, total, value);
  }
  flowOut(t);
}

// How probable the class is that is said, or a higher one; at least the second.
function reach(t) {
  return t.probabilities.slice(Math.max(choose(t.scores), 1)).reduce((sum, share) => sum + share, 0);
}

function spanOf(l, j) {
  return layers[l].functions.reduce((sum, f, e) =>
    sum + (f.neuron === j ? Math.abs(weightOf(l, e)) : 0), 0);
}

function flowOut(t) {
  const chosen = data.regression ? 0 : choose(t.scores);
  for (const element of all("[data-out]")) {
    const k = element.dataset.class === undefined ? chosen : Number(element.dataset.class);
    const texts = {
      class: () => data.labels[chosen],
      probability: () => (element.dataset.class === undefined ? "probability " : "")
        + writeShare(t.probabilities[k]),
      why: () => `${writeAmount(t.totals.at(-1)[0], spanOf(layers.length - 1, 0))} `
        + describeSide(chosen),
      amount: () => writeAmount(amountOf(t, k)),
    };
    setFitted(element, texts[element.dataset.out]());
  }
  for (const element of all("[data-meter]")) {
    const share = t.probabilities[element.dataset.meter];
    element.style.width = `${Math.max(1.5, element.dataset.full * share)}px`;
  }
  for (const element of all("path.edge[data-class]")) {
    element.classList.toggle("on", !data.regression && Number(element.dataset.class) === chosen);
  }
  const totals = all(".wide [data-total]").map((element) => Number(element.dataset.total));
  const nearest = totals.length && totals.reduce((a, b) =>
    (Math.abs(b - t.totals.at(-1)[0]) < Math.abs(a - t.totals.at(-1)[0]) ? b : a));
  for (const element of all("[data-total]")) {
    const here = Number(element.dataset.total) === nearest;
    element.classList.toggle("b", here);
    element.classList.toggle("m", !here);
  }
}

function describeMargin(t, key) {
  const source = sourceOf(key), value = t.signals[source];
  if (source >= n) return writeAmount(value);
  const text = show(source, value), { limit } = data.functions[key];
  if (limit === undefined || value === null) return text;
  const margin = subtract(value, limit);
  if (margin === 0) return `at the limit of ${write(limit)}`;
  return `${tidy(Math.abs(margin))}${unitOf(source)} ${margin > 0 ? "above" : "below"} ${write(limit)}`;
}

// ---- rules ----

function holds(literal, row) {
  const x = row[literal.column];
  if (x === null) return literal.gap;
  if (literal.members) return literal.members.includes(x);
  return literal.ranges.some(([a, b]) => (a === null || x >= a) && (b === null || x <= b));
}

function followRules(t) {
  for (const element of all("[data-lit]")) {
    element.classList.toggle("on", holds(data.literals[element.dataset.lit], row));
  }
  if (!t.rules) return;
  for (const element of all("[data-rule]")) {
    const k = Number(element.dataset.rule), decides = t.rules.deciding === k;
    element.classList.toggle("on", t.rules.holds[k]);
    element.classList.toggle("decides", decides);
    if (decides) element.setAttribute("aria-current", "true");
    else element.removeAttribute("aria-current");
  }
}

// ---- controls ----

let row = [...data.rows[0]];
let picked = 0; // the place of the row among those to choose; -1 for one of the reader's own

function set(i, value) {
  row[i] = value;
  picked = -1;
  update();
}

function makeChoices(i, column) {
  const options = column.options.map(([value]) => [value, show(i, value)]);
  if (column.gaps) options.push([null, "missing"]);
  const length = options.reduce((sum, [, label]) => sum + label.length + 3, 0);
  if (options.length > 7 || length > 40) return makeList(i, column, options);
  const box = make("fieldset", { class: "control" }, make("legend", { class: "top" }, column.name));
  const choices = make("div", { class: "seg" });
  for (const [value, label] of options) {
    const input = make("input", { type: "radio", name: `c${i}` });
    input.addEventListener("change", () => set(i, value));
    choices.append(make("label", {}, input, label));
    input.value = String(value);
  }
  box.append(choices);
  box.show = (x) => {
    for (const input of all("input", box)) input.checked = input.value === String(x);
  };
  return box;
}

function makeList(i, column, options) {
  const list = make("select", { id: `c${i}` });
  options.forEach(([, label], k) => list.append(make("option", { value: k }, label)));
  const absent = make("option", { value: -1, hidden: "" }, "missing");
  list.append(absent);
  list.addEventListener("change", () => set(i, options[list.value]?.[0] ?? null));
  const box = make("div", { class: "control" },
    make("div", { class: "top" }, make("label", { for: `c${i}` }, column.name)), list);
  box.show = (x) => { list.value = options.findIndex(([value]) => value === x); };
  return box;
}

function makeSlider(i, column) {
  const limits = { min: column.low, max: column.high, step: column.step };
  const range = make("input", { type: "range", "aria-label": `${column.name}, slider`, ...limits });
  const number = make("input", { type: "number", id: `c${i}`, step: "any" });
  const track = make("div", { class: "track" }, range);
  for (const mark of column.marks ?? []) {
    const share = (mark - column.low) / (column.high - column.low || 1);
    const line = make("s");
    line.style.left = `calc(${100 * share}% + ${8 - 16 * share}px)`;
    track.append(line);
  }
  range.addEventListener("input", () => set(i, Number(range.value)));
  number.addEventListener("change", () => {
    const value = number.valueAsNumber;
    set(i, Number.isFinite(value) && Math.abs(value) < 1e300 ? value : row[i]);
  });
  const unit = make("span", { class: "cut-short" }, column.unit);
  const value = make("span", { class: "value" }, number, unit);
  const box = make("div", { class: "control" },
    make("div", { class: "top" }, make("label", { for: `c${i}` }, column.name), value), track);
  let gap = null;
  if (column.gaps || data.rows.some((other) => other[i] === null)) {
    gap = make("input", { type: "checkbox" });
    gap.addEventListener("change", () => set(i, gap.checked ? null : Number(range.value)));
    value.append(make("label", { class: "gap" }, gap, "missing"));
  }
  box.show = (x) => {
    if (gap) gap.checked = x === null;
    box.classList.toggle("absent", x === null);
    if (x !== null) range.value = x;
    if (document.activeElement !== number) number.value = x === null ? "" : String(x).length > 9 ? Number(x.toPrecision(6)) : x;
    range.setAttribute("aria-valuetext", show(i, x));
  };
  return box;
}

function addConditions(box, i) {
  const keys = Object.keys(data.functions).filter((key) => data.functions[key].source === i);
  for (const key of keys.slice(0, 3)) {
    const [l, e] = split(key);
    const reading = make("span", { class: "cut-short", title: data.functions[key].head }, data.functions[key].reading);
    const line = make("div", { class: "cond", "data-fn": key }, make("i"), reading);
    if (l === layers.length && last.functions[e].weight !== null) {
      if (data.crisp) line.append(` · ${signed(shorten(weightOf(l - 1, e)), weightOf(l - 1, e))}`);
      else line.append(" · adds ", make("span", { "data-part": key }));
    }
    box.append(line);
  }
  if (keys.length > 3) box.append(make("div", { class: "cond" }, `and ${keys.length - 3} more`));
  const light = (on) => () => {
    for (const key of keys) {
      for (const group of all(`.net g.fn[data-fn~="${key}"]`)) group.classList.toggle("lit-up", on);
    }
  };
  for (const event of ["focusin", "pointerenter"]) box.addEventListener(event, light(true));
  for (const event of ["focusout", "pointerleave"]) box.addEventListener(event, light(false));
}

const controls = data.order.map((i) => {
  const column = data.columns[i];
  const box = column.options ? makeChoices(i, column) : makeSlider(i, column);
  addConditions(box, i);
  return [i, box];
});
const FIRST = 16;
one("#controls").append(...controls.slice(0, FIRST).map(([, box]) => box));
if (controls.length > FIRST) {
  const more = one("#more-controls");
  more.hidden = false;
  one("summary", more).textContent = `${controls.length - FIRST} more inputs`;
  one(".controls", more).append(...controls.slice(FIRST).map(([, box]) => box));
}

// ---- choosing rows ----

const noun = (k) => `${data.noun} ${data.numbers[k]}`;
const answers = data.regression ? [] : data.rows.map(decide);
const wrong = data.truth && !data.regression
  ? data.rows.map((_, k) => k).filter((k) => answers[k] !== data.truth[k]) : [];
const pick = one("#pick");
pick.append(make("option", { value: -1, hidden: "" }, "your own values"));
data.rows.forEach((_, k) => {
  let label = noun(k);
  if (data.truth && !data.regression) {
    label += ` · ${data.labels[data.truth[k]]}${wrong.includes(k) ? " · answered wrongly" : ""}`;
  }
  pick.append(make("option", { value: k }, label.length > 80 ? `${label.slice(0, 79)}…` : label));
});

function take(k) {
  picked = k;
  row = [...data.rows[k]];
  update();
}

const next = (list) => list.find((k) => k > picked) ?? list[0];
pick.addEventListener("change", () => take(Number(pick.value)));
one("#another").addEventListener("click", () => take(next([...data.rows.keys()])));
one("#wrong").hidden = !wrong.length;
one("#wrong").addEventListener("click", () => take(next(wrong)));

// ---- what is said of the row ----

const strong = (text) => make("b", {}, text);

function describeAnswer(t) {
  if (data.regression) {
    return data.labels.map((label, k) => `${label}: ${writeAmount(amountOf(t, k))}`).join(" · ");
  }
  const chosen = choose(t.scores);
  const parts = [data.labels[chosen], `probability ${writeShare(t.probabilities[chosen])}`];
  if ((data.binary || data.limits) && layers.length === 1) {
    parts.unshift(`total ${writeAmount(sumOf(t), spanOf(0, 0))}`);
  }
  return parts.join(" · ");
}

function describeSide(chosen) {
  const limits = limitsOf().map((limit) => shorten(limit, 4));
  const reached = limits.slice(0, chosen).slice(-1).map((limit) => `≥ ${limit}`);
  return [...reached, ...limits.slice(chosen, chosen + 1).map((limit) => `< ${limit}`)].join(", ");
}

function describeDistance(t) {
  const digits = spanOf(layers.length - 1, 0), limits = limitsShown(), reached = choose(t.scores);
  if (reached > 0 && reached < limits.length) {
    return `between the limits of ${shorten(limits[reached - 1], 4)} and ${shorten(limits[reached], 4)}`;
  }
  const limit = limits[Math.max(reached - 1, 0)];
  const margin = subtract(sumOf(t), limit), bound = shorten(limit, 4);
  if (margin === 0) return `at the limit of ${bound}`;
  const size = writeAmount(Math.abs(margin), digits);
  return margin > 0 ? `${size} over the limit of ${bound}` : `${size} short of ${bound}`;
}

function describeRow(t) {
  const head = picked < 0 ? "Your own values" : noun(picked);
  const parts = [`${head[0].toUpperCase()}${head.slice(1)}: `];
  if (data.regression) {
    parts.push("the model says ", strong(describeAnswer(t)), ".");
    if (picked >= 0 && data.truth) parts.push(` In truth: ${data.truth[picked].map(tidy).join(", ")}.`);
  } else {
    const chosen = choose(t.scores);
    if (data.binary || data.limits) parts.push("the sum is ", strong(writeAmount(sumOf(t), spanOf(layers.length - 1, 0))), `, ${describeDistance(t)}; `);
    parts.push("the model says ", strong(data.labels[chosen]),
      `, probability ${writeShare(t.probabilities[chosen])}.`);
    if (t.rules && t.rules.deciding !== null) {
      const otherwise = t.rules.deciding === t.rules.holds.length - 1;
      parts.push(otherwise ? " No rule holds: otherwise decides." : ` Rule ${t.rules.deciding + 1} decides.`);
    }
    if (picked >= 0 && data.truth) {
      const truth = data.truth[picked];
      parts.push(truth === chosen ? " That is right." : ` In truth it is ${data.labels[truth]}.`);
    }
  }
  one("#summary").replaceChildren(...parts);
  one("#live").textContent = describeAnswer(t);
}

function describeNotes(t) {
  const lines = [];
  for (const i of data.order) {
    const column = data.columns[i], x = row[i];
    if (x === null && !column.gaps) lines.push(`${column.name} is missing, which training did not see.`);
    if (x !== null && column.low !== undefined && (x < column.low || x > column.high)) {
      lines.push(`${column.name} lies outside the observed range, ${write(column.low)} to ${write(column.high)}${unitOf(i)}.`);
    }
  }
  if (t.rules && !t.rules.inside) lines.push("The rules are not proved for these values: they lie outside the stated domain.");
  const notes = one("#notes");
  notes.hidden = !lines.length;
  notes.textContent = lines.join(" ");
}

// ---- how the sum comes about ----

const MOST_STEPS = 12;

function listSteps(t) {
  const l = layers.length - 1;
  if (data.terms) return shortenSteps(data.terms.map((term) => ({ label: term.name, value: termOf(t, term, 0) })), 0);
  const groups = new Map(); // what one input or neuron adds is one step
  last.functions.forEach((f, e) => {
    const about = data.functions[`${l + 1}:${e}`], key = data.crisp ? e : f.source;
    if (!about || t.added[l][e] === 0) return;
    const label = data.crisp ? about.counted : about.name;
    groups.set(key, { label, value: (groups.get(key)?.value ?? 0) + t.added[l][e] });
  });
  const steps = [...groups.values()];
  return shortenSteps(steps, t.totals[l][0] - steps.reduce((sum, step) => sum + step.value, 0));
}

function shortenSteps(steps, rest) {
  steps.sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
  const shown = steps.slice(0, MOST_STEPS);
  const others = steps.slice(MOST_STEPS).reduce((sum, step) => sum + step.value, rest);
  shown.sort((a, b) => b.value - a.value);
  if (writeAmount(others, spanOf(layers.length - 1, 0)) !== "0") shown.push({ label: "all others", value: others });
  return shown;
}

function drawSteps(t) {
  const home = one("#waterfall");
  if (last.neurons.length !== 1 || last.aggregation !== "sum") return home.replaceChildren();
  const start = data.terms ? data.intercepts[0] : data.regression ? -limitOf() : 0;
  const steps = [...(start ? [{ label: "to start with", value: 0, from: start }] : []), ...listSteps(t)];
  const width = Math.min(560, home.clientWidth || 560), left = width < 450 ? 130 : 190;
  const span = spanOf(layers.length - 1, 0);
  const pitch = 26, foot = pitch * (steps.length + 1) + 14, ends = [start];
  for (const step of steps) ends.push(ends.at(-1) + step.value);
  const end = data.regression ? t.scores[0] : sumOf(t), limits = data.regression ? [] : limitsShown();
  const marks = [...ends, ...limits];
  let low = Math.min(...marks, end), high = Math.max(...marks, end);
  if (low === high) { low -= 1; high += 1; }
  const x = (value) => left + 8 + (value - low) / (high - low) * (width - left - 64);
  const label = (text, room) => (text.length * 6.8 > room ? `${text.slice(0, Math.floor(room / 6.8))}…` : text);
  const shapes = [draw("path", { d: `M${left} ${foot}H${width}`, class: "hair" })];
  for (const limit of limits) {
    const text = data.limits ? shorten(limit, 4) : `limit ${shorten(limit, 4)}`;
    shapes.push(draw("path", { d: `M${x(limit)} 0V${foot + 4}`, class: "cut" }),
      draw("text", { x: x(limit), y: foot + 18, class: "t-tick b", "text-anchor": "middle" }, text));
  }
  steps.forEach((step, k) => {
    const y = 6 + k * pitch, a = x(Math.min(ends[k], ends[k + 1])), b = x(Math.max(ends[k], ends[k + 1]));
    const text = draw("text", { x: 0, y: y + 13, class: "t-cond" }, label(step.label, left));
    text.append(draw("title", {}, step.label));
    shapes.push(text,
      draw("rect", { x: a, y: y + 2, width: Math.max(b - a, 1), height: 14, rx: 2, class: step.value > 0 ? "step-up" : "step-down" }),
      draw("text", { x: b + 6, y: y + 13, class: "t-cond b halo" }, step.from === undefined ? signed(writeAmount(step.value, span), step.value) : writeAmount(step.from, span)),
      draw("path", { d: `M${x(ends[k + 1])} ${y + 16}V${y + pitch + 2}`, class: "hair" }));
  });
  const y = 6 + steps.length * pitch;
  shapes.push(draw("text", { x: 0, y: y + 14, class: "t-name" }, "total"),
    draw("circle", { cx: x(end), cy: y + 9, r: 7, class: "pt strong" }),
    draw("text", { x: x(end) + 14, y: y + 15, class: "t-out halo" }, writeAmount(end, span)));
  return home.replaceChildren(draw("svg", { class: "chart", viewBox: `0 0 ${width} ${foot + 24}`, width, height: foot + 24, role: "img", "aria-label": "How the sum comes about" }, ...shapes));
}

// ---- the smallest changes that lead elsewhere ----

const MOST_ROWS = 20000, MOST_FOUND = 6, SLICE = 12;

// The shortest decimal that fits, at an edge or a little further from the old value.
function findDecimal(edge, old, width, fits) {
  const digits = old === null ? 99 : (String(old).split(".")[1] ?? "").length;
  const fine = width > 0 ? Math.max(0, -Math.floor(Math.log10(0.01 * width))) : 0;
  for (let places = Math.min(fine, digits); places <= 17; places += 1) {
    const power = 10 ** places;
    const value = Number(((edge < old ? Math.floor : Math.ceil)(edge * power) / power).toFixed(places));
    if (Math.abs(value - edge) <= 0.025 * width && fits(value)) return value;
  }
  return edge;
}

function listPlaces(i) {
  const column = data.columns[i], old = row[i];
  if (column.options) return column.options.map(([value]) => value);
  if (column.places || column.grid) return column.places ?? column.grid;
  return column.cells.map(([first, end]) => {
    const edge = old === null ? (first + end) / 2 : Math.min(Math.max(old, first), end);
    return findDecimal(edge, old, column.high - column.low, (x) => x >= first && x <= end);
  });
}

function measureStep(i, x) {
  const column = data.columns[i], width = column.high - column.low, old = row[i];
  return old === null || !(width > 0) ? Number(x !== old) : Math.abs(x - old) / width;
}

const change = (steps) => {
  const changed = [...row];
  for (const { i, x } of steps) changed[i] = x;
  return changed;
};

function listOptions() {
  const own = (i) => layers.flatMap((layer, l) =>
    layer.functions.flatMap((f, e) => (f.source === i ? [[l, e]] : [])));
  return data.order.filter((i) => !data.columns[i].fixed).flatMap((i) => {
    const edges = own(i), smooth = data.columns[i].grid !== undefined;
    const key = (x) => { const t = explain(name(change([{ i, x }]))); return edges.map(([l, e]) => t.functions[l][e]).join(); };
    const seen = new Set([key(row[i])]);
    return listPlaces(i).filter((x) => x !== row[i]).map((x) => ({ i, x, size: measureStep(i, x) }))
      .sort((a, b) => a.size - b.size)
      .filter((option) => { const k = smooth ? String(option.x) : key(option.x); return !seen.has(k) && seen.add(k); });
  });
}

// Move a value that was found on a grid as near to the old one as it goes.
function approach(steps, now) {
  return steps.map((step) => {
    const column = data.columns[step.i];
    if (!column.grid || row[step.i] === null) return step;
    const reaches = (x) => decide(change(steps.map((s) => (s === step ? { i: s.i, x } : s)))) !== now;
    let outside = Math.min(Math.max(row[step.i], column.low), column.high), inside = step.x;
    for (let k = 0; k < 40; k += 1) {
      const middle = (outside + inside) / 2;
      if (reaches(middle)) inside = middle; else outside = middle;
    }
    const fits = (x) => x >= column.low && x <= column.high && reaches(x);
    const x = findDecimal(inside, row[step.i], column.high - column.low, fits);
    return { ...step, x, size: measureStep(step.i, x) };
  });
}

// All sets of so many options, of different columns, in steps that leave the page alive.
function* listSets(options, size, first = 0, taken = []) {
  if (taken.length === size) { yield taken; return; }
  for (let k = first; k < options.length; k += 1) {
    if (!taken.some(({ i }) => i === options[k].i)) yield* listSets(options, size, k + 1, [...taken, options[k]]);
  }
}

let search = 0;

async function findFlips() {
  const mine = ++search, now = decide(row), options = listOptions();
  const most = new Map();
  let count = 0, complete = true, began = performance.now();
  for (const size of [1, 2, 3]) {
    for (const steps of listSets(options, size)) {
      if ((count += 1) > MOST_ROWS) { complete = false; break; }
      if (count % 50 === 0 && performance.now() - began > SLICE) {
        await new Promise((resume) => { setTimeout(resume); });
        if (mine !== search) return null;
        began = performance.now();
      }
      const total = steps.reduce((sum, step) => sum + step.size, 0);
      const key = steps.map(({ i }) => i).join();
      if (total < (most.get(key)?.size ?? Infinity)) {
        const then = decide(change(steps));
        if (then !== now) most.set(key, { steps, size: total, then });
      }
    }
    if (most.size || !complete) break;
  }
  const found = [...most.values()].sort((a, b) => a.size - b.size).slice(0, MOST_FOUND).map((one_) => {
    const steps = approach(one_.steps, now);
    return { ...one_, steps, size: steps.reduce((sum, step) => sum + step.size, 0) };
  });
  found.sort((a, b) => a.size - b.size);
  return { found, complete, exact: !data.columns.some((column) => column.grid) };
}

function describeStep({ i, x }) {
  const parts = [strong(data.columns[i].name), ` ${show(i, row[i])} → `, strong(show(i, x))];
  if (!data.columns[i].options && row[i] !== null) {
    const moved = subtract(x, row[i]);
    parts.push(make("span", { class: "muted" }, ` (${signed(tidy(moved), moved)}${unitOf(i)})`));
  }
  return parts;
}

const COUNTS = ["", "One change", "Two changes together", "Three changes together"];

function writeFlips({ found, complete, exact }) {
  const items = found.map(({ steps, then, size }, k) => {
    const parts = steps.flatMap((step, s) => [...(s ? [make("span", { class: "muted" }, " and ")] : []), ...describeStep(step)]);
    if (data.labels.length > 2) parts.push(make("span", { class: "muted" }, ` · then ${data.labels[then]}`));
    if (k === 0 && found.length > 1 && size < found[1].size) parts.push(make("span", { class: "muted" }, " · smallest"));
    return make("li", {}, ...parts);
  });
  const head = one("#flip-head"), note = one("#flip-note");
  if (!found.length) {
    head.textContent = complete ? "No change of up to three inputs flips this" : "No change was found";
  } else {
    const many = COUNTS[found[0].steps.length];
    head.textContent = data.binary
      ? `${many} would make it “${data.labels[found[0].then]}”` : `${many} would change the answer`;
  }
  one("#flips").replaceChildren(...items);
  note.textContent = (complete ? "" : "The search was cut short: a smaller change may exist. ")
    + (complete && !exact ? "Curves were searched on a grid. " : "")
    + (found.length ? "A step counts by its part of the observed range, another category as a whole range." : "");
}

// Of regression: how far each input alone can move the answer.
function writeReach() {
  const found = data.order.filter((i) => !data.columns[i].fixed).map((i) => {
    const tried = listPlaces(i).map((x) => [amountOf({ scores: scores(name(change([{ i, x }]))) }, 0), x]);
    tried.sort((a, b) => a[0] - b[0]);
    return { i, least: tried[0], most: tried.at(-1) };
  }).filter(({ least, most }) => most[0] > least[0]);
  found.sort((a, b) => (b.most[0] - b.least[0]) - (a.most[0] - a.least[0]));
  one("#flips").replaceChildren(...found.slice(0, 8).map(({ i, least, most }) => make("li", {},
    strong(data.columns[i].name), ` ${writeAmount(least[0])} (at ${show(i, least[1])}) to `,
    `${writeAmount(most[0])} (at ${show(i, most[1])})`)));
}

// ---- functions, near and large ----

const tip = one("#tip");
let pointed = null; // the function that the tip is about

function describeFunction(keys) {
  return keys.split(" ").map((key) => data.functions[key]?.words ?? "").join("; ");
}

function showTip(group) {
  pointed = group;
  tip.textContent = `${describeFunction(group.dataset.fn)}. Now: ${describeNow(group.dataset.fn)}.`;
  tip.hidden = false;
  placeTip();
}

function hideTip() {
  pointed = null;
  tip.hidden = true;
}

function placeTip() {
  if (!pointed) return;
  const box = pointed.getBoundingClientRect(), size = tip.getBoundingClientRect();
  const left = Math.min(Math.max(box.left + box.width / 2 - size.width / 2, 8), innerWidth - size.width - 8);
  const above = box.top - size.height - 8;
  tip.style.left = `${left}px`;
  tip.style.top = `${above > 56 ? above : box.bottom + 8}px`;
}

function describeNow(keys) {
  const source = sourceOf(keys.split(" ")[0]), value = state.signals[source];
  const reads = source < n ? show(source, value) : writeAmount(value);
  return `reads ${reads}, adds ${writeAmount(addOf(state, keys))}`;
}

function enlarge(group) {
  const keys = group.dataset.fn, copy = group.cloneNode(true), box = group.getBBox();
  for (const attribute of ["tabindex", "role", "aria-label"]) copy.removeAttribute(attribute);
  const view = `${box.x - 8} ${box.y - 8} ${box.width + 16} ${box.height + 16}`;
  one("#large-plot").replaceChildren(draw("svg", { viewBox: view, class: "chart", role: "img", "aria-label": describeFunction(keys) }, copy));
  one("#large-head").textContent = keys.split(" ").map((key) => data.functions[key]?.head ?? "").join("; ");
  one("#large-words").textContent = `${describeFunction(keys)}. Now: ${describeNow(keys)}.`;
  hideTip();
  one("#large").showModal();
}

for (const svg of all(".net svg")) {
  svg.setAttribute("role", "group");
  svg.setAttribute("aria-label", `The network. ${one("desc", svg)?.textContent ?? ""}`.slice(0, 600));
  one("title", svg)?.remove();
  for (const child of svg.children) if (!child.matches("g.fn")) child.setAttribute("aria-hidden", "true");
  for (const group of all("g.fn[data-fn]", svg)) {
    one("title", group)?.remove();
    group.setAttribute("tabindex", "0");
    group.setAttribute("role", "button");
    group.setAttribute("aria-label", `${describeFunction(group.dataset.fn)}. Enlarge.`);
    for (const event of ["pointerenter", "focus"]) group.addEventListener(event, () => showTip(group));
    for (const event of ["pointerleave", "blur"]) group.addEventListener(event, hideTip);
    group.addEventListener("click", () => enlarge(group));
    group.addEventListener("keydown", (event) => {
      if (event.key === "Escape") hideTip();
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      enlarge(group);
    });
  }
}
addEventListener("scroll", placeTip, { passive: true });
one("#large").addEventListener("click", (event) => { if (event.target === event.currentTarget) event.target.close(); });

// ---- where to draw the line ----

function describeCut() {
  const k = Number(one("#cut").value) - 1, [found, alarms, missed, left] = data.cuts[k];
  const share = (part, whole) => (whole ? `${writeShare(part / whole)} (${part} of ${whole})` : "–");
  const price = (id) => Math.max(0, Number(one(id).value) || 0);
  const costs = data.cuts.map((cut) => cut[2] * price("#cost-missed") + cut[1] * price("#cost-alarm"));
  const values = {
    found: share(found, found + missed), left: share(left, left + alarms),
    right: share(found, found + alarms), spared: share(left, left + missed), cost: shorten(costs[k], 6),
  };
  for (const cell of all("[data-cut]")) cell.textContent = values[cell.dataset.cut];
  one("#cut-at").textContent = `${k + 1}\u00a0%`;
  const least = Math.min(...costs), best = costs.map((cost, i) => (cost === least ? i + 1 : 0)).filter(Boolean);
  const near = best.reduce((a, b) => (Math.abs(b - 50) < Math.abs(a - 50) ? b : a));
  one("#cut-best").textContent = `On these rows the cost is least, ${shorten(least, 6)}, from ${near}\u00a0% on. `
    + "A line that was chosen on rows looks better on them than on others.";
}

if (data.cuts) {
  for (const id of ["#cut", "#cost-missed", "#cost-alarm"]) one(id).addEventListener("input", describeCut);
  describeCut();
}

// ---- long conditions: a press shows all of them ----

for (const text of all(".lit bdi")) {
  if (text.scrollHeight <= text.clientHeight + 2) continue;
  const box = text.parentElement;
  const toggle = () => box.setAttribute("aria-expanded", String(box.classList.toggle("open")));
  box.setAttribute("tabindex", "0");
  box.setAttribute("role", "button");
  box.setAttribute("aria-expanded", "false");
  box.addEventListener("click", toggle);
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    toggle();
  });
}

// ---- all together ----

let state = run(row), waiting = 0;

function update() {
  state = run(row);
  pick.value = picked;
  flow(state);
  followRules(state);
  for (const [i, box] of controls) box.show(row[i]);
  describeRow(state);
  describeNotes(state);
  drawSteps(state);
  clearTimeout(waiting);
  one("#flips").setAttribute("aria-busy", "true");
  search += 1;
  waiting = setTimeout(async () => {
    const found = data.regression ? writeReach() : await findFlips();
    if (found === null) return; // the row has changed since
    if (!data.regression) writeFlips(found);
    one("#flips").setAttribute("aria-busy", "false");
  }, 60);
}

one("#theme").addEventListener("click", () => {
  const { classList } = document.body;
  const dark = classList.contains("nw-dark")
    || (!classList.contains("nw-light") && matchMedia("(prefers-color-scheme: dark)").matches);
  classList.toggle("nw-dark", !dark);
  classList.toggle("nw-light", dark);
});
addEventListener("resize", () => drawSteps(state));
update();
