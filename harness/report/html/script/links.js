// Addresses of parts: `#service/check.id`, `#check.id`, and `#q=filter`.
(() => {
  const tell = (name, detail) => document.dispatchEvent(new CustomEvent(name, { detail }));

  function find(name) {
    return (
      document.getElementById(name) ??
      document.querySelector(`.finding[id$="/${CSS.escape(name)}"], .check[id$="/${CSS.escape(name)}"]`)
    );
  }

  function follow() {
    const hash = location.hash.slice(1);
    if (hash.startsWith('q=')) {
      tell('filter-from-address', new URLSearchParams(hash).get('q') ?? '');
      return;
    }
    const target = hash === '' ? null : find(decodeURIComponent(hash));
    if (!target) return;
    if (target.closest('[hidden]')) {
      tell('filter-from-address', '');
    }
    for (let outer = target.closest('details'); outer; outer = outer.parentElement?.closest('details'))
      outer.open = true;
    target.scrollIntoView();
    target.querySelector(':scope > summary')?.focus({ preventScroll: true });
  }

  addEventListener('hashchange', follow);
  follow();
})();
