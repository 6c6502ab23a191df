// Evidence behind checks that are no findings, unpacked when a row is first opened.
(() => {
  const source = document.getElementById('evidence-pack');
  let pack;
  function unpacked() {
    pack ??= (async () => {
      const bytes = Uint8Array.from(atob(source.textContent), (character) => character.charCodeAt(0));
      const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
      return JSON.parse(await new Response(stream).text());
    })();
    return pack;
  }

  function make(name, className, ...content) {
    const element = document.createElement(name);
    if (className) element.className = className;
    element.append(...content);
    return element;
  }

  const KINDS = { '>': 'sent', '<': 'received', '*': 'noted' };

  function line(at, direction, text) {
    return make(
      'div',
      `line ${KINDS[direction]}`,
      make('span', 'at', at),
      make('span', 'dir', direction),
      make('span', 'said', text),
    );
  }

  // As `exchange.ts` renders it: change both.
  function exchange(key, [title, answer, omitted, lines], open) {
    const id = key.slice(key.indexOf('/') + 1);
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
    const answered = make('span', 'muted', answer === '' ? '' : `, answered ${answer}`);
    const summary = make('summary', '', make('span', '', make('code', '', id), ` ${title}`, answered));
    const details = make('details', 'other', summary, transcript);
    details.open = open;
    return details;
  }

  async function fill(row) {
    const place = row.querySelector('.behind');
    if (!place || row.dataset.filled) return;
    row.dataset.filled = 'yes';
    if (!source) {
      place.append(make('p', 'muted', 'What was exchanged is in results.json.'));
      return;
    }
    try {
      const { evidence, checks } = await unpacked();
      const keys = Object.hasOwn(checks, row.id) ? checks[row.id] : [];
      if (keys.length === 0) return;
      place.append(make('div', 'exchange', ...keys.map((key, at) => exchange(key, evidence[key], at === 0))));
    } catch {
      place.append(make('p', 'muted', 'This browser cannot unpack the evidence; see results.json.'));
    }
  }

  document.addEventListener(
    'toggle',
    ({ target }) => target.open && target.matches('.check') && fill(target),
    true,
  );
})();
