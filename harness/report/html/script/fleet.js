// Of a fleet: services found by name, and in another order.
(() => {
  const form = document.getElementById('find');
  if (!form) return;
  const body = document.querySelector('.heat tbody');
  const services = [...body.rows];
  const count = form.querySelector('output');
  const ORDERS = {
    worst: (a, b) => a.dataset.at - b.dataset.at,
    name: (a, b) => (a.dataset.name < b.dataset.name ? -1 : 1),
    slowest: (a, b) => b.dataset.ms - a.dataset.ms,
  };

  form.addEventListener('submit', (event) => event.preventDefault());
  form.addEventListener('input', ({ target }) => {
    const wanted = target.value.trim().toLowerCase();
    for (const row of services) row.hidden = !row.dataset.name.toLowerCase().includes(wanted);
    count.textContent = services.filter((row) => !row.hidden).length;
  });
  form.addEventListener('click', ({ target }) => {
    const order = target.dataset.sort;
    if (!order) return;
    body.append(...services.toSorted(ORDERS[order]));
    for (const button of form.querySelectorAll('[data-sort]'))
      button.setAttribute('aria-pressed', String(button === target));
  });
})();
