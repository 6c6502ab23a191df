// Sections that have every word, those with all of them in their heading first.
const MOST = 12;
const AROUND = 60;

const field = document.querySelector('#search');
const list = document.querySelector('#results');
const pages = document.querySelector('#pages');
const { base } = document.documentElement.dataset;
const sections = globalThis.SECTIONS.map((section) => ({
  ...section,
  head: `${section.title} ${section.heading}`.toLowerCase(),
  body: section.text.toLowerCase(),
}));

function found(query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const rank = ({ head }) => words.filter((word) => !head.includes(word)).length;
  return sections
    .filter(({ head, body }) => words.every((word) => head.includes(word) || body.includes(word)))
    .toSorted((one, other) => rank(one) - rank(other))
    .slice(0, MOST)
    .map((section) => ({ ...section, excerpt: excerptOf(section, words) }));
}

function excerptOf({ text, body }, words) {
  const at = Math.max(0, body.indexOf(words.find((word) => body.includes(word)) ?? '') - AROUND);
  return `${at > 0 ? '…' : ''}${text.slice(at, at + 2 * AROUND)}…`;
}

function show() {
  const sectionsFound = found(field.value);
  const isAsked = field.value.trim() !== '';
  list.hidden = !isAsked;
  pages.hidden = isAsked;
  list.replaceChildren(
    ...(isAsked && sectionsFound.length === 0 ? [line('Nothing has these words.')] : []),
    ...sectionsFound.map(({ page, anchor, title, heading, excerpt }) => {
      const link = document.createElement('a');
      link.href = `${base}/${page}#${anchor}`;
      link.textContent = title === heading ? title : `${title}: ${heading}`;
      const item = line(excerpt);
      item.prepend(link);
      return item;
    }),
  );
}

function line(text) {
  const item = document.createElement('li');
  const small = document.createElement('small');
  small.textContent = text;
  item.append(small);
  return item;
}

field.addEventListener('input', show);
addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.target === field) return;
  event.preventDefault();
  field.focus();
});
