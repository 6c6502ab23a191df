import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import fc from '../../base/fixtures/properties.ts';
import type { RecordedRequest } from '../exchange.ts';
import {
  exampleBody,
  exampleConversation,
  exampleExchange,
  exampleRequest,
  octetsOf,
} from '../fixtures/example-evidence.ts';
import { derivedName } from '../redaction/marker.ts';
import { createRedaction } from '../redaction/redaction.ts';
import { curlCommand } from './curl.ts';
import { environmentName, printfCommand, shellWord } from './shell-word.ts';

const KEY = `example key's "value" $(for) \`tests\` \\!`;
const ENVIRONMENT = { PATH: process.env.PATH, SEARCH_API_KEY: KEY, APP_SECRET: KEY };

/** What a POSIX shell writes to standard output, as latin1. */
function shell(script: string): string {
  return execFileSync('sh', ['-c', script], {
    env: ENVIRONMENT,
    encoding: 'latin1',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

interface Called {
  readonly words: readonly string[];
  readonly input: string;
}

/** The arguments that curl would be called with, and what it would read. */
function run(command: string | null): Called {
  expect(command).toMatch(/^[^\r\n]+$/);
  const [count, ...rest] = shell(`${SPY}; ${command}`).split('\0');
  const words = rest.slice(0, Number(count));
  return { words, input: rest.slice(Number(count)).join('\0') };
}

/** The same of several, one after the other in one shell; none of them reads a NUL. */
function runAll(commands: readonly string[]): readonly Called[] {
  for (const command of commands) expect(command).toMatch(/^[^\r\n]+$/);
  const said = shell(`${SPY}; ${commands.map((command) => `${command}; printf '\\000'`).join('; ')}`).split(
    '\0',
  );
  return commands.map(() => {
    const words = said.splice(0, 1 + Number(said[0])).slice(1);
    return { words, input: said.shift() ?? '' };
  });
}

const SPY = 'curl() { printf "%s\\000" "$#" "$@"; case "$*" in *@-*) cat;; esac; }';

const request = (replaced: Partial<RecordedRequest>) =>
  exampleExchange({ request: exampleRequest(replaced) });

const hostile = fc.string({
  unit: fc.oneof(
    fc.constantFrom(...'\'"$`\\!%- \n;|&*~#({['),
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a shell would expand it, which is what is tried
    fc.constantFrom('$(id)', '${x}', "'\\''", '%s', '\\n', '[redacted:SEARCH_API_KEY]'),
    fc.integer({ min: 1, max: 255 }).map((code) => String.fromCharCode(code)),
  ),
  maxLength: 20,
});
const resolved = (text: string) => text.replaceAll('[redacted:SEARCH_API_KEY]', KEY);

/** A shell takes longer to start than to read ten of them. */
const tenOf = <T>(one: fc.Arbitrary<T>) => fc.array(one, { minLength: 10, maxLength: 10 });

describe('shell words', () => {
  it('stand for exactly their text, whatever it is', () => {
    fc.assert(
      fc.property(tenOf(hostile), (texts) => {
        const script = texts.map((text) => `printf '<%s>' ${shellWord(text)}`).join('; ');
        // A shell drops line ends at the end of what a command wrote.
        const expected = texts.map((text) => `<${resolved(text).replace(/\n+$/, '')}>`);
        expect(shell(script)).toBe(expected.join(''));
      }),
      { numRuns: 15 },
    );
  });

  it('printf writes exactly the octets, NUL included', () => {
    fc.assert(
      fc.property(tenOf(hostile), (texts) => {
        const script = texts.map((text) => printfCommand(`${text}\0\n`)).join('; ');
        expect(shell(script)).toBe(texts.map((text) => `${resolved(text)}\0\n`).join(''));
      }),
      { numRuns: 15 },
    );
  });

  it('name variables that a shell accepts', () => {
    expect(['KEY', 'a.b/c', '2nd', 'ключ'].map(environmentName)).toEqual(['KEY', 'a_b_c', '_2nd', '____']);
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (name) => {
        expect(environmentName(name)).toMatch(/^[A-Za-z_][A-Za-z0-9_]*$/);
      }),
    );
  });
});

describe('curlCommand', () => {
  it('repeats a request, the key from the environment', () => {
    const command = curlCommand(exampleExchange());
    expect(command).toBe(
      `curl -sS -i http://127.0.0.1:8080/v1/resources -H 'User-Agent: conform/1' -H 'Accept: application/json' -H 'Authorization: Bearer '"$SEARCH_API_KEY"`,
    );
    expect(run(command).words.at(-1)).toBe(`Authorization: Bearer ${KEY}`);
  });

  it.each([
    ['truncated', KEY.slice(0, -1)],
    ['extended', `${KEY}x`],
    ['altered', `x${KEY.slice(1)}`],
    [
      'case-flipped',
      KEY.replace(/[a-z]/gi, (c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase())),
    ],
  ] as const)('makes a %s key of the right one', (derivation, value) => {
    const redaction = createRedaction();
    redaction.add(derivedName('SEARCH_API_KEY', derivation), value);
    const sent = (authorization: string) =>
      run(curlCommand(request({ fields: redaction.fields([['Authorization', authorization]]) }))).words;
    expect(sent(`Bearer ${value}`)).toContain(`Authorization: Bearer ${value}`);
    expect(sent(`Bearer \u00e9${value}`)).toContain(`Authorization: Bearer \u00e9${value}`);
    const basic = `Basic ${Buffer.from(`someone:${value}`).toString('base64')}`;
    expect(sent(basic)).toContain(`someone:${value}`);
  });

  it('has no field that the request did not have', () => {
    const { words } = run(curlCommand(request({ fields: [['X-Empty', '']], body: exampleBody('{}') })));
    expect(words.slice(4)).toEqual([
      'http://127.0.0.1:8080/v1/resources',
      ...['-H', 'X-Empty;', '-H', 'Host:', '-H', 'User-Agent:', '-H', 'Content-Type:'],
      ...['--data-binary', '@-'],
    ]);
  });

  it.each([
    ['GET', null, ['-i']],
    ['HEAD', null, ['-I']],
    ['HEAD', 'x', ['-i', '-X', 'HEAD']],
    ['GET', 'x', ['-i', '-X', 'GET']],
    ['POST', null, ['-i', '-X', 'POST']],
    ["X'Y", null, ['-i', '-X', "X'Y"]],
  ])('sends the method %s with the body %j', (method, body, options) => {
    const { words } = run(curlCommand(request({ method, body: body === null ? null : exampleBody(body) })));
    expect(words.slice(1, 1 + options.length)).toEqual(options);
  });

  it('sends a body octet for octet, secrets included', () => {
    const redaction = createRedaction();
    redaction.add('SEARCH_API_KEY', KEY);
    const octets = Buffer.concat([octetsOf(`-%s\\n'${KEY}`), Uint8Array.of(0, 255, 10)]);
    const body = exampleBody(redaction.octets(octets));
    const { input, words } = run(curlCommand(request({ method: 'POST', body })));
    expect(Buffer.from(input, 'latin1')).toEqual(octets);
    expect(words.slice(-2)).toEqual(['--data-binary', '@-']);
  });

  it('leaves to curl what curl makes, and tells of no run', () => {
    const fields = [
      ['Host', '127.0.0.1:8080'],
      ['connection', 'keep-alive'],
      ['User-Agent', 'conform/1.2.3 (run 0a1b2c)'],
      ['X-Conform-Run', '0a1b2c'],
      ['Content-Length', '1'],
      ['Content-Type', 'text/plain'],
    ] as const;
    const { words } = run(curlCommand(request({ method: 'POST', fields, body: exampleBody('x') })));
    expect(words.slice(5)).toEqual(['-H', 'Content-Type: text/plain', '--data-binary', '@-']);
  });

  it('has a Host and a Connection that were tried', () => {
    const fields = [
      ['Host', 'evil.example'],
      ['Connection', 'Upgrade'],
    ] as const;
    const { words } = run(curlCommand(request({ fields })));
    expect(words).toEqual(expect.arrayContaining(['Host: evil.example', 'Connection: Upgrade']));
  });

  it('makes a long value, and writes none', () => {
    const key = `a${'k'.repeat(9_216)}"${"'".repeat(100)}`;
    const command = curlCommand(request({ fields: [['X-Key', key]] }));
    expect(command).toContain(`"$(head -c 9216 /dev/zero | tr '\\0' k)"`);
    expect(command?.length).toBeLessThan(200);
    expect(run(command).words).toContain(`X-Key: ${key}`);
    const body = run(curlCommand(request({ method: 'POST', body: exampleBody('['.repeat(20_000)) })));
    expect(body.input).toBe('['.repeat(20_000));
  });

  it.each([
    ['http://a.example', '/', ['http://a.example']],
    ['http://a.example/a/../b?x=1', '/a/../b?x=1', ['--path-as-is', 'http://a.example/a/../b?x=1']],
    ['http://a.example/%2E?x=1', '/%2E?x=1', ['--path-as-is', 'http://a.example/%2E?x=1']],
    ['http://a.example/{a}[1]', '/{a}[1]', ['-g', 'http://a.example/{a}[1]']],
    ['http://a.example/v1', '*', ['--request-target', '*', 'http://a.example/']],
    [
      'http://a.example/v1',
      'http://a.example/v1',
      ['--request-target', 'http://a.example/v1', 'http://a.example/'],
    ],
    ['http://a.example/a#b', '/a#b', ['--request-target', '/a#b', 'http://a.example/']],
    ['http://a.example/a b', '/a b', ['--request-target', '/a b', 'http://a.example/']],
    [
      'http://a.example/?k=[redacted:SEARCH_API_KEY]',
      '/?k=[redacted:SEARCH_API_KEY]',
      ['-g', `http://a.example/?k=${KEY}`],
    ],
  ])('asks %s for the target %s', (url, target, words) => {
    expect(run(curlCommand(request({ url, target, fields: [] }))).words.slice(2, 2 + words.length)).toEqual(
      words,
    );
  });

  it.each(['http', 'https'])('names the one version of a request in HTTP/1.0 over %s', (scheme) => {
    const old = request({ url: `${scheme}://a.example/`, target: '/', httpVersion: '1.0' });
    expect(curlCommand(old)?.match(/--http\S+/g)).toEqual(['--http1.0']);
  });

  it('keeps to HTTP/1.1 over TLS', () => {
    const secure = request({ url: 'https://a.example/', target: '/' });
    expect(curlCommand(secure)).toContain(' --http1.1 https:');
    const files = { ca: 'our ca.pem', cert: 'client.pem', key: 'key.pem' };
    const named = "--cacert 'our ca.pem' --cert client.pem --key key.pem";
    expect(curlCommand(secure, { files, insecure: false })).toContain(` --http1.1 ${named} https:`);
    const none = { ca: null, cert: null, key: null };
    expect(curlCommand(secure, { files: none, insecure: true })).toContain(' --http1.1 --insecure https:');
    expect(curlCommand(request({}), { files, insecure: true })).not.toMatch(/--(?:cacert|cert|insecure)/);
  });

  it('gives Basic credentials as user and password', () => {
    const redaction = createRedaction();
    redaction.add('SEARCH_API_KEY', KEY);
    for (const user of ['bob', 'anna', 'alice', "o'neil"]) {
      const credentials = Buffer.from(`${user}:${KEY}`).toString('base64');
      const fields = redaction.fields([['Authorization', `Basic ${credentials}`]]);
      const { words } = run(curlCommand(request({ fields })));
      expect(words.slice(3, 5)).toEqual(['-u', `${user}:${KEY}`]);
    }
  });

  it('leaves a fragment of a secret as its marker, which is as wrong', () => {
    const fields = [['Authorization', 'Bearer [redacted:SEARCH_API_KEY:part]']] as const;
    expect(run(curlCommand(request({ fields }))).words).toContain(
      'Authorization: Bearer [redacted:SEARCH_API_KEY:part]',
    );
  });

  const line = (name: string, value: string) => [name, value] as const;
  it.each<[string, Partial<RecordedRequest>]>([
    ['a second Host', { fields: [line('Host', 'a.example'), line('Host', 'b.example')] }],
    ['a name that is none', { fields: [line('Bad Name', "x'\n$(id)")] }],
    ['a name that is a file', { fields: [line('@/etc/passwd', 'x')] }],
    ['a value with a line end', { fields: [line('X-A', 'b\r\n c')] }],
    ['a wrong length', { fields: [line('Content-Length', '7')], body: exampleBody('x') }],
    [
      'content that is framed already',
      { fields: [line('Transfer-Encoding', 'chunked')], body: exampleBody('0') },
    ],
    ['content that was not kept', { body: { bytes: octetsOf('x'), received: 9, truncated: true } }],
    ['single octets', { piecemeal: true }],
  ])('is none for %s, which curl does not send', (_, replaced) => {
    expect(curlCommand(request(replaced))).toBeNull();
  });

  it('repeats the handshake of a conversation', () => {
    const { words } = run(curlCommand(exampleConversation()));
    expect(words.slice(0, 5)).toEqual(['-sS', '-i', '-N', '-m', '5']);
    expect(words).toEqual(
      expect.arrayContaining(['http://127.0.0.1:8080/ws', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13']),
    );
  });

  it('cannot be broken out of', () => {
    fc.assert(
      fc.property(tenOf(fc.tuple(hostile, hostile, hostile)), (requests) => {
        const written = requests.flatMap(([method, value, target]) => {
          const evidence = request({
            method: `X${method}`,
            target,
            fields: [['X-A', value]],
            body: exampleBody('x'),
          });
          const command = curlCommand(evidence);
          expect(command === null).toBe(/[\r\n]/.test(value));
          return command === null ? [] : [{ command, value }];
        });
        runAll(written.map(({ command }) => command)).forEach(({ words, input }, at) => {
          const { value = '' } = written[at] ?? {};
          expect(words).toHaveLength(words.includes('-g') ? 18 : 17);
          const line = value === '' ? 'X-A;' : `X-A: ${resolved(value)}`;
          expect(words).toContain(line);
          expect(input).toBe('x');
        });
      }),
      { numRuns: 10 },
    );
  });
});
