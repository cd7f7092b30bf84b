// Back leads to the page before, as it was left.
//
// Streamlit adds an entry to the browser's history for each address that the server corrects: one of
// a new page before its parameters are known, and one of a page that is left, stripped of them. A
// correction of the address on one page takes the place of the entry; and what was stripped just
// before another page came is put back. A tab that is opened is an entry of its own.
(() => {
  const push = history.pushState.bind(history);
  const replace = history.replaceState.bind(history);
  const BRIEF = 10000;
  const TAB = 'tab';
  let stripped = null;
  // A page that is left loses the parameter of its tab too; only who is on a tab opens another.
  let onTab = -BRIEF;
  for (const act of ['click', 'keydown']) {
    document.addEventListener(act, (event) => {
      if (event.target instanceof Element && event.target.closest('[role=tab]')) onTab = Date.now();
      else if (act === 'click') onTab = -BRIEF;
    }, true);
  }

  const fewer = (before, after) =>
    [...after.searchParams].every(([name, value]) => before.searchParams.getAll(name).includes(value))
    && [...before.searchParams].length > [...after.searchParams].length;

  const rest = (address) => JSON.stringify([...address.searchParams].filter(([name]) => name !== TAB).sort());

  history.pushState = (state, title, url) => {
    const before = new URL(location.href);
    const after = new URL(url, location.href);
    if (after.pathname === before.pathname) {
      const another = before.searchParams.get(TAB) !== after.searchParams.get(TAB);
      if (another && rest(after) === rest(before) && Date.now() - onTab < BRIEF) {
        onTab = -BRIEF;
        stripped = null;
        push(state, title, url);
        return;
      }
      // Stripped in several steps, it is put back as it was before the first.
      stripped = fewer(before, after) ? { href: stripped?.href ?? before.href, at: Date.now() } : null;
      replace(state, title, url);
      return;
    }
    if (stripped && Date.now() - stripped.at < BRIEF) replace(history.state, title, stripped.href);
    stripped = null;
    push(state, title, url);
  };
  history.replaceState = (state, title, url) => {
    stripped = null;
    replace(state, title, url);
  };
})();
