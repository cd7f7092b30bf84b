// A press on the page Label is for the card that is read.
//
// The texts of the next card are there before its buttons, and those of the last one may stay for a
// while: a press in between waits for the buttons of the card that is shown. Before its texts are
// there, a press is for the card before, which is answered, and nothing comes of it.
(() => {
  const shownCard = () => {
    const texts = document.querySelectorAll('[class*="st-key-label-shown-"]');
    const last = texts[texts.length - 1];
    return last?.className.match(/st-key-label-shown-(\S+)/)[1];
  };
  const buttonOf = (key, card) => document.querySelector(`.st-key-label-${key}-${card} button`);
  let waiting = null;

  const press = (key, card) => {
    const button = buttonOf(key, card);
    if (button === null) {
      waiting ??= { key, card };
    } else {
      waiting = null;
      if (!button.disabled) button.click();
    }
  };
  new MutationObserver(() => {
    if (waiting === null) return;
    if (shownCard() !== waiting.card) waiting = null;
    else if (buttonOf(waiting.key, waiting.card)) press(waiting.key, waiting.card);
  }).observe(document, { childList: true, subtree: true, attributeFilter: ['class'] });

  const isKey = (key) => /^[a-z0-9]$/.test(key);
  const writes = (place) => place instanceof Element
    && place.closest('input:not([type=checkbox]), textarea, select, [contenteditable=true], [role=dialog]');
  window.addEventListener('keydown', (event) => {
    const card = shownCard();
    const key = event.key?.toLowerCase();
    if (card === undefined || !isKey(key) || event.ctrlKey || event.metaKey || event.altKey
        || writes(event.target)) return;
    // The button to skip comes after those of all answers.
    if (buttonOf(key, card) === null && buttonOf('s', card) !== null) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (!event.repeat) press(key, card);
  }, true);
  window.addEventListener('click', (event) => {
    if (!event.isTrusted || !(event.target instanceof Element)) return;
    const button = event.target.closest('[class*="st-key-label-"] button');
    const of = button?.closest('[class*="st-key-label-"]').className
      .match(/st-key-label-([a-z0-9])-(\S+)/);
    const card = shownCard();
    if (!of || card === undefined || of[2] === card) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    press(of[1], card);
  }, true);
})();
