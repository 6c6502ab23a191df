import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { visible } from '../../wire/octets/utf8.ts';
import { runs } from '../fixtures/processes.ts';
import { interaction } from './fixtures/interactions.ts';
import { PactFailure } from './pact-process.ts';
import type { RelayedRequest, RelayedResponse, RelayHandlers } from './relay.ts';
import { openVerifier, type PactVerdict, type PactVerifier, type VerificationOrder } from './verifier.ts';

const verifiers: PactVerifier[] = [];

function opened(...options: Parameters<typeof openVerifier>): PactVerifier {
  const verifier = openVerifier(...options);
  verifiers.push(verifier);
  return verifier;
}

afterEach(async () => {
  await Promise.all(verifiers.splice(0).map((verifier) => verifier.close()));
});

function json(content: unknown, status = 200): RelayedResponse {
  return {
    status,
    fields: [['Content-Type', 'application/json']],
    body: Buffer.from(typeof content === 'string' ? content : JSON.stringify(content)),
  };
}

const unasked = async (): Promise<RelayedResponse> => json({}, 500);

/** What Pact says of an interaction whose handlers are these, by default with a provider that fits. */
function verified(
  handlers: Partial<RelayHandlers>,
  change: Partial<VerificationOrder> = {},
  verifier = opened(),
): Promise<PactVerdict> {
  return verifier.verify({
    interaction: interaction(),
    provider: 'search',
    handlers: { request: async () => json({ id: 1 }), state: unasked, message: unasked, ...handlers },
    setsStates: false,
    signal: new AbortController().signal,
    ...change,
  });
}

const pactOf = (interactions: string) =>
  `{"consumer":{"name":"a"},"provider":{"name":"search"},"interactions":[${interactions}]}`;

describe('an interaction', () => {
  it('is told mismatch by mismatch, in words of Pact on one line each', async () => {
    const verdict = await verified({
      request: async () => ({ ...json({ id: 'x\ny' }, 404), fields: [['Content-Type', 'text/html']] }),
    });
    if (verdict.kind !== 'mismatched') throw new Error(verdict.kind);
    expect(verdict.mismatches).toEqual(
      expect.arrayContaining(['status: expected 200 but was 404', expect.stringContaining("'Content-Type'")]),
    );
    for (const line of verdict.mismatches) expect(line).toBe(visible(line));
  });

  it('is compared by its headers as lists, and its mismatch says so', async () => {
    const answering = (tags: readonly string[]) =>
      verified(
        {
          request: async () => ({
            ...json({ id: 1 }),
            fields: [
              ['Content-Type', 'application/json'] as const,
              ...tags.map((tag) => ['X-Tags', tag] as const),
            ],
          }),
        },
        {
          interaction: interaction({
            response: { headers: { 'Content-Type': ['application/json'], 'X-Tags': ['a', 'b'] } },
          }),
        },
      );
    expect(await answering(['a', 'b'])).toEqual({ kind: 'verified' });
    for (const tags of [['a, b'], ['a']]) {
      const verdict = await answering(tags);
      if (verdict.kind !== 'mismatched') throw new Error(verdict.kind);
      for (const line of verdict.mismatches)
        expect(line).toMatch(
          /'X-Tags': .* at index \d.* \(Pact compares this header as a list, line by line\)$/,
        );
    }
  });

  it('is asked for once, as it is written, with nothing that Pact adds of its own', async () => {
    const seen: RelayedRequest[] = [];
    await verified(
      {
        request: async (request) => {
          seen.push(request);
          return json({ id: 1 });
        },
      },
      {
        interaction: interaction({
          request: {
            method: 'POST',
            path: '/v1/a b/%2F',
            query: { q: ['x y', 'é'], n: ['1'] },
            headers: {
              'X-Two': ['1', '2'],
              'User-Agent': ['web-shop/1'],
              'Content-Type': ['application/json'],
            },
            body: { contentType: 'application/json', encoded: false, content: { rate: 1 } },
          },
        }),
      },
    );
    expect(seen).toHaveLength(1);
    const [request] = seen;
    expect(request?.method).toBe('POST');
    expect(request?.target).toMatch(/^\/v1\/a%20b\/.+\?/);
    expect(request?.target).toMatch(/q=x(\+|%20)y/);
    expect(String(request?.body)).toBe('{"rate":1}');
    const names = request?.fields.map(([name]) => name.toLowerCase());
    expect(names).toEqual(expect.arrayContaining(['x-two', 'user-agent', 'content-type']));
    for (const added of ['host', 'content-length', 'accept-encoding', 'connection'])
      expect(names).not.toContain(added);
    expect(request?.fields).toContainEqual(['user-agent', 'web-shop/1']);
  });

  it('is not verified by the answer of another address', async () => {
    const asked: string[] = [];
    const verdict = await verified({
      request: async ({ target }) => {
        asked.push(target);
        return {
          ...json({ id: 1 }, 302),
          fields: [
            ['Location', '/elsewhere'],
            ['Content-Type', 'application/json'],
          ],
        };
      },
    });
    expect(asked).toEqual(['/v1/resources']);
    expect(verdict).toEqual({ kind: 'mismatched', mismatches: ['status: expected 200 but was 302'] });
  });

  it('is never verified by a wrong answer, however that is labelled', async () => {
    const verifier = opened();
    const wrong = json({ id: 'no number' });
    const { body } = wrong;
    const type = (value: string): RelayedResponse['fields'] => [['Content-Type', value]];
    const coded = (coding: string, content: Uint8Array = body): RelayedResponse => ({
      ...wrong,
      fields: [...wrong.fields, ['Content-Encoding', coding]],
      body: content,
    });
    const answers: Readonly<Record<string, RelayedResponse>> = {
      plainly: wrong,
      'as octets': { ...wrong, fields: type('application/octet-stream') },
      'as text': { ...wrong, fields: type('text/plain') },
      'with a malformed media type': { ...wrong, fields: type('json') },
      'without a media type': { ...wrong, fields: [] },
      'in an unknown coding': coded('x-own'),
      'in gzip': coded('gzip', gzipSync(body)),
      'in another coding than it says': coded('br'),
      'cut off in its coding': coded('gzip', gzipSync(body).subarray(0, 12)),
      'as a part': { ...wrong, status: 206 },
      'not as JSON': { ...wrong, body: Buffer.from('{"id":1') },
      'without content': { ...wrong, body: new Uint8Array() },
    };
    const unlabelled = { interaction: interaction({ response: { headers: {} } }) };
    for (const [how, answer] of Object.entries(answers)) {
      for (const change of [{}, unlabelled]) {
        const { kind } = await verified({ request: async () => answer }, change, verifier);
        expect([how, kind]).toEqual([how, how.startsWith('cut off') ? 'undecided' : 'mismatched']);
      }
    }
  });

  it('is undecided without an answer', async () => {
    expect((await verified({ request: async () => null })).kind).toBe('undecided');
  });

  it('is undecided when the pact is none to Pact, and names no address of ours', async () => {
    const verdict = await verified({}, { interaction: { ...interaction(), pact: pactOf('{}') } });
    if (verdict.kind !== 'undecided') throw new Error(verdict.kind);
    expect(verdict.reason).not.toMatch(/127\.0\.0\.1|[0-9a-f]{32}/);
  });

  it('is undecided when the pact holds none, which is success to Pact', async () => {
    const verdict = await verified({}, { interaction: { ...interaction(), pact: pactOf('') } });
    expect(verdict).toEqual({ kind: 'undecided', reason: 'Pact found no interaction in the pact' });
  });

  it('is verified beside others at the same time', async () => {
    const verifier = opened();
    const verdicts = await Promise.all(
      Array.from({ length: 12 }, (_, id) =>
        verified({ request: async () => json({ id: id % 2 === 0 ? 1 : id }) }, {}, verifier),
      ),
    );
    expect(verdicts.map(({ kind }) => kind)).toEqual(
      Array.from({ length: 12 }, (_, id) => (id % 2 === 0 || id === 1 ? 'verified' : 'mismatched')),
    );
  });
});

describe('the process that runs Pact', () => {
  const child = (name: string) => new URL(`./fixtures/${name}.ts`, import.meta.url);

  it('is given nothing of the user: no arguments, no environment, no credential', async () => {
    process.env.PACT_BROKER_BASE_URL = 'https://broker.example';
    process.env.SEARCH_API_KEY = 'example-key-for-tests';
    let told = '';
    const request: RelayHandlers['request'] = async ({ body }) => {
      told = String(body);
      return json({});
    };
    try {
      await verified({ request }, {}, opened({ child: child('telling-child') }));
    } finally {
      delete process.env.PACT_BROKER_BASE_URL;
      delete process.env.SEARCH_API_KEY;
    }
    const { argv, execArgv, env, options } = JSON.parse(told);
    expect(argv).toHaveLength(2);
    expect(execArgv).toEqual([]);
    expect(env.PACT_DO_NOT_TRACK).toBe('true');
    const ofNode = /^NODE_CHANNEL_|^(PACT_DO_NOT_TRACK|SYSTEMROOT|TEMP|TMP|PWD)$/;
    expect(Object.keys(env).filter((name) => !ofNode.test(name))).toEqual([]);
    expect(options).toMatchObject({ followRedirects: false, logLevel: 'error' });
    expect(Object.keys(options)).not.toContain('customProviderHeaders');
    expect(told).not.toContain('example-key-for-tests');
  });

  it('that does nothing is ended, and does not hold up the next', async () => {
    const verifier = opened({ child: child('silent-child'), quietMs: 300 });
    await expect(verified({}, {}, verifier)).rejects.toThrow(
      new PactFailure('Pact did nothing for 0.3 s and was ended'),
    );
    await expect(verified({}, {}, verifier)).rejects.toThrow(PactFailure);
  });

  it.skipIf(!existsSync('/proc/self'))('goes when it has nothing to do, and another one comes', async () => {
    const pids: number[] = [];
    const request: RelayHandlers['request'] = async ({ body }) => {
      pids.push(JSON.parse(String(body)).pid);
      return json({});
    };
    const verifier = opened({ child: child('telling-child'), idleMs: 0 });
    await verified({ request }, {}, verifier);
    await expect.poll(() => pids.filter(runs)).toEqual([]);
    await verified({ request }, {}, verifier);
    expect(new Set(pids).size).toBe(2);
  });

  it('takes one order after the other; of those that come together each has one of its own', async () => {
    const pids: string[] = [];
    const bothAsked = Promise.withResolvers<void>();
    const request: RelayHandlers['request'] = async ({ body }) => {
      pids.push(String(JSON.parse(String(body)).pid));
      if (pids.length === 2) bothAsked.resolve();
      if (pids.length <= 2) await bothAsked.promise;
      return json({});
    };
    const verifier = opened({ child: child('telling-child') });
    await Promise.all([verified({ request }, {}, verifier), verified({ request }, {}, verifier)]);
    await verified({ request }, {}, verifier);
    expect(new Set(pids.slice(0, 2)).size).toBe(2);
    expect(pids.slice(0, 2)).toContain(pids[2]);
  });

  it('that crashes is told with what it printed, and replaced', async () => {
    const verifier = opened({ child: child('crashing-child') });
    const failure = await verified({}, {}, verifier).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(PactFailure);
    expect(String(failure)).toContain(
      'Pact ended by SIGABRT; it printed: thread panicked at \\x1b[31mverifier.rs',
    );
    await expect(verified({}, {}, verifier)).rejects.toThrow('SIGABRT');
  });

  it('that cannot be started is told', async () => {
    await expect(verified({}, {}, opened({ child: child('no-such-child') }))).rejects.toThrow(PactFailure);
  });

  it.skipIf(!existsSync('/proc/self'))('ends with whoever started it, however that ends', async () => {
    const script = fileURLToPath(new URL('./fixtures/verifying-process.ts', import.meta.url));
    const parent = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
    await new Promise((resolve) => parent.stdout.once('data', resolve));
    const children = readFileSync(`/proc/${parent.pid}/task/${parent.pid}/children`, 'utf8')
      .trim()
      .split(' ')
      .map(Number);
    expect(children).toHaveLength(1);
    parent.kill('SIGKILL');
    await expect.poll(() => children.filter(runs)).toEqual([]);
  });

  it('leaves an order whose run is cancelled', async () => {
    const controller = new AbortController();
    const request = async () => {
      controller.abort(new Error('cancelled'));
      return null;
    };
    await expect(verified({ request }, { signal: controller.signal })).rejects.toThrow('cancelled');
  });

  it('passes on what a handler threw, whatever Pact makes of it', async () => {
    const request = async () => {
      throw new Error('the budget is spent');
    };
    await expect(verified({ request })).rejects.toThrow('the budget is spent');
  });
});

describe('the relay', () => {
  it('answers nobody who does not know its addresses', async () => {
    let base = '';
    const verifier = opened({ child: new URL('./fixtures/telling-child.ts', import.meta.url) });
    let asked = 0;
    const request: RelayHandlers['request'] = async ({ body }) => {
      base = JSON.parse(String(body)).options.providerBaseUrl;
      const { origin } = new URL(base);
      for (const path of ['/', '/provider/x', `/${'0'.repeat(32)}/provider/x`, '/pact.json']) {
        expect((await fetch(`${origin}${path}`)).status).toBe(404);
      }
      asked += 1;
      return json({});
    };
    await verified({ request }, {}, verifier);
    expect(asked).toBe(1);
    // And nobody any more when the verification is over.
    expect((await fetch(`${base}/v1/resources`)).status).toBe(404);
  });
});
