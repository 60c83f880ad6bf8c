// Polls for changes: often while pictures arrive, seldom while none does, never from a hidden tab.
// The polling element has data-live, the state that the page shows, and hx-get until polling is over.
(() => {
  "use strict";
  const SOONEST = 2000;
  const LATEST = 15000;
  const SELDOM = 600000; // while all pictures come by batch
  const LATEST_AFTER_FAULT = 30000;
  let delay = SOONEST;
  let shown;
  let timer;

  const poller = () => document.querySelector("[data-live][hx-get]");
  const isSlow = () => Boolean(document.querySelector("[data-live][data-seldom]"));
  const live = () => document.querySelector("[data-live]")?.dataset.live;

  function schedule() {
    clearTimeout(timer);
    // Random, so that after an outage not all pages poll at the same moment.
    const wait = isSlow() ? SELDOM : delay;
    if (poller()) timer = setTimeout(ask, wait * (0.9 + Math.random() / 5));
  }

  function ask() {
    clearTimeout(timer);
    const asks = poller();
    if (!asks || document.hidden) return;
    shown = live();
    htmx.trigger(asks, "live");
  }

  function askSoon() {
    delay = SOONEST;
    ask();
  }

  document.addEventListener("htmx:afterRequest", (event) => {
    if (!event.detail.successful) delay = Math.min(delay * 2, LATEST_AFTER_FAULT);
    else if (live() !== shown) delay = SOONEST;
    else delay = Math.min(delay * 1.4, LATEST);
    schedule();
  });

  // A picture that arrives on an open page fades in once its file is loaded.
  document.addEventListener("htmx:load", (event) => {
    for (const image of event.detail.elt.querySelectorAll("img.painted")) {
      if (event.detail.elt === document.body || image.complete) continue;
      const appear = () => image.classList.remove("arriving");
      image.classList.add("arriving");
      image.addEventListener("load", appear, { once: true });
      image.addEventListener("error", appear, { once: true });
    }
  });

  document.addEventListener("visibilitychange", () => (document.hidden ? clearTimeout(timer) : askSoon()));
  window.addEventListener("online", askSoon);
  window.addEventListener("pageshow", (event) => (event.persisted ? askSoon() : schedule()));
})();
