import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../base/fixtures/folder.ts';
import { provenFile } from '../../config/own/own-checks-block.ts';
import { readResults } from '../../report/results/read-results.ts';
import { conformHere, saying } from '../fixtures/in-process.ts';

/** Checks of a user's own, from the module to the verdict. The example of docs/own-checks.md is one of them. */

const PAGE = readFileSync(fileURLToPath(new URL('../../../docs/own-checks.md', import.meta.url)), 'utf8');
const [, EXAMPLE = ''] = /```ts\n(.*?)```/s.exec(PAGE) ?? [];

function configWith(module: string, name = 'house.ts'): string {
  return temporaryFolder({
    'services/search.yaml': `service: search
contract: search
provider: { reference: search }
credentials: { scheme: bearer, key: example-search-key-not-secret }
checks: [../${name}]
`,
    [name]: module,
  });
}

/** A list of one check with these members. */
const withCheck = (members: string) => `import { check } from 'conform-api/check';
export default [
  check('house.rule', { title: 'keeps it', why: 'It matters.', change: 'Keep it.', ${members} }),
];
`;

async function run(config: string, ...options: readonly string[]) {
  const reports = join(temporaryFolder(), 'reports');
  const selection = options.length > 0 ? options : ['--suite', 'house'];
  const said = await conformHere(['run', '--config', config, '--reports', reports, ...selection]);
  const [service] = readResults(join(reports, 'selection/results.json')).services;
  return { ...said, reports, checks: service?.checks ?? [], notLookedAt: service?.notLookedAt ?? [] };
}

describe('the example of the page', () => {
  it('is observed until it is proven, and fails from then on', async () => {
    const config = configWith(EXAMPLE);
    const before = await run(config);
    const outcomesOf = ({ checks }: Pick<typeof before, 'checks'>) =>
      checks.map(({ id, outcome }) => `${id} ${outcome}`);
    expect(outcomesOf(before)).toEqual(['house.trace-id observed', 'house.health observed']);
    expect(before.notLookedAt).toContainEqual({
      what: 'your checks',
      why: 'not proven, so they are only observed',
      turnOn: 'conform prove',
      checks: 2,
    });
    const proof = await conformHere(['prove', '--config', config]);
    const [, shown = ''] = /```console\n\$ conform prove\n(.*?)```/s.exec(PAGE) ?? [];
    expect(saying(proof).replaceAll(provenFile(config), provenFile('conform.yaml'))).toBe(`0: ${shown}`);
    const after = await run(config);
    expect(after.code).toBe(1);
    expect(outcomesOf(after)).toEqual(['house.trace-id fail', 'house.health warning']);
    const [failed] = after.checks;
    expect(failed).toMatchObject({
      suite: 'house',
      level: 'MUST',
      grounds: [{ kind: 'own', ref: 'https://wiki.example/api-rules#trace-id', standing: 'MUST' }],
      finding: { got: [{ text: 'no X-Trace-Id' }] },
    });
    expect(readFileSync(join(after.reports, 'selection/junit.xml'), 'utf8')).toContain('house.trace-id');
  });

  it('is listed, explained, judged again and kept as known', async () => {
    const config = configWith(EXAMPLE);
    await conformHere(['prove', '--config', config]);
    const { reports } = await run(config);
    const list = await conformHere(['list', '--service', 'search', '--config', config]);
    expect(list.stdout).toMatch(/house\.health +SHOULD +answers GET \/health without a credential/);
    const explained = await conformHere(['explain', 'house.health', '--config', config]);
    expect(explained.stdout).toContain('health-needs-key, in ');
    const evidence = join(reports, 'selection');
    const into = join(temporaryFolder(), 'judged');
    const judged = await conformHere(['judge', evidence, '--config', config, '--reports', into]);
    expect(judged.code).toBe(1);
    const [again] = readResults(join(into, 'selection/results.json')).services;
    expect(again?.checks.map(({ outcome }) => outcome)).toEqual(['fail', 'warning']);
    const known = ['known', 'add', 'search', '--check', 'house.trace-id', '--config', config];
    const results = join(evidence, 'results.json');
    const added = await conformHere([
      ...known,
      ...['--results', results, '--reason', 'later', '--owner', 'me', '--until', '2099-01-01'],
    ]);
    expect(saying(added)).toMatch(/^0: /);
    expect((await run(config)).checks[0]?.outcome).toBe('known');
  });

  it('is observed again after a change of the module', async () => {
    const config = configWith(EXAMPLE);
    await conformHere(['prove', '--config', config]);
    writeFileSync(join(config, 'house.ts'), EXAMPLE.replace("'no X-Trace-Id'", "'none'"));
    const { checks } = await run(config);
    expect(checks.map(({ outcome }) => outcome)).toEqual(['observed', 'observed']);
  });
});

describe('a proof', () => {
  it.each([
    [withCheck('judge: () => null'), 'it has no proof'],
    [
      withCheck(
        'judge: () => null, proof: { conforming: () => ({ status: 200 }), defects: { gone: (r) => r } }',
      ),
      'it does not fail for gone',
    ],
    [
      withCheck(
        "judge: () => 'bad', proof: { conforming: () => ({ status: 200 }), defects: { gone: (r) => r } }",
      ),
      'it fails without a defect: bad',
    ],
    [
      withCheck(
        'where: () => false, judge: () => null, proof: { conforming: () => ({ status: 200 }), defects: { gone: (r) => r } }',
      ),
      'it judges no answer of its proof',
    ],
  ])('is refused if it shows nothing', async (module, gap) => {
    const { code, stdout } = await conformHere(['prove', '--config', configWith(module)]);
    expect(code).toBe(1);
    expect(stdout).toContain(`✕ house.rule: ${gap}\n0 of 1 proven`);
  });
});

describe('the conditions of a proven check', () => {
  const rule = (proof: string) =>
    withCheck(`
  where: ({ status }) => status < 500,
  judge: ({ status, headers }) => {
    if (status === 204) return null;
    return 'x-id' in headers || headers.via === 'cache' ? null : 'no X-Id';
  },
  proof: {
    conforming: ({ path }) => path === '/gone'
      ? { status: 204 }
      : { status: 200, headers: { 'X-Id': '1' } },
    ${proof}
  },`);

  it('are named with their line if the proof does not reach them', async () => {
    const config = configWith(rule('defects: { without: () => ({ status: 200 }) }'));
    const { code, stdout } = await conformHere(['prove', '--config', config]);
    expect(code).toBe(0);
    expect(stdout).toContain(`✓ house.rule: fails for without, and passes without
    \`where\` leaves out no answer of the proof
    no answer of the proof reaches \`return null;\` (house.ts:6)
1 of 1 proven`);
  });

  it('are not named if it reaches them', async () => {
    const config = configWith(
      rule(`
    requests: [{ path: '/' }, { path: '/gone' }, { path: '/down' }],
    defects: { without: (_, { path }) => ({ status: path === '/down' ? 500 : 200 }) },`),
    );
    const { stdout } = await conformHere(['prove', '--config', config]);
    expect(stdout).toMatch(/^✓ house\.rule: fails for without, and passes without\n1 of 1 proven/);
  });

  it('are not those of the proof itself, nor of other checks', async () => {
    const config = configWith(EXAMPLE);
    const { stdout } = await conformHere(['prove', '--config', config]);
    expect(stdout.split('\n').filter((line) => line.startsWith(' '))).toEqual([]);
  });
});

describe('code that is at fault', () => {
  it.each([
    ['judge: () => { for (;;); }', 'judge took more than 2 s (house.ts)'],
    [
      'judge: () => null.nothing',
      "judge threw Cannot read properties of null (reading 'nothing') (house.ts:3",
    ],
    ['judge: async () => null', 'judge returned a promise, no text and no null (house.ts)'],
    ['where: () => { throw new Error("oh"); }, judge: () => null', 'where threw oh (house.ts:3'],
  ])('blocks its check by name: %s', async (members, problem) => {
    const { code, checks } = await run(configWith(withCheck(members)));
    expect([code, checks.map(({ outcome }) => outcome)]).toEqual([3, ['blocked']]);
    expect(checks[0]?.message).toContain(`the code of house.rule is at fault: ${problem}`);
  });

  it.each([
    ['const a = 1;\nconst b = ;\n', 'house.ts:2: does not load: Expression expected'],
    ['const a = 1;\n\nnull.nothing;\n', 'house.ts:3:6: does not load: Cannot read properties of null'],
    ["import './gone.ts';\n", 'gone.ts'],
    ['enum Kind { A }\nexport default [];\n', 'house.ts:1: does not load: TypeScript enum is not supported'],
    ['export default [];\n', 'house.ts: it has 0 checks'],
    ['export default 1;\n', 'house.ts: its default export is no list of checks'],
    [withCheck(''), 'house.ts:3: house.rule has no function judge'],
    [withCheck('judge: () => null, level: "info"'), 'house.ts:3: house.rule: the level is "info"'],
    [withCheck('judge: () => null, sends: [{}]'), 'house.ts:3: house.rule: sends is no list of requests'],
    [
      withCheck('judge: () => null').replace('house.rule', 'auth.rule'),
      'house.ts:3: auth.rule: the suite auth ships with conform',
    ],
  ])('is an error of the config if the module cannot be used: %j', async (module, problem) => {
    const config = configWith(module);
    const { code, stdout, stderr } = await conformHere([
      'run',
      '--config',
      config,
      '--reports',
      join(config, 'r'),
    ]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr.replaceAll(`${config}/`, '')).toContain(problem);
    expect(stderr).toContain('remedy: ');
  });

  it('names the line of a JavaScript module', async () => {
    const config = configWith('const a = 1;\nconst b = ;\n', 'house.js');
    writeFileSync(join(config, 'package.json'), '{"type":"module"}');
    const { code, stderr } = await conformHere(['list', '--service', 'search', '--config', config]);
    expect([code, stderr.replaceAll(`${config}/`, '')]).toEqual([
      2,
      "conform: house.js:2: does not load: Unexpected token ';'\n  remedy: correct the syntax there\n",
    ]);
  });

  it('sends no changing request unless that is allowed', async () => {
    const sends = "sends: [{ method: 'POST', path: '/x', body: {} }], judge: () => null";
    const config = configWith(withCheck(sends));
    const file = join(config, 'services/search.yaml');
    writeFileSync(file, `${readFileSync(file, 'utf8')}safety: { unsafeMethods: false }\n`);
    const { checks } = await run(config);
    expect(checks[0]).toMatchObject({ outcome: 'skipped' });
    expect(checks[0]?.message).toContain('unsafe methods may not be sent here');
  });
});
