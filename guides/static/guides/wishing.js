// Keeps the prices of a wished-for guide true while its number of spots and its strategy change.
(() => {
  "use strict";
  const prices = document.querySelector(".prices");
  const form = prices.closest("form");
  const save = form.querySelector("[type=submit]");
  const [texts, pictures] = ["[data-texts]", "[data-pictures]"].map((each) => prices.querySelector(each));

  function money(amount) {
    // At least two decimals: 0.12, 0.004.
    return `${amount.toFixed(4).replace(/0{1,2}$/, "")} ${prices.dataset.currency}`;
  }

  function say(element, count, amount) {
    const words = element.dataset.words.replace("{count}", count).replace("{price}", money(amount));
    if (element.textContent !== words) element.textContent = words;
  }

  function tell() {
    const count = Number(form.elements.spots.value);
    if (!(count >= 1 && count <= Number(form.elements.spots.max))) return;
    const chosen = form.querySelector(".choice:has(:checked) [data-price]") || pictures;
    const [first, text, picture] = [texts.dataset.first, texts.dataset.price, chosen.dataset.price].map(Number);
    if (text) say(texts, count, first + count * text);
    if (picture) say(pictures, count, count * picture);
  }

  form.addEventListener("input", tell);
  form.addEventListener("submit", () => {
    save.disabled = true;
  });
  addEventListener("pageshow", () => {
    save.disabled = false;
  });
  tell();
})();
