import { describe, expect, it } from 'vitest';
import type { ResolvedGround } from '../../base/authority.ts';
import { temporaryFolder } from '../../base/fixtures/folder.ts';
import { conform } from '../../engine/fixtures/conform-process.ts';
import { conformingService, diagnosedResults, resultsOf } from '../../report/fixtures/sample-results.ts';
import { annotationsOf } from './annotations.ts';

const folder = temporaryFolder({
  'conformance/contracts/search.yaml':
    'contract: search\nclauses:\n  - key: errors.format\n  - key: auth.scheme\n',
});
const setting = { configDir: `${folder}/conformance`, repository: folder };

/** One service with so many failures, each without a cause, that rest on this. */
function failing(n: number, ground: Partial<ResolvedGround> = {}, text = 'A wrong key is answered 200') {
  const service = conformingService('search');
  const [first] = service.checks;
  if (first === undefined) throw new Error('the sample has no checks');
  const grounds = [
    { kind: 'clause', ref: 'auth.scheme', standing: 'stated', place: 'x.md, row 1', ...ground } as const,
  ];
  const checks = Array.from({ length: n }, (_, index) => ({
    ...first,
    id: `auth.number-${index}`,
    grounds,
    outcome: 'fail' as const,
    headline: text,
  }));
  const unexplained = checks.map(({ id }) => ({ service: 'search', check: id }));
  return { ...resultsOf([{ ...service, checks }]), causes: [], unexplained };
}

describe('annotations of a run', () => {
  it('are one for each cause, at the clause of the contract', async () => {
    const [first, ...rest] = await annotationsOf(diagnosedResults(), setting);
    expect(first).toEqual({
      level: 'error',
      title: 'A request without a credential is answered 200',
      message: 'search: auth.missing-credential, limits.retry-after',
      file: 'conformance/contracts/search.yaml',
      line: 4,
    });
    expect(rest.map(({ level }) => level)).toEqual(['error', 'error', 'warning']);
  });

  it('say whose fault it is', async () => {
    const results = failing(1);
    const [service = conformingService('search')] = results.services;
    const checks = service.checks.map((check) => ({
      ...check,
      finding: { subject: 'search', expected: null, got: [], evidence: null, fault: 'config' as const },
    }));
    const [annotation] = await annotationsOf({ ...results, services: [{ ...service, checks }] }, setting);
    expect(annotation?.message).toContain("search: auth.number-0. Fault of conform's config");
  });

  it.each([
    [
      'the config that settles it',
      { standing: 'config', place: `${folder}/conformance/services/search.yaml:15:11` },
      15,
    ],
    ['the head of the config where no clause says it', { kind: 'standard', ref: 'RFC 9110 §15.5.2' }, 1],
  ] as const)('stand at %s', async (_, ground, line) => {
    const [first] = await annotationsOf(failing(1, ground), setting);
    expect(first).toMatchObject({ file: 'conformance/services/search.yaml', line });
  });

  it('stand at the operation of the document', async () => {
    const results = failing(1);
    const ground = {
      ref: 'endpoint.other-operations',
      place: `${folder}/api/openapi.json:42:7, other.yaml:1`,
    };
    const finding = { subject: 'GET /a', expected: 'x', got: [], evidence: null, ground };
    const services = results.services.map((each) => ({
      ...each,
      checks: each.checks.map((check) => ({ ...check, finding })),
    }));
    const [first] = await annotationsOf({ ...results, services }, setting);
    expect(first).toMatchObject({ file: 'api/openapi.json', line: 42 });
  });

  it('are no more than are shown, and say how many more there are', async () => {
    const all = await annotationsOf(failing(30), setting);
    expect(all).toHaveLength(10);
    expect(all.at(-1)?.message).toMatch(/\(and 20 more: see the report\)$/);
  });

  it('are short, whatever a provider says', async () => {
    const [first] = await annotationsOf(
      failing(1, {}, `got ${'k'.repeat(9_216)}\u001b[2J\n::error::x`),
      setting,
    );
    expect(first?.title.length).toBeLessThanOrEqual(250);
    expect(first?.title).toContain('…9,216 characters…');
    expect(first?.title).not.toMatch(/[\p{Cc}]/u);
  });

  it('tell what else makes a run red, and nothing of one that conforms', async () => {
    expect(await annotationsOf(resultsOf([conformingService('search')]), setting)).toEqual([]);
    const stopped = { ...conformingService('search'), trouble: 'connection refused', checks: [] };
    expect(await annotationsOf(resultsOf([stopped]), setting)).toEqual([
      expect.objectContaining({ level: 'error', message: expect.stringContaining('connection refused') }),
    ]);
  });

  it('come after the verdict of a run under GitHub Actions, past the guard of its output', async () => {
    const yaml = `service: search
contract: search
provider: { reference: search, defects: [accepts-missing-key] }
credentials: { scheme: bearer, key: "\${env:SEARCH_API_KEY}" }
`;
    const repository = temporaryFolder({ 'conformance/services/search.yaml': yaml });
    const args = ['run', 'search', '--check', 'auth.missing-credential', '--quiet'];
    const there = { GITHUB_ACTIONS: 'true', GITHUB_WORKSPACE: repository };
    const { code, stdout } = await conform(args, there, repository).ended;
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /\n::error file=conformance\/services\/search\.yaml,line=\d,title=A [^:]*::search: auth\.missing-credential[^\n]*\n$/,
    );
    expect((await conform(args, {}, repository).ended).stdout).not.toContain('::');
  });
});
