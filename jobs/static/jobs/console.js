"use strict";

// Refreshes the dashboard, lists and pages of jobs by changing only the nodes that differ. So
// nothing jumps, and open details and the focus stay.

const KEPT = new Set(["open", "style", "width", "height"]); // set by the reader or by the chart

// A node with a key is replaced, never turned into a node with another key. So a button that a
// person is about to press does not become another button.
function keyOf(node) {
  return (node && node.dataset && node.dataset.key) || "";
}

function renew(old, fresh) {
  if (old.nodeType !== fresh.nodeType || old.nodeName !== fresh.nodeName || keyOf(old) !== keyOf(fresh)) {
    old.replaceWith(fresh.cloneNode(true));
  } else if (old.nodeType === Node.TEXT_NODE) {
    if (old.data !== fresh.data) old.data = fresh.data;
  } else if (old.nodeType === Node.ELEMENT_NODE) {
    renewAttributes(old, fresh);
    renewChildren(old, fresh);
  }
}

function renewAttributes(old, fresh) {
  for (const { name, value } of fresh.attributes) {
    if (!KEPT.has(name) && old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  for (const { name } of [...old.attributes]) {
    if (!KEPT.has(name) && !fresh.hasAttribute(name)) old.removeAttribute(name);
  }
}

function renewChildren(old, fresh) {
  const wanted = new Set([...fresh.childNodes].map(keyOf));
  const kept = new Map();
  for (const node of [...old.childNodes]) {
    if (!wanted.has(keyOf(node)) && keyOf(node)) node.remove();
    else if (keyOf(node)) kept.set(keyOf(node), node);
  }
  let place = old.firstChild; // everything before it is up to date
  for (const node of fresh.childNodes) {
    const known = keyOf(node) ? kept.get(keyOf(node)) : !keyOf(place) && place;
    if (!known) {
      old.insertBefore(node.cloneNode(true), place);
      continue;
    }
    place = bring(old, known, place);
    renew(known, node);
  }
  while (place) {
    const next = place.nextSibling;
    place.remove();
    place = next;
  }
}

// Puts a child at the place and returns the next place. First it removes the white space before
// the child, so that a child that may have the focus need not be moved.
function bring(parent, child, place) {
  while (place && place !== child && !keyOf(place)) {
    const next = place.nextSibling;
    place.remove();
    place = next;
  }
  if (place === child) return child.nextSibling;
  parent.insertBefore(child, place);
  return place;
}

// Charts

function colours() {
  const dark = document.documentElement.classList.contains("dark");
  return dark ? { text: "#d1d5db", line: "#374151" } : { text: "#4b5563", line: "#e5e7eb" };
}

function options() {
  const { text, line } = colours();
  const ticks = { color: text, maxRotation: 0, autoSkipPadding: 16 };
  return {
    animation: false,
    maintainAspectRatio: false,
    plugins: { legend: { position: "bottom", labels: { color: text, boxWidth: 12 } } },
    scales: {
      x: { stacked: true, ticks, grid: { display: false } },
      y: { stacked: true, beginAtZero: true, ticks: { ...ticks, precision: 0 }, grid: { color: line } },
    },
  };
}

function draw(canvas) {
  const data = JSON.parse(canvas.dataset.figures);
  const chart = Chart.getChart(canvas);
  if (!chart) {
    new Chart(canvas, { type: "bar", data, options: options() });
    return;
  }
  chart.data.labels = data.labels;
  chart.data.datasets.forEach((set, place) => Object.assign(set, data.datasets[place]));
  chart.options = options();
  chart.update("none");
}

function drawAll() {
  document.querySelectorAll(".tc-canvas").forEach(draw);
}

// The element that must not move: the one under the pointer, else one in the upper window.

let pointer = null;
let isPressed = false; // a node that is replaced under a pressed button loses the click

function anchorIn(parts) {
  const places = [pointer, { x: innerWidth / 2, y: innerHeight / 3 }];
  for (const place of places) {
    const element = place && document.elementFromPoint(place.x, place.y);
    if (element && parts.some((part) => element !== part && part.contains(element))) return element;
  }
  return null;
}

function keepInPlace(parts, change) {
  const anchor = anchorIn(parts);
  const before = anchor && anchor.getBoundingClientRect().top;
  change();
  if (anchor && anchor.isConnected) scrollBy(0, anchor.getBoundingClientRect().top - before);
}

// Refreshing. A page has parts with names, except the dashboard, which is one part.

function partsOf(page) {
  const parts = [...document.querySelectorAll("[data-live]")];
  return parts.length ? parts : [page];
}

function renewParts(parts, fresh) {
  for (const part of parts) {
    const name = part.dataset.live;
    const other = name ? fresh.querySelector(`[data-live="${name}"]`) : fresh;
    if (!other) continue;
    if (name) renewAttributes(part, other);
    renewChildren(part, withEdges(part, other));
  }
}

// Whether a person is doing something that a change would disturb: selecting rows or text,
// typing, choosing, pressing, or answering a dialog.
function isBusy(parts) {
  const chosen = getSelection();
  const isIn = (node) => node && parts.some((part) => part.contains(node));
  return (
    isPressed ||
    Boolean(document.querySelector("dialog[open], input.action-select:checked")) ||
    (!chosen.isCollapsed && isIn(chosen.anchorNode)) ||
    (isIn(document.activeElement) && document.activeElement.matches("textarea, select, input:not([type=checkbox])"))
  );
}

function keepFresh(page) {
  let tag = "";
  let isAsking = false; // a slow server is not asked again before it has answered
  const every = Number(page.dataset.every);
  const heard = listenFor(document.getElementById("stale"));
  const look = async () => {
    const parts = partsOf(page);
    if (document.hidden || isBusy(parts)) return;
    const answer = await fetch(page.dataset.refresh || location.href, {
      headers: { "X-Renew": "1", ...(tag ? { "If-None-Match": tag } : {}) },
      cache: "no-store",
      signal: AbortSignal.timeout(2 * every),
    }).catch(() => null); // the next refresh tries again
    const text = answer && answer.status === 200 && (await answer.text().catch(() => null));
    const isLogin = Boolean(answer && answer.redirected);
    heard(!isLogin && (text || (answer && answer.status === 304)), isLogin);
    if (answer && !isLogin) setClock(page, answer.headers.get("X-As-Of"));
    if (!text || isLogin || isBusy(parts)) return;
    tag = answer.headers.get("ETag") || "";
    const fresh = document.createElement("div");
    fresh.innerHTML = text;
    keepInPlace(parts, () => {
      renewParts(parts, fresh);
      drawAll();
    });
    countRows();
  };
  const refresh = () => {
    if (isAsking) return;
    isAsking = true;
    look().finally(() => { isAsking = false; });
  };
  // A job that has ended changes only if a person requeues it: look again when the reader returns.
  const isFinal = () => Boolean(document.querySelector("[data-live][data-final]"));
  setInterval(() => isFinal() || refresh(), every);
  document.addEventListener("visibilitychange", refresh);
  document.addEventListener("pointermove", ({ x, y }) => { pointer = { x, y }; });
  document.addEventListener("pointerleave", () => { pointer = null; });
  document.addEventListener("pointerdown", ({ button }) => { isPressed = button === 0; });
  // A menu or another window that opens meanwhile swallows the pointerup.
  for (const name of ["pointerup", "pointercancel", "dragend", "contextmenu", "blur"]) {
    addEventListener(name, () => { isPressed = false; });
  }
}

// Selecting rows: the admin's own script knows the rows that the page began with. It gets a
// collection that always holds the rows there are.

const boxes = document.getElementsByClassName("action-select");
boxes.forEach = Array.prototype.forEach;
let hasActions = false;

if (window.Actions) {
  const select = window.Actions;
  window.Actions = (_first, options) => {
    hasActions = true;
    select(boxes, options);
  };
}

function countRows() {
  const list = document.querySelector(".result-list-wrapper");
  const counter = list && list.querySelector(".action-counter");
  if (!counter || !boxes.length) return;
  counter.dataset.actionsIcnt = boxes.length;
  if (!hasActions) window.Actions(boxes, { parent: list }); // the list was empty at first
}

// Copying. A page on plain http has no clipboard: there it copies what is selected in a field.

async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const focused = document.activeElement;
  const field = document.createElement("textarea");
  field.value = text;
  document.body.append(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  focused.focus();
  getSelection().removeAllRanges(); // a page with a selection does not refresh
  if (!isCopied) throw new Error("not copied");
}

document.addEventListener("click", async ({ target }) => {
  const button = target.closest("[data-copy]");
  if (!button) return;
  const said = button.parentNode.querySelector("[role=status]");
  said.textContent = await copy(button.dataset.copy).then(() => button.dataset.done, () => button.dataset.failed);
  setTimeout(() => { said.textContent = ""; }, 3000);
});

// The moment of the last look, also when nothing has changed since.
function setClock(page, time) {
  const clock = page.querySelector("[data-clock]");
  if (clock && time) clock.textContent = clock.textContent.replace(/\d+:\d+:\d+/, time);
}

// A page that is no longer refreshed must not look as if all were well. It shows a notice after
// two misses, or at once if the answer is the login page.
function listenFor(notice) {
  let misses = 0;
  let last = new Date();
  return (isWell, isLogin) => {
    misses = isWell ? 0 : misses + 1;
    if (isWell) last = new Date();
    notice.querySelector("time").textContent = last.toLocaleTimeString();
    notice.hidden = !(isLogin || misses >= 2);
  };
}

// Removes the white space that the page has around the fragment and the fragment has not.
function withEdges(part, fresh) {
  const isBlank = (node) => node && node.nodeType === Node.TEXT_NODE && !node.data.trim();
  for (const node of [part, fresh]) {
    while (isBlank(node.firstChild)) node.firstChild.remove();
    while (isBlank(node.lastChild)) node.lastChild.remove();
  }
  return fresh;
}

addEventListener("load", () => {
  const page = document.querySelector("[data-refresh]");
  if (page) {
    drawAll();
    keepFresh(page);
    new MutationObserver(drawAll).observe(document.documentElement, { attributeFilter: ["class"] });
  }
  const tab = document.querySelector(".tc-tab[aria-current]");
  if (tab) tab.parentNode.scrollLeft = tab.offsetLeft - tab.parentNode.offsetLeft - 16;
  const form = document.querySelector("form[data-go-on]");
  if (form) form.requestSubmit();
});
