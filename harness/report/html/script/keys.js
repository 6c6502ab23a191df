// Keys; never with Ctrl, Alt or Meta, nor while somebody types.
(() => {
  const query = document.getElementById('query');
  const keys = document.getElementById('keys');
  const main = document.getElementById('main');

  function rows() {
    return [...main.querySelectorAll('summary, a.row')].filter(
      (row) => row.checkVisibility({ contentVisibilityAuto: false }) && row.offsetParent !== null,
    );
  }

  function step(by) {
    const all = rows();
    const at = all.indexOf(document.activeElement);
    const next = at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + by));
    all[next]?.focus();
    all[next]?.scrollIntoView({ block: 'nearest' });
  }

  /** Whether there was anything to close. */
  function close() {
    const opened = [...main.querySelectorAll('details[open]:not([data-fold])')];
    for (const details of opened) details.open = false;
    return opened.length > 0;
  }

  function leave() {
    if (query.value !== '') document.dispatchEvent(new CustomEvent('filter', { detail: '' }));
    else if (!close()) document.activeElement?.blur();
  }

  const DOES = {
    j: () => step(1),
    k: () => step(-1),
    o: () => document.activeElement?.closest('summary, a.row')?.click(),
    x: close,
    '/': () => query.focus(),
    c: () => {
      const within =
        document.activeElement?.closest('.finding[open]') ?? main.querySelector('.finding[open]');
      within?.querySelector('.copy')?.click();
    },
    t: () => document.getElementById('theme').click(),
    '?': () => keys.showModal(),
    Escape: leave,
  };

  document.addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof HTMLInputElement;
    if (event.ctrlKey || event.metaKey || event.altKey || keys.open) return;
    if (isTyping && event.key === 'Escape' && event.target.value === '') {
      event.target.blur();
      return;
    }
    if ((isTyping && event.key !== 'Escape') || !Object.hasOwn(DOES, event.key)) return;
    event.preventDefault();
    DOES[event.key]();
  });
})();
