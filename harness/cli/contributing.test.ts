import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

/** What CONTRIBUTING.md promises, held against the tree. */

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const PAGE = read('CONTRIBUTING.md');

interface Story {
  readonly title: string;
  /** What was once added in this way. */
  readonly example: string;
  readonly most: number;
  readonly files: readonly string[];
}

const STORIES: readonly Story[] = [
  ...PAGE.matchAll(/^### (.+): `(.+)`\n\nAt most (\d) files.*:\n\n((?:- `.*\n(?: {2}.*\n)*)+)/gm),
].map(([, title = '', example = '', most, list = '']) => ({
  title,
  example,
  most: Number(most),
  files: [...list.matchAll(/^- `([^`]+)`/gm)].map(([, path = '']) => path),
}));

/** How many files each change may touch. */
const BOUNDS: Readonly<Record<string, number>> = {
  'A check with a new probe and its defect': 3,
  'A config key': 3,
  'A credential scheme': 5,
  'A provider kind': 3,
  'A quota dialect': 3,
  'A report format': 2,
};

/** Everything that is written by hand and runs. */
const SOURCES = ['harness', 'suites'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((path) => `${folder}/${path}`)
    .filter((path) => /\.(?:ts|js)$/.test(path) && !/\.test\.ts$|\/fixtures\//.test(path)),
);

describe('the stories of CONTRIBUTING.md', () => {
  it('are all there, each within its bound', () => {
    expect(Object.fromEntries(STORIES.map(({ title, most }) => [title, most]))).toEqual(BOUNDS);
    for (const { title, most, files } of STORIES) {
      expect(files.length, title).toBeGreaterThan(0);
      expect(files.length, title).toBeLessThanOrEqual(most);
    }
  });

  it.each(STORIES)('$title: the files of $example are there, and no other names it', ({ example, files }) => {
    expect(files.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
    // Names may be made of it: `openai-quota-fields`, and `runMs`, as the duration `timeouts.run` is loaded.
    const names = [example, `${example.split('.').at(-1)}Ms`].map((name) => name.replace('.', '\\.'));
    const named = new RegExp(`(?<![\\w-])(?:${names.join('|')})(?![a-z])`);
    const naming = SOURCES.filter((path) => named.test(read(path)));
    expect(naming.toSorted()).toEqual(files.toSorted());
  });
});

describe('CONTRIBUTING.md', () => {
  it('shows a check as it stands in its suite', () => {
    const [, shown = ''] = /```ts\n(.*?)```/s.exec(PAGE) ?? [];
    const plain = (text: string) => text.replaceAll(/\s+/g, ' ').trim();
    const suites = SOURCES.filter((path) => path.startsWith('suites/')).map((path) => plain(read(path)));
    expect(suites.filter((text) => text.includes(plain(shown)))).toHaveLength(1);
  });

  it('says in which files the seven concepts are', () => {
    const concepts = [...PAGE.matchAll(/^\| ([a-z]+) \| .* \| (.*) \|$/gm)];
    const [contract = -1, defect = -1] = ['contract', 'defect'].map((word) =>
      concepts.findIndex(([, name]) => name === word),
    );
    expect(defect - contract).toBe(6);
    for (const [, name, places = ''] of concepts.slice(contract, defect + 1)) {
      const paths = [...places.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path);
      expect(paths.length, name).toBeGreaterThan(0);
      for (const path of paths) expect(globSync(path, { cwd: ROOT }), path).not.toEqual([]);
    }
  });

  it('names every room', () => {
    const rooms = readdirSync(join(ROOT, 'harness'), { withFileTypes: true }).filter((each) =>
      each.isDirectory(),
    );
    expect(rooms.map(({ name }) => name).filter((name) => !PAGE.includes(`| \`harness/${name}\` |`))).toEqual(
      [],
    );
  });
});

/** Small files with one importer that have a reason. */
const LAWFUL = [
  // One member of a kind a file: schemes, kinds of providers, dialects, formats, commands.
  /^harness\/config\/provider\/|\/dialects\/|^harness\/report\/formats\/|^harness\/cli\/commands\//,
  // Rules do not send: lint keeps their stimuli in files of their own.
  /^suites\/\w+\/stimuli\//,
  // A table of variants for each part of a service.
  /^harness\/reference\/variants\//,
  // A suite is loaded by its name.
  /\.suite\.ts$/,
  // The build of the package replaces it by code that is compiled ahead.
  /\/latest-schema\.ts$/,
];

/** Files still to be merged into their importer. The list only shrinks. */
const TO_BE_MERGED: ReadonlySet<string> = new Set([
  'harness/proof/messages.ts',
  'harness/reference/defects/auth/signature.ts',
]);

it('no small file serves only one other: it is a part of that', () => {
  const sources = SOURCES.filter((path) => path.endsWith('.ts') && !path.startsWith('suites/tests/'));
  const importers = new Map<string, string[]>();
  for (const path of sources) {
    const named = [...read(path).matchAll(/(?:from|import\()\s*'(\.[^']*\.ts)'/g)];
    for (const imported of new Set(named.map(([, name = '']) => join(dirname(path), name))))
      importers.set(imported, [...(importers.get(imported) ?? []), path]);
  }
  const small = sources.filter(
    (path) => read(path).split('\n').length <= 60 && importers.get(path)?.length === 1,
  );
  expect(small.filter((path) => !LAWFUL.some((kind) => kind.test(path)) && !TO_BE_MERGED.has(path))).toEqual(
    [],
  );
});

it.each(['README.md', 'CONTRIBUTING.md'])('%s names only scripts that there are', (page) => {
  const { scripts } = JSON.parse(read('package.json'));
  const named = [...read(page).matchAll(/`npm run ([a-z:]+)/g)];
  expect(named.length).toBeGreaterThan(0);
  for (const [, name = ''] of named) expect(scripts).toHaveProperty([name]);
});
