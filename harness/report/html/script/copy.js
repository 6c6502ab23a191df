// Buttons that copy a command, a finding as text, or a link to it.
(() => {
  async function copy(button, text, fallback) {
    const label = button.textContent;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = 'Copied';
    } catch {
      getSelection().selectAllChildren(fallback);
      button.textContent = 'Selected';
    }
    setTimeout(() => {
      button.textContent = label;
    }, 2000);
  }

  for (const block of document.querySelectorAll('.copyable')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.addEventListener('click', () =>
      copy(button, block.firstElementChild.textContent, block.firstElementChild),
    );
    block.append(button);
  }

  function asText(finding) {
    const text = (selector) => finding.querySelector(selector)?.textContent.trim() ?? '';
    const halves = [...finding.querySelectorAll('.halves > div')].map(
      (half) => `${half.querySelector('dt').textContent}: ${half.querySelector('.text').textContent}`,
    );
    const command = text('.copyable pre');
    return [
      text('summary .headline'),
      `${text('summary code')}, ${text('summary .in-head')} ${text('summary .lv')}`.trim(),
      ...halves,
      ...(command ? ['', command] : []),
    ].join('\n');
  }

  document.addEventListener('click', ({ target }) => {
    const finding = target.closest?.('.finding');
    if (!finding) return;
    const here = location.href.replace(/#.*/, '');
    if (target.matches('[data-copy-text]')) copy(target, asText(finding), finding);
    if (target.matches('[data-copy-link]'))
      copy(target, `${here}#${finding.id}`, finding.querySelector('code'));
  });
})();
