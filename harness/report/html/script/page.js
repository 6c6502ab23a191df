// What a service said reaches the page through textContent alone.
(() => {
  const root = document.documentElement;
  root.classList.remove('no-script');

  // On a phone the long parts are closed until they are asked for.
  if (matchMedia('(max-width: 45rem)').matches) {
    for (const part of document.querySelectorAll('details[data-fold]')) part.open = false;
  }

  // A file of the disk may have no memory of its own.
  function remembered() {
    try {
      return localStorage.getItem('conform-theme');
    } catch {
      return null;
    }
  }
  const chosen = remembered();
  if (chosen === 'light' || chosen === 'dark') root.dataset.theme = chosen;

  document.getElementById('theme').addEventListener('click', () => {
    const isDark =
      (root.dataset.theme ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) ===
      'dark';
    root.dataset.theme = isDark ? 'light' : 'dark';
    try {
      localStorage.setItem('conform-theme', root.dataset.theme);
    } catch {}
  });

  addEventListener('beforeprint', () => {
    for (const cause of document.querySelectorAll('#wrong > .cause:not(.slim), #advice > .cause'))
      cause.open = true;
  });
})();
