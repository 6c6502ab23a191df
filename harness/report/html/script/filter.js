// The filter: words and terms over every row of the page. It stands in the address, and is set by the event `filter`.
(() => {
  const query = document.getElementById('query');
  const shown = document.getElementById('shown');
  const clear = document.getElementById('clear');
  const chips = [...document.querySelectorAll('[data-chip]')];
  const OUTCOMES = ['fail', 'warning', 'blocked', 'known', 'pass', 'observed', 'skipped', 'error'];

  const STATES = ['new', 'back', 'still', 'drifted'];

  const rows = [...document.querySelectorAll('[data-o]')].map((element) => ({
    element,
    outcomes: element.dataset.o.split(' '),
    services: element.dataset.s.split(' '),
    operations: element.dataset.op?.toLowerCase().split('\n') ?? [],
    suite: element.closest('[data-suite]')?.dataset.suite,
  }));
  const all = rows.filter(({ element }) => element.closest('#checks'));
  const groups = [...document.querySelectorAll('[data-group]')].reverse();
  const sections = [...document.querySelectorAll('[data-filtered]')];

  // Read when it is first looked for: most pages are never searched.
  function textOf(row) {
    row.text ??= (row.element.querySelector(':scope > summary') ?? row.element).textContent.toLowerCase();
    return row.text;
  }
  const partOf = (row, selector) => row.element.querySelector(selector)?.textContent.toLowerCase() ?? '';
  const glob = (pattern) =>
    new RegExp(`^${pattern.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')}$`);

  const TERMS = {
    is: (row, value) => row.outcomes.includes(value),
    service: (row, value) => row.services.some((name) => name.toLowerCase() === value),
    suite: (row, value) => row.suite?.toLowerCase() === value,
    id: (row, value) => glob(value).test(partOf(row, 'code')),
    // With or without the method.
    operation: (row, value) =>
      row.operations.some((name) => glob(value).test(name) || glob(value).test(name.replace(/^\S+ /, ''))),
    level: (row, value) => (row.element.dataset.l?.toLowerCase() ?? partOf(row, '.lv')) === value,
  };

  function distance(a, b) {
    let before = Array.from({ length: b.length + 1 }, (_, at) => at);
    for (let i = 1; i <= a.length; i += 1) {
      const now = [i];
      for (let j = 1; j <= b.length; j += 1) {
        now[j] = Math.min(before[j] + 1, now[j - 1] + 1, before[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
      }
      before = now;
    }
    return before[b.length];
  }
  function nearest(word, known) {
    return known.toSorted((a, b) => distance(word, a) - distance(word, b))[0];
  }

  const known = {
    is: () => [...OUTCOMES, ...STATES],
    service: () => [...new Set(rows.flatMap(({ services }) => services.map((name) => name.toLowerCase())))],
    suite: () => [...new Set(rows.flatMap(({ suite }) => suite?.toLowerCase() ?? []))],
    level: () => ['must', 'should'],
  };

  /** The terms of a query, and what is not known among them. */
  function parse(text) {
    const complaints = [];
    const terms = (text.match(/-?(?:[\w]+:)?(?:"[^"]*"|[^\s"]+)/g) ?? []).map((part) => {
      const not = part.startsWith('-') && part.length > 1;
      const word = (not ? part.slice(1) : part).toLowerCase();
      const [, field, value = ''] = /^(\w+):(.*)$/.exec(word) ?? [];
      const choices = value.replaceAll('"', '').split(',').filter(Boolean);
      if (field !== undefined && !Object.hasOwn(TERMS, field)) {
        complaints.push(`${field}: is not known; did you mean ${nearest(field, Object.keys(TERMS))}:?`);
      }
      for (const choice of choices) {
        const right = Object.hasOwn(known, field ?? '') ? known[field]() : [choice];
        if (!right.includes(choice))
          complaints.push(
            `${field}:${choice} is not known; did you mean ${field}:${nearest(choice, right)}?`,
          );
      }
      const phrase = word.replaceAll('"', '');
      const matches = Object.hasOwn(TERMS, field ?? '')
        ? (row) => choices.length === 0 || choices.some((choice) => TERMS[field](row, choice))
        : (row) => textOf(row).includes(phrase);
      return not ? (row) => !matches(row) : matches;
    });
    return { terms, complaints };
  }

  /** Rows among which a reader finds what is left at a glance. */
  const FEW = 60;

  function apply() {
    const text = query.value.trim();
    const { terms, complaints } = parse(text);
    let hits = 0;
    for (const row of rows) {
      row.hit = terms.every((term) => term(row));
      row.element.hidden = !row.hit;
    }
    for (const { hit } of all) if (hit) hits += 1;
    for (const group of groups) {
      const inside = [...group.querySelectorAll('[data-o]')];
      const left = inside.filter(({ hidden }) => !hidden).length;
      group.hidden = left === 0;
      const count = group.querySelector(':scope > summary .count');
      if (count) {
        count.dataset.whole ??= count.textContent;
        count.textContent =
          left === inside.length ? count.dataset.whole : `${left} of ${count.dataset.whole}`;
      }
      if (group.matches('.suite') && text !== '') group.open = left > 0 && hits <= FEW;
      if (group.matches('.suite') && text === '') group.open = false;
    }
    for (const section of sections) section.hidden = !section.querySelector('[data-o]:not([hidden])');
    document.documentElement.classList.toggle('filtering', text !== '');
    const left =
      hits === 0
        ? 'Nothing matches the filter.'
        : `${hits.toLocaleString('en')} of ${all.length.toLocaleString('en')} checks`;
    shown.textContent = text === '' ? '' : [left, ...complaints].join(' ');
    clear.hidden = text === '';
    const outcomes = chosen(text);
    for (const chip of chips) chip.setAttribute('aria-pressed', String(outcomes.includes(chip.dataset.chip)));
  }

  function chosen(text) {
    const [, list] = /(?:^|\s)is:(\S+)/.exec(text) ?? [];
    return list ? list.split(',') : [];
  }

  function search(text) {
    query.value = text;
    apply();
    const wanted =
      text.trim() === '' ? location.pathname + location.search : `#q=${encodeURIComponent(text.trim())}`;
    history.replaceState(null, '', wanted);
  }

  query.addEventListener('input', () => search(query.value));
  query.form.addEventListener('submit', (event) => event.preventDefault());
  clear.addEventListener('click', () => {
    search('');
    query.focus();
  });
  document.addEventListener('filter', ({ detail }) => search(detail));
  document.addEventListener('filter-from-address', ({ detail }) => {
    query.value = detail;
    apply();
  });

  for (const chip of chips) {
    chip.addEventListener('click', () => {
      const before = chosen(query.value);
      const name = chip.dataset.chip;
      const now = before.includes(name) ? before.filter((other) => other !== name) : [...before, name];
      const rest = query.value.replace(/(?:^|\s)is:\S+/g, ' ').trim();
      search([now.length > 0 ? `is:${now.join(',')}` : '', rest].filter(Boolean).join(' '));
    });
  }

  document.addEventListener('click', (event) => {
    const cell = event.target.closest?.('[data-query]');
    if (!cell || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    search(query.value === cell.dataset.query ? '' : cell.dataset.query);
  });
})();
