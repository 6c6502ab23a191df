import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { ServiceConfig } from '../../harness/config/service.ts';
import { documenting } from '../../harness/proof/setting.ts';
import { configFor, holdsKey, judgedServed, saidOf } from '../tests/fixtures/judged.ts';
import { status as suite } from './status.suite.ts';

interface Answer {
  readonly status?: number;
  readonly fields?: Readonly<Record<string, string>>;
  readonly body?: string;
}

type Service = (request: IncomingMessage, at: number) => Answer;

const FOUND: Answer = { body: '{"resources":[1,2]}' };
const LOST: Answer = { status: 404, body: '{"error":"not found"}' };

const isKnown = ({ url }: IncomingMessage) => url === '/v1/resources';
const orderly: Service = (request) => {
  if (!isKnown(request)) return LOST;
  return ['GET', 'HEAD'].includes(request.method ?? '') ? FOUND : NOT_ALLOWED;
};
const NOT_ALLOWED: Answer = { status: 405, fields: { Allow: 'GET, HEAD' }, body: '{"error":"method"}' };

/** What a check says of a service without credentials, which may be sent any method. */
async function saidOn(id: string, service: Service, change: Partial<ServiceConfig> = {}): Promise<string> {
  const config = await configFor(undefined, true);
  let at = 0;
  const all = await judgedServed(
    (request, response) => {
      at += 1;
      const { status = 200, fields, body = '' } = service(request, at);
      response.writeHead(status, { 'Content-Type': 'application/json', ...fields }).end(body);
    },
    { ...config, safety: { ...config.safety, unsafeMethods: true }, ...change },
    [{ ...suite, checks: suite.checks.filter((each) => each.id === id) }],
  );
  return saidOf(all, id);
}

const to =
  (method: string, answer: Answer): Service =>
  (request, at) =>
    request.method === method && isKnown(request) ? answer : orderly(request, at);

describe('an answer to another client', () => {
  const isMarked = ({ headers }: IncomingMessage) => String(headers['user-agent']).startsWith('conform');
  const saidBy = async (others: Answer, own: (at: number) => Answer = () => FOUND) =>
    saidOn('status.unmarked', (request, at) => {
      if (request.method !== 'GET' || !isKnown(request)) return orderly(request, at);
      return isMarked(request) ? own(at) : others;
    });
  const OTHER_SHAPE = '{"welcome":"to the shop"}';
  const text = { 'Content-Type': 'text/plain' };

  it.each<[string, Answer, RegExp]>([
    ['the same', FOUND, /^pass/],
    ['a refusal', { ...FOUND, status: 403 }, /^skipped: another client is refused/],
    ['another status', { ...FOUND, status: 201 }, /^warning: .*got status 201/],
    ['another media type', { ...FOUND, fields: text }, /^warning: .*got text\/plain/],
    ['another shape', { body: OTHER_SHAPE }, /^warning: .*got content of another shape/],
    ['another shape, with a reason', { body: OTHER_SHAPE, fields: { Vary: 'User-Agent' } }, /^pass/],
    ['another shape, with any reason', { body: OTHER_SHAPE, fields: { Vary: '*' } }, /^pass/],
    ['another shape, with no reason', { body: OTHER_SHAPE, fields: { Vary: 'Accept' } }, /^warning/],
    ['a failure', { ...FOUND, status: 500, fields: { Vary: '*' } }, /^warning: .*got status 500/],
  ])('may be: %s', async (_, others, said) => {
    expect(await saidBy(others)).toMatch(said);
  });

  it('may have another shape where the documented answer says so', async () => {
    const varied = { ...FOUND, fields: { Vary: 'User-Agent' } };
    expect(await saidBy({ body: OTHER_SHAPE }, () => varied)).toBe('pass: ');
  });

  it('is not compared with a shape that changes', async () => {
    expect(await saidBy({ body: OTHER_SHAPE }, (at) => ({ body: `{"n${at}":1}` }))).toBe('pass: ');
  });

  it('is a refusal without the credential where this one is refused', async () => {
    const guarded =
      (isOpen: (request: IncomingMessage) => boolean): Service =>
      (request, at) =>
        holdsKey(request.headers.authorization) || isOpen(request)
          ? orderly(request, at)
          : { status: 401, fields: { 'WWW-Authenticate': 'Bearer' }, body: '{}' };
    const { credentials } = await configFor();
    const outcomeOf = async (isOpen: (request: IncomingMessage) => boolean) =>
      (await saidOn('status.unmarked', guarded(isOpen), { credentials })).split(':')[0];
    expect(await outcomeOf(() => false)).toBe('pass');
    expect(await outcomeOf((request) => !isMarked(request))).toBe('warning');
    expect(await outcomeOf(() => true)).toBe('pass');
  });
});

describe('a method that is not offered', () => {
  const propfind = async (answer: Answer, allow: string | null = 'GET, HEAD') =>
    saidOn('status.unserved-method', (request, at) => {
      if (!isKnown(request)) return LOST;
      if (request.method === 'PROPFIND') return answer;
      if (request.method !== 'OPTIONS') return orderly(request, at);
      return { status: 204, ...(allow !== null && { fields: { Allow: allow } }) };
    });

  it.each<[Answer, string | null, RegExp]>([
    [NOT_ALLOWED, 'GET', /^pass/],
    [{ status: 501 }, 'GET', /^pass/],
    [{ status: 500 }, 'GET', /got status 500/],
    [FOUND, 'GET', /got status 200/],
    [FOUND, 'GET, PROPFIND', /^skipped: PROPFIND is served here/],
    [FOUND, null, /^skipped: PROPFIND is served here/],
    [{ status: 500 }, null, /got status 500/],
  ])('is refused: %j with Allow %s', async (answer, allow, said) => {
    expect(await propfind(answer, allow)).toMatch(said);
  });

  const LONG: Answer = { body: `[${'1,'.repeat(3_000_000)}1]` };
  it.each<[string, string, Answer, RegExp]>([
    ['POST', 'status.post-like-get', FOUND, /got status 200/],
    ['POST', 'status.post-like-get', { ...FOUND, status: 404 }, /^pass/],
    ['POST', 'status.post-like-get', { body: '{"stored":true}' }, /^pass/],
    ['POST', 'status.post-like-get', LONG, /^blocked/],
    ['POST', 'status.post-like-get', { ...LONG, status: 404 }, /^pass/],
    ['PUT', 'status.change-like-get', FOUND, /got status 200/],
    ['PUT', 'status.change-like-get', { ...FOUND, status: 404 }, /^pass/],
    ['PUT', 'status.change-like-get', LONG, /^blocked/],
    ['PUT', 'status.change-like-get', { ...LONG, status: 404 }, /^pass/],
  ])('does not get the answer of GET: %s, %s', async (method, id, answer, wanted) => {
    expect(await saidOn(id, to(method, answer))).toMatch(wanted);
  });

  it.each(['POST', 'PUT'])(
    'is not compared with an answer that is too long to be read: %s',
    async (method) => {
      const id = method === 'POST' ? 'status.post-like-get' : 'status.change-like-get';
      const answered = await saidOn(id, (request, at) => {
        if (!isKnown(request)) return LOST;
        if (request.method === 'GET') return LONG;
        return request.method === method ? FOUND : orderly(request, at);
      });
      expect(answered).toMatch(/^blocked/);
    },
  );

  it.each(['status.post-like-get', 'status.change-like-get', 'status.unserved-method'])(
    '%s sends nothing unless that is allowed',
    async (id) => {
      const { safety } = await configFor();
      const sent = await saidOn(id, orderly, { safety: { ...safety, unsafeMethods: false } });
      expect(sent).toMatch(/^skipped/);
    },
  );

  it.each<[string, number, string]>([
    ['GET, HEAD, TRACE', 405, 'warning'],
    ['GET, HEAD, TRACE', 501, 'warning'],
    ['GET, HEAD, TRACE', 400, 'pass'],
    ['GET, HEAD', 405, 'skipped'],
  ])('is none that OPTIONS names: %s with %d', async (allow, status, outcome) => {
    const named = await saidOn('status.allow-kept', (request, at) => {
      if (!isKnown(request)) return LOST;
      if (request.method === 'OPTIONS') return { status: 204, fields: { Allow: allow } };
      return request.method === 'TRACE' ? { status, body: '{}' } : orderly(request, at);
    });
    expect(named.split(':')[0]).toBe(outcome);
  });
});

describe('a path that does not exist', () => {
  const saidBy = async (statuses: readonly number[], change: Partial<ServiceConfig> = {}) => {
    let at = 0;
    const service: Service = (request, count) => {
      if (isKnown(request) || request.method !== 'GET') return orderly(request, count);
      const status = statuses[Math.min(at, statuses.length - 1)] ?? 404;
      at += 1;
      return status === 304
        ? { status }
        : { status, body: status === 200 ? '{"resources":[]}' : '{"error":"lost"}' };
    };
    return saidOn('status.unknown-path', service, change);
  };

  it.each<[readonly number[], RegExp]>([
    [[404], /^pass/],
    [[404, 200], /^pass/],
    [[200, 404], /^pass/],
    [[200], /got status 200/],
    [[304], /got status 304/],
    [[403], /^pass/],
    [[404, 500], /got status 500/],
  ])('gets %j', async (statuses, said) => {
    expect(await saidBy(statuses)).toMatch(said);
  });

  it.each<[readonly number[], RegExp]>([
    [[404], /^pass/],
    [[410, 403], /^pass/],
    [[403, 404], /^pass/],
    [[403], /expected status 404 or 410 at one depth at least, got status 403/],
  ])('gets %j where a status is documented', async (statuses, said) => {
    const { facts } = documenting('errors.codes', { unknownPath: [404, 410] })(await configFor());
    expect(await saidBy(statuses, { facts })).toMatch(said);
  });
});

it('Allow is read where it is sent', async () => {
  const plain: Service = (request) => (isKnown(request) ? FOUND : LOST);
  expect(await saidOn('status.allow-form', plain)).toBe('skipped: no response has Allow');
  const allowing: Service = () => ({ ...FOUND, fields: { Allow: 'GET, HEAD' } });
  expect(await saidOn('status.allow-form', allowing)).toBe('pass: ');
});

describe('HEAD', () => {
  const fields = { ETag: '"a"', 'Cache-Control': 'no-store' };
  const saidBy = async (head: Answer, get: (at: number) => Answer = () => ({ ...FOUND, fields })) =>
    saidOn('status.head-equals-get', (request, at) => {
      if (!isKnown(request) || request.method === 'OPTIONS') return orderly(request, at);
      return request.method === 'HEAD' ? head : request.method === 'GET' ? get(at) : NOT_ALLOWED;
    });
  const sized = (length: number) => ({ fields: { ...fields, 'Content-Length': String(length) } });

  it.each<[string, Answer, RegExp]>([
    ['the same fields', { fields }, /^pass/],
    ['the same length', sized(19), /^pass/],
    ['another length', sized(20), /got Content-Length 20 where GET has 19 octets/],
    ['no directive', { fields: { ETag: '"a"' } }, /got Cache-Control absent where GET has no-store/],
    ['two other fields', { fields: { 'Content-Type': 'text/html' } }, /got Content-Type text\/html where/],
    ['a refusal', NOT_ALLOWED, /^skipped: HEAD is not served/],
  ])('may have: %s', async (_, head, said) => {
    expect(await saidBy(head)).toMatch(said);
  });

  it('may have a field more than GET, which is named', async () => {
    expect(await saidBy({ fields }, () => FOUND)).toMatch(/got .* where GET has none/);
  });

  it('has another length where the content changes', async () => {
    const get = (at: number) => ({ body: `{"at":"${'x'.repeat(at)}"}`, fields });
    expect(await saidBy(sized(5), get)).toBe('pass: ');
  });

  it('is compared with content that is read', async () => {
    const long = () => ({ body: `[${'1,'.repeat(3_000_000)}1]`, fields });
    expect(await saidBy(sized(5), long)).toMatch(/^blocked/);
    expect(await saidBy({ fields }, long)).toBe('pass: ');
  });
});
