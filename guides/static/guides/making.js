// Rows instead of a text for the spots of a new guide. The text stays what is sent: a line per spot,
// a tab between its name and its description.
(() => {
  "use strict";
  const field = document.querySelector("[data-spots]");
  const price = document.querySelector("[data-price]");
  const [rows, template, list, buttons] = ["ol.rows", "template", "[data-list]", ".row-buttons"].map((each) => field.querySelector(each));
  const text = list.querySelector("textarea");
  const toggle = buttons.querySelector("[data-switch]");
  const BULLET = /^(?:[-*•・]|\d{1,3}[.)．、])\s*(?=\S)/;

  const one = (row, name) => row.querySelector(`[data-${name}]`);
  const name = (row) => one(row, "name").value.trim();
  const description = (row) => one(row, "description").value.replace(/\s+/g, " ").trim();

  function split(line) {
    const at = line.indexOf("\t");
    if (at >= 0) return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    const plain = line.trim().replace(BULLET, "").replace("｜", "|");
    const bar = plain.indexOf("|");
    return bar < 0 ? [plain, ""] : [plain.slice(0, bar).trim(), plain.slice(bar + 1).trim()];
  }

  function add(spot = ["", ""], before = null) {
    const row = template.content.firstElementChild.cloneNode(true);
    [one(row, "name").value, one(row, "description").value] = spot;
    rows.insertBefore(row, before);
    return row;
  }

  function write() {
    const filled = [...rows.children].filter((row) => name(row) || description(row));
    text.value = filled.map((row) => `${name(row)}\t${description(row)}`).join("\n");
    [...rows.children].forEach((row, n) => {
      row.querySelector(".row-number").textContent = String(n + 1).padStart(2, "0");
      one(row, "up").disabled = n === 0;
      one(row, "down").disabled = n === rows.children.length - 1;
    });
    tell(filled.length);
  }

  function tell(count) {
    const total = count * Number(price.dataset.price);
    const shown = total ? total.toFixed(2) : price.dataset.free;
    const words = price.dataset.words.replace("{count}", count).replace("{price}", shown);
    if (price.textContent !== words) price.textContent = words; // or it would be read out at every key
  }

  // Returns the row of each line that holds a spot.
  function read() {
    rows.replaceChildren();
    const found = new Map();
    text.value.split(/\r\n|\r|\n/).forEach((line, n) => line.trim() && found.set(n + 1, add(split(line))));
    if (!rows.children.length) add();
    write();
    return found;
  }

  function show(asRows) {
    rows.hidden = one(buttons, "add").hidden = !asRows;
    list.hidden = asRows;
    toggle.textContent = asRows ? toggle.dataset.toList : toggle.dataset.toRows;
  }

  rows.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    const row = button?.closest(".row");
    if (!row) return;
    if ("up" in button.dataset) row.previousElementSibling.before(row);
    if ("down" in button.dataset) row.nextElementSibling.after(row);
    if ("remove" in button.dataset) {
      const next = row.nextElementSibling || row.previousElementSibling || add();
      row.remove();
      one(next, "name").focus();
    } else (button.disabled ? one(row, "name") : button).focus();
    write();
  });
  rows.addEventListener("input", write);
  rows.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault(); // the next spot, not the end of the form
    const row = event.target.closest(".row");
    one(row.nextElementSibling || add(), "name").focus();
    write();
  });
  rows.addEventListener("paste", (event) => {
    const lines = event.clipboardData.getData("text").split(/\r\n|\r|\n/).filter((line) => line.trim());
    if (!("name" in event.target.dataset) || lines.length < 2) return;
    event.preventDefault();
    const row = event.target.closest(".row");
    lines.forEach((line) => add(split(line), row));
    if (!name(row)) row.remove();
    write();
  });
  one(buttons, "add").addEventListener("click", () => {
    one(add(), "name").focus();
    write();
  });
  toggle.addEventListener("click", () => {
    if (rows.hidden) read();
    show(rows.hidden);
  });
  text.addEventListener("input", () => tell(text.value.split(/\r\n|\r|\n/).filter((line) => line.trim()).length));

  const found = read();
  for (const fault of field.querySelectorAll("[data-line]")) {
    const row = found.get(Number(fault.dataset.line));
    if (!row) continue;
    const place = row.querySelector(".errors");
    place.textContent = fault.textContent;
    place.id = `fault-${fault.dataset.line}`;
    place.hidden = false;
    one(row, "name").setAttribute("aria-invalid", "true");
    one(row, "name").setAttribute("aria-describedby", place.id);
    fault.remove();
  }
  buttons.hidden = false;
  show(true);
})();
