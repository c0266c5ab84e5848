
// ---- rows of the reader's own ----

const MOST_SHOWN = 100, MOST_BYTES = 2e7;
const MISSING = new Set(data.missing);

// Cells of a text by lines; a cell in quotes may hold separators and line breaks.
function parseCells(text, separator) {
  const lines = [[]];
  let cell = "", quoted = false, closed = false;
  const end = () => { lines.at(-1).push(closed ? cell : cell.trim()); cell = ""; closed = false; };
  for (let k = 0; k < text.length; k += 1) {
    const sign = text[k];
    if (quoted) {
      if (sign === '"' && text[k + 1] === '"') { cell += '"'; k += 1; }
      else if (sign === '"') { quoted = false; closed = true; }
      else cell += sign;
    } else if (sign === '"' && !cell.trim()) { quoted = true; cell = ""; }
    else if (sign === separator) end();
    else if (sign === "\n") { end(); lines.push([]); }
    else if (sign !== "\r") cell += sign;
  }
  end();
  return lines.filter((cells) => cells.length > 1 || cells[0] !== "");
}

function findSeparator(text) {
  const head = text.split("\n", 1)[0];
  const counts = [",", ";", "\t"].map((sign) => head.split(sign).length);
  return [",", ";", "\t"][counts.indexOf(Math.max(...counts))];
}

function readNumber(text, separator) {
  const comma = separator !== "," && /^[-+]?\d+,\d+$/.test(text);
  const plain = (comma ? text.replace(",", ".") : text).replace("−", "-");
  return /^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$/.test(plain) ? Number(plain) : NaN;
}

// The value of a cell; text that is no number is an error, an unknown category counts as missing.
function readCell(i, text, separator, unknown) {
  const { categories } = model.columns[i];
  if (categories !== null) {
    const code = categories.findIndex((label) => String(label) === text
      || (typeof label !== "string" && readNumber(text, separator) === Number(label)));
    if (code >= 0) return code;
    if (!MISSING.has(text)) unknown.set(data.columns[i].name, text);
    return null;
  }
  if (MISSING.has(text)) return null;
  const value = readNumber(text, separator);
  if (Number.isNaN(value)) throw new Error(`${data.columns[i].name}: expected a number, got “${text.slice(0, 40)}”`);
  return value;
}

function readTable(text) {
  const separator = findSeparator(text), [head = [], ...lines] = parseCells(text, separator);
  const places = data.columns.map((column) => head.findIndex((title) =>
    title === column.name || title === column.alias));
  const absent = data.order.filter((i) => places[i] < 0).map((i) => data.columns[i].name);
  if (absent.length) throw new Error(`Expected the columns that the model reads in the first line; missing: ${absent.join(", ")}.`);
  if (!lines.length) throw new Error("Expected rows below the line of names, got none.");
  const unknown = new Map();
  const rows = lines.map((cells, k) => {
    try {
      return { row: places.map((place, i) => (place < 0 ? null : readCell(i, cells[place] ?? "", separator, unknown))) };
    } catch (error) {
      return { error: `Row ${k + 1}, ${error.message}.` };
    }
  });
  return { rows, unknown };
}

function answerRow(own) {
  const found = explain(name(own));
  if (data.regression) return found.scores.map((_, k) => write(amountOf(found, k)));
  const chosen = choose(found.scores);
  return [data.labels[chosen], ...found.probabilities.map((value) => write(Number(value.toFixed(4))))];
}

const heads = data.regression ? data.labels : ["answer", ...data.labels.map((label) => `probability of ${label}`)];
let answered = [];

function showAnswers({ rows, unknown }) {
  answered = rows.map(({ row: own, error }) => (error ? { error } : { own, cells: answerRow(own) }));
  const shown = answered.slice(0, MOST_SHOWN);
  const lines = shown.map(({ own, cells, error }, k) => {
    const number = error ? document.createTextNode(`${k + 1}`) : make("button", { type: "button", class: "plain" }, `${k + 1}`);
    if (!error) number.addEventListener("click", () => { row = [...own]; picked = -1; update(); one("#row").scrollIntoView(); });
    const first = make("th", { scope: "row" }, number);
    return make("tr", {}, first, ...(error ? [make("td", { colspan: heads.length }, error)]
      : cells.map((cell, j) => make("td", j || data.regression ? { class: "num" } : {}, cell))));
  });
  const head = make("tr", {}, ...["row", ...heads].map((title, j) =>
    make("th", j > 1 || (j && data.regression) ? { scope: "col", class: "num" } : { scope: "col" }, title)));
  one("#answers").replaceChildren(make("table", {}, make("thead", {}, head), make("tbody", {}, ...lines)));
  const failed = answered.filter(({ error }) => error).length;
  const notes = [`${rows.length - failed} of ${rows.length} rows answered.`];
  if (rows.length > MOST_SHOWN) notes.push(`The first ${MOST_SHOWN} are shown; the file has all.`);
  for (const [title, text] of unknown) notes.push(`${title}: “${text.slice(0, 40)}” is unknown and counts as missing.`);
  notes.push("Press a row's number to follow it above.");
  writeDropNotes(notes.join(" "));
  one("#keep").hidden = false;
}

function writeDropNotes(text) {
  one("#drop-notes").hidden = !text;
  one("#drop-notes").textContent = text;
}

function answerText(text) {
  one("#keep").hidden = true;
  one("#answers").replaceChildren();
  if (!text.trim()) return writeDropNotes("Paste rows, or drop a file.");
  try { return showAnswers(readTable(text)); } catch (error) { return writeDropNotes(error.message); }
}

async function answerFile(file) {
  if (!file) return;
  if (file.size > MOST_BYTES) { writeDropNotes("Expected a file of at most 20 MB: use newron predict for larger ones."); return; }
  const text = (await file.text()).replace(/^\ufeff/, "");
  one("#paste").value = text.length > 1e5 ? "" : text;
  answerText(text);
}

function saveAnswers() {
  const quote = (cell) => (/[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  const lines = [["row", ...heads], ...answered.map(({ cells, error }, k) => [`${k + 1}`, ...(cells ?? [error])])];
  const text = lines.map((cells) => cells.map((cell) => quote(String(cell).replaceAll("−", "-"))).join(",")).join("\n");
  const link = make("a", { download: "answers.csv", href: URL.createObjectURL(new Blob([`${text}\n`], { type: "text/csv" })) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

one("#answer").addEventListener("click", () => answerText(one("#paste").value));
one("#file").addEventListener("change", () => answerFile(one("#file").files[0]));
one("#keep").addEventListener("click", saveAnswers);
for (const event of ["dragover", "dragleave", "drop"]) {
  one("#drop").addEventListener(event, (what) => {
    what.preventDefault();
    one("#drop").classList.toggle("over", event === "dragover");
    if (event === "drop") answerFile(what.dataTransfer.files[0]);
  });
}
