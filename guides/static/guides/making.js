// Shows the spots of a new guide as rows instead of one text. The form still sends the text: a line
// per spot, tabs between name, description and tags. This browser tab keeps the draft until it is saved.
(() => {
  "use strict";
  const field = document.querySelector("[data-spots]");
  const form = field.form;
  const price = document.querySelector("[data-sum]");
  const strategies = [...document.querySelectorAll(".choice:has([data-price])")];
  const [rows, template, list, buttons] = ["ol.rows", "template", "[data-list]", ".row-buttons"].map((each) => field.querySelector(each));
  const text = list.querySelector("textarea");
  const save = form.querySelector("[type=submit]");
  const toggle = buttons.querySelector("[data-switch]");
  const BREAK = /\r\n|\r|\n/;
  // The same rules as in guides/forms.py.
  const HASHTAGS = /(?:\s+[#＃]\p{L}[^\s#＃]*)+$/u;
  const BULLET = /^(?:(?:[-*]|[0-9０-９]{1,3}[.)])[ \u00a0\u3000]+|(?:[•・]|[0-9０-９]{1,3}[．、）](?![0-9０-９]))[ \u00a0\u3000]*)(?=\S)/;

  const one = (row, name) => row.querySelector(`[data-${name}]`);
  const name = (row) => one(row, "name").value.trim();
  const description = (row) => one(row, "description").value.replace(/\s+/g, " ").trim();
  const tags = (row) => tidy(one(row, "tags").value.split(/[,，、]/));
  const tidy = (tags) => tags.map((tag) => tag.replace(/\s+/g, " ").trim()).filter(Boolean).join(", ");

  function split(line) {
    if (line.includes("\t")) {
      const [name, description, ...more] = line.split("\t");
      return [name.trim(), description.trim(), tidy(more.join(",").split(/[,，、]/))];
    }
    const plain = line.trim().replace(BULLET, "");
    const words = plain.replace(HASHTAGS, "");
    const tags = tidy(plain.slice(words.length).split(/[#＃]/));
    const bar = words.search(/[|｜]/);
    return bar < 0 ? [words.trim(), "", tags] : [words.slice(0, bar).trim(), words.slice(bar + 1).trim(), tags];
  }

  function add(spot = ["", "", ""], before = null) {
    const row = template.content.firstElementChild.cloneNode(true);
    [one(row, "name").value, one(row, "description").value, one(row, "tags").value] = spot;
    rows.insertBefore(row, before);
    return row;
  }

  function write() {
    const filled = [...rows.children].filter((row) => name(row) || description(row) || tags(row));
    const line = (row) => [name(row), description(row), ...(tags(row) ? [tags(row)] : [])].join("\t");
    text.value = filled.map(line).join("\n");
    [...rows.children].forEach((row, n) => {
      row.querySelector(".row-number").textContent = String(n + 1).padStart(2, "0");
      one(row, "up").disabled = n === 0;
      one(row, "down").disabled = n === rows.children.length - 1;
      for (const each of ["name", "description", "tags"]) label(one(row, each), n + 1);
      for (const each of ["up", "down", "remove"]) label(one(row, each), name(row) || n + 1);
    });
    tell(filled.length);
  }

  // Screen readers also hear which row a control belongs to.
  function label(element, which) {
    element.dataset.label ??= element.getAttribute("aria-label");
    const words = `${element.dataset.label}: ${which}`;
    if (element.getAttribute("aria-label") !== words) element.setAttribute("aria-label", words);
  }

  function sum(count, each) {
    // At least two decimals: 0.12, 0.004.
    return `${(count * Number(each)).toFixed(4).replace(/0{1,2}$/, "")} ${price.dataset.currency}`;
  }

  function say(element, words) {
    if (element.textContent !== words) element.textContent = words; // else a screen reader repeats it at every key
  }

  let told = 0;

  // The price of all pictures: of each strategy, and of the chosen one. Without spots, of one picture.
  function tell(count) {
    told = count;
    let chosen = price;
    for (const strategy of strategies) {
      const own = one(strategy, "price");
      say(own, count ? sum(count, own.dataset.price) : own.dataset.each);
      if (strategy.querySelector("input").checked) chosen = own;
    }
    const costs = Number(chosen.dataset.price);
    const total = costs ? sum(count, costs) : price.dataset.without;
    if (count) say(price, price.dataset.words.replace("{count}", count).replace("{price}", total));
    else say(price, costs ? price.dataset.each.replace("{price}", chosen.dataset.shown) : price.dataset.none);
  }

  // Returns the row of each line that holds a spot.
  function read() {
    rows.replaceChildren();
    const found = new Map();
    text.value.split(BREAK).forEach((line, n) => line.trim() && found.set(n + 1, add(split(line))));
    if (!rows.children.length) add();
    write();
    return found;
  }

  function show(asRows) {
    rows.hidden = one(buttons, "add").hidden = !asRows;
    list.hidden = asRows;
    toggle.textContent = asRows ? toggle.dataset.toList : toggle.dataset.toRows;
  }

  // The draft survives a new login, an error and a wrong click.

  const FIELDS = ["plan_key", "title", "destination", "summary", "spots", "picture_style", "picture_strategy"].filter((each) => form.elements[each]);
  const fresh = form.elements.plan_key.value;
  const restored = form.querySelector("[data-restored]");
  let timer;

  function keep() {
    clearTimeout(timer);
    const draft = Object.fromEntries(FIELDS.map((each) => [each, form.elements[each].value]));
    try {
      sessionStorage.setItem(form.dataset.draft, JSON.stringify(draft));
    } catch {} // storage is full or forbidden: no draft
  }

  function touch() {
    clearTimeout(timer);
    timer = setTimeout(keep, 300);
  }

  function findDraft() {
    try {
      return JSON.parse(sessionStorage.getItem(form.dataset.draft));
    } catch {
      return null;
    }
  }

  // A saved draft is over, unless the author went back to it: then the form changes the same guide.
  function isOver(draft) {
    const [navigation] = performance.getEntriesByType("navigation");
    // A guide's address ends with the beginning of its draft's name.
    const made = document.cookie.match(/(?:^|; )made=[\w-]*-(\w+)/)?.[1];
    return made && draft.plan_key.startsWith(made) && navigation?.type !== "back_forward";
  }

  function forget() {
    clearTimeout(timer);
    sessionStorage.removeItem(form.dataset.draft);
  }

  function restore() {
    const draft = "refused" in form.dataset ? null : findDraft();
    if (!draft) return;
    if (isOver(draft)) return forget();
    for (const each of FIELDS) if (each in draft) form.elements[each].value = draft[each];
    restored.hidden = false;
  }

  form.addEventListener("input", touch);
  form.addEventListener("change", () => tell(told));
  form.addEventListener("submit", () => {
    keep();
    save.disabled = true;
  });
  addEventListener("pageshow", () => {
    save.disabled = false;
  });
  one(restored, "forget").addEventListener("click", () => {
    forget();
    form.reset();
    form.elements.plan_key.value = fresh;
    read();
    restored.hidden = true;
    form.elements.title.focus();
  });

  rows.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    const row = button?.closest(".row");
    if (!row) return;
    if ("up" in button.dataset) row.previousElementSibling.before(row);
    if ("down" in button.dataset) row.nextElementSibling.after(row);
    if ("remove" in button.dataset) {
      const next = row.nextElementSibling || row.previousElementSibling || add();
      row.remove();
      write();
      one(next, "name").focus();
    } else {
      write(); // first, because it disables "up" in the top row
      (button.disabled ? one(row, "name") : button).focus();
    }
    touch();
  });
  rows.addEventListener("input", write);
  rows.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing || event.target.closest("button")) return;
    event.preventDefault(); // Enter goes to the next spot and does not submit
    const row = event.target.closest(".row");
    one(row.nextElementSibling || add(), "name").focus();
    write();
  });
  rows.addEventListener("paste", (event) => {
    const lines = event.clipboardData.getData("text").split(BREAK).filter((line) => line.trim());
    if (!("name" in event.target.dataset) || lines.length < 2) return;
    event.preventDefault();
    const row = event.target.closest(".row");
    const last = lines.map((line) => add(split(line), row)).pop();
    if (!name(row) && !description(row) && !tags(row)) row.remove();
    write();
    one(last, "name").focus();
    touch();
  });
  one(buttons, "add").addEventListener("click", () => {
    one(add(), "name").focus();
    write();
  });
  toggle.addEventListener("click", () => {
    if (rows.hidden) read();
    show(rows.hidden);
  });
  text.addEventListener("input", () => tell(text.value.split(BREAK).filter((line) => line.trim()).length));

  restore();
  const found = read();
  for (const fault of field.querySelectorAll("[data-line]")) {
    const row = found.get(Number(fault.dataset.line));
    if (!row) continue;
    const place = row.querySelector(".errors");
    place.textContent = fault.dataset.fault; // without the number of its line: the row has its own
    place.id = `fault-${fault.dataset.line}`;
    place.hidden = false;
    one(row, "name").setAttribute("aria-invalid", "true");
    one(row, "name").setAttribute("aria-describedby", place.id);
    fault.remove();
  }
  buttons.hidden = false;
  show(true);
  if (text.autofocus) (rows.querySelector("[aria-invalid]") || rows.querySelector("[data-name]")).focus();
})();
