// The report's only script. What a service said reaches the page through textContent alone.
(() => {
  const root = document.documentElement;
  root.classList.remove('no-script');
  const query = document.getElementById('query');
  const shown = document.getElementById('shown');
  const nothing = document.getElementById('nothing');
  const chips = [...document.querySelectorAll('[data-chip]')];

  /* ---- evidence, unpacked when it is first asked for ---- */

  let pack;
  function unpack() {
    pack ??= (async () => {
      const text = document.getElementById('evidence-pack').textContent;
      const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
      const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
      return new Map(Object.entries(JSON.parse(await new Response(stream).text())));
    })();
    return pack;
  }

  function make(name, className, text) {
    const element = document.createElement(name);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  }

  const KINDS = { '>': 'sent', '<': 'received', '*': 'noted' };

  function line(at, direction, text) {
    const element = make('div', `line ${KINDS[direction]}`);
    element.append(make('span', 'at', at), make('span', 'dir', direction), make('span', 'said', text));
    return element;
  }

  // As `evidence.ts` renders it: change both.
  function evidenceBlock(id, [purpose, omitted, lines], open) {
    const details = make('details', 'evidence');
    details.open = open;
    const summary = make('summary');
    summary.append(make('code', '', id), ` ${purpose}`);
    const transcript = make('div', 'transcript');
    transcript.setAttribute('role', 'group');
    transcript.setAttribute('aria-label', `Transcript of ${id}`);
    transcript.tabIndex = 0;
    let before;
    for (const [at, direction, text] of lines) {
      transcript.append(line(at === before ? '' : `${at} ms`, direction, text));
      before = at;
    }
    if (omitted > 0) transcript.append(line('', '*', `… ${omitted} more lines in results.json`));
    details.append(summary, transcript);
    return details;
  }

  async function fill(place) {
    const keys = place.dataset.evidence.split(' ');
    delete place.dataset.evidence;
    try {
      const packed = await unpack();
      const known = keys.filter((key) => packed.has(key));
      const blocks = known.map((key, index) =>
        evidenceBlock(
          key.slice(key.indexOf('/') + 1),
          packed.get(key),
          known.length <= 2 || index === known.length - 1,
        ),
      );
      if (known.length < keys.length) {
        blocks.push(
          make(
            'p',
            'muted',
            `${keys.length - known.length} more in results.json: this page has no room for them.`,
          ),
        );
      }
      place.replaceChildren(...blocks);
    } catch {
      place.replaceChildren(make('p', 'muted', 'This browser cannot unpack the evidence; see results.json.'));
    }
  }

  function fillWithin(element) {
    for (const place of element.querySelectorAll('[data-evidence]')) fill(place);
  }

  document.addEventListener('toggle', ({ target }) => target.open && fillWithin(target), true);
  // Cards stand open from the start.
  for (const card of document.querySelectorAll('details.card[open]')) {
    if (!card.querySelector('[data-evidence]')) continue;
    new IntersectionObserver((seen, observer) => {
      if (!seen.some(({ isIntersecting }) => isIntersecting)) return;
      observer.disconnect();
      fillWithin(card);
    }).observe(card);
  }

  /* ---- copying ---- */

  for (const block of document.querySelectorAll('.copyable')) {
    const text = block.firstElementChild;
    const button = make('button', 'copy', 'Copy');
    button.type = 'button';
    button.addEventListener('click', async () => {
      try {
        await navigator.clipboard.writeText(text.textContent);
        button.textContent = 'Copied';
      } catch {
        getSelection().selectAllChildren(text);
        button.textContent = 'Selected';
      }
      setTimeout(() => {
        button.textContent = 'Copy';
      }, 2000);
    });
    block.append(button);
  }

  /* ---- filter ---- */

  const rows = [...document.querySelectorAll('[data-row]')].map((element) => ({
    element,
    s: element.dataset.s,
    suite: element.dataset.suite,
    service: element.dataset.service,
    level: element.dataset.level.toLowerCase(),
    text: textOf(element),
  }));
  const filtered = [...document.querySelectorAll('[data-filtered]')].reverse();

  // The transcripts are left out: one looks for checks by what they say, not by each header they carried.
  function textOf(element) {
    const copy = element.cloneNode(true);
    for (const part of copy.querySelectorAll('.evidence, .packed, .copy, .permalink')) part.remove();
    return copy.textContent.toLowerCase();
  }

  const FIELDS = {
    s: (row, value) => row.s === value,
    suite: (row, value) => row.suite === value,
    service: (row, value) => row.service === value,
    level: (row, value) => row.level === value,
    id: (row, value) => row.text.includes(value),
  };

  function parse(text) {
    return text
      .trim()
      .split(/\s+/)
      .filter(Boolean)
      .map((part) => {
        const not = part.startsWith('-') && part.length > 1;
        const word = (not ? part.slice(1) : part).toLowerCase();
        const [, field, value] = /^(\w+):(.+)$/.exec(word) ?? [];
        const matches = Object.hasOwn(FIELDS, field ?? '')
          ? (row) => value.split(',').some((choice) => FIELDS[field](row, choice))
          : (row) => row.text.includes(word);
        return not ? (row) => !matches(row) : matches;
      });
  }

  function apply() {
    const text = query.value.trim();
    const terms = parse(text);
    let checks = 0;
    let all = 0;
    for (const row of rows) {
      const hit = terms.every((term) => term(row));
      row.element.hidden = !hit;
      if (row.element.localName !== 'li') continue;
      all += 1;
      if (hit) checks += 1;
    }
    for (const section of filtered) section.hidden = !section.querySelector('[data-row]:not([hidden])');
    root.classList.toggle('filtering', text !== '');
    shown.textContent = text === '' ? '' : `${checks} of ${all} checks`;
    nothing.hidden = !filtered.every((section) => section.hidden);
    const outcomes = chosen(text);
    for (const chip of chips) chip.setAttribute('aria-pressed', String(outcomes.includes(chip.dataset.chip)));
  }

  function chosen(text) {
    const [, list] = /(?:^|\s)s:(\S+)/.exec(text) ?? [];
    return list ? list.split(',') : [];
  }

  function search(text) {
    query.value = text;
    apply();
    const wanted = text === '' ? ' ' : `#?q=${encodeURIComponent(text)}`;
    history.replaceState(null, '', text === '' ? location.pathname + location.search : wanted);
  }

  query.addEventListener('input', () => search(query.value));
  query.form.addEventListener('submit', (event) => event.preventDefault());
  document.getElementById('clear').addEventListener('click', () => {
    search('');
    query.focus();
  });

  for (const chip of chips) {
    chip.addEventListener('click', () => {
      const before = chosen(query.value);
      const name = chip.dataset.chip;
      const now = before.includes(name) ? before.filter((other) => other !== name) : [...before, name];
      const rest = query.value.replace(/(?:^|\s)s:\S+/g, ' ').trim();
      search([now.length > 0 ? `s:${now.join(',')}` : '', rest].filter(Boolean).join(' '));
    });
  }

  for (const link of document.querySelectorAll('[data-query]')) {
    link.addEventListener('click', (event) => {
      event.preventDefault();
      search(link.dataset.query);
      query.closest('.toolbar').scrollIntoView();
      query.focus({ preventScroll: true });
    });
  }

  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target instanceof HTMLInputElement) return;
    event.preventDefault();
    query.focus();
  });

  /* ---- permalinks: `#service/check.id` and `#?q=filter` ---- */

  function follow() {
    if (location.hash.startsWith('#?')) {
      query.value = new URLSearchParams(location.hash.slice(2)).get('q') ?? '';
      apply();
      return;
    }
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    if (target.closest('[hidden]')) search('');
    if (target.localName === 'details') target.open = true;
    for (
      let outer = target.parentElement?.closest('details');
      outer;
      outer = outer.parentElement?.closest('details')
    ) {
      outer.open = true;
    }
    target.scrollIntoView();
  }

  addEventListener('hashchange', follow);
  follow();
})();
