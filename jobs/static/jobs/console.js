"use strict";

// Keeps the dashboard fresh: only what differs is changed, in place. So nothing jumps, what is
// unfolded stays unfolded, and what is selected or focused stays so.

const KEPT = new Set(["open", "style", "width", "height"]); // the reader's, or the chart's own

function renew(old, fresh) {
  if (old.nodeType !== fresh.nodeType || old.nodeName !== fresh.nodeName) {
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
  const before = [...old.childNodes];
  const after = [...fresh.childNodes];
  after.forEach((node, place) => {
    if (place < before.length) renew(before[place], node);
    else old.append(node.cloneNode(true));
  });
  before.slice(after.length).forEach((node) => node.remove());
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

// What stands still: what the pointer is on, else what is read in the upper part of the window.

let pointer = null;

function anchorIn(dashboard) {
  const places = [pointer, { x: innerWidth / 2, y: innerHeight / 3 }];
  for (const place of places) {
    const element = place && document.elementFromPoint(place.x, place.y);
    if (element && element !== dashboard && dashboard.contains(element)) return element;
  }
  return null;
}

function keepInPlace(dashboard, change) {
  const anchor = anchorIn(dashboard);
  const before = anchor && anchor.getBoundingClientRect().top;
  change();
  if (anchor && anchor.isConnected) scrollBy(0, anchor.getBoundingClientRect().top - before);
}

// Refreshing

function keepFresh(dashboard) {
  let tag = "";
  const refresh = async () => {
    if (document.hidden) return;
    const answer = await fetch(dashboard.dataset.refresh, {
      headers: tag ? { "If-None-Match": tag } : {},
      cache: "no-store",
    }).catch(() => null); // the next time, perhaps
    if (!answer || answer.status !== 200 || answer.redirected) return;
    tag = answer.headers.get("ETag") || "";
    const fresh = document.createElement("div");
    fresh.innerHTML = await answer.text();
    keepInPlace(dashboard, () => {
      renewChildren(dashboard, withEdges(dashboard, fresh));
      drawAll();
    });
  };
  setInterval(refresh, Number(dashboard.dataset.every));
  document.addEventListener("visibilitychange", refresh);
  document.addEventListener("pointermove", ({ x, y }) => { pointer = { x, y }; });
  document.addEventListener("pointerleave", () => { pointer = null; });
}

// The page has white space around the fragment that the fragment itself has not.
function withEdges(dashboard, fresh) {
  const isBlank = (node) => node && node.nodeType === Node.TEXT_NODE && !node.data.trim();
  for (const node of [dashboard, fresh]) {
    while (isBlank(node.firstChild)) node.firstChild.remove();
    while (isBlank(node.lastChild)) node.lastChild.remove();
  }
  return fresh;
}

addEventListener("load", () => {
  const dashboard = document.getElementById("dashboard");
  if (dashboard) {
    drawAll();
    keepFresh(dashboard);
    new MutationObserver(drawAll).observe(document.documentElement, { attributeFilter: ["class"] });
  }
  const form = document.querySelector("form[data-go-on]");
  if (form) form.requestSubmit();
});
