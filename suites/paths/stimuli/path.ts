import { NotApplicable, unlessInapplicable } from '../../../harness/base/verdict.ts';
import type { ServiceConfig } from '../../../harness/config/service.ts';
import type { Stimulus } from '../../../harness/engine/session/http/stimulus.ts';
import { derived, type Probe, probe, risky } from '../../../harness/engine/session/probe.ts';
import type { Reply } from '../../../harness/wire/exchange/reply.ts';
import { served, variation } from '../../stimuli/sample.ts';

/** The documented path in spellings on which a proxy and the application behind it may disagree, and foreign names. */

/** A host that the service has nothing to do with. */
export const ELSEWHERE = 'conform-elsewhere.invalid';
/** A field that no service sends: where it is there, the path has written it. */
export const SPLIT_FIELD = 'X-Conform-Split';

/** Makes another spelling of a path; the same where it has no such spelling. */
type Spell = (path: string) => string;

/** All before the last segment, and that segment with its slash. */
const divided = (path: string): readonly [string, string] => {
  const at = path.lastIndexOf('/');
  return [path.slice(0, at), path.slice(at)];
};

const doublyEncoded = (letter: string): string => `%25${letter.charCodeAt(0).toString(16)}`;

/** RFC 3986 §6.2.2 and what goes beyond it, by their names; each with what it completes: "GET with …". */
const SPELLINGS = {
  'dot-segments': [
    'with dot segments in the path',
    (path) => {
      const [before, last] = divided(path);
      return `/conform/..${before}/.${last}`;
    },
  ],
  'encoded-dots': [
    'with percent-encoded dot segments in the path',
    (path) => {
      const [before, last] = divided(path);
      return `/conform/%2e%2e${before}/%2e${last}`;
    },
  ],
  'repeated-slashes': ['with each slash of the path twice', (path) => path.replaceAll('/', '//')],
  'encoded-slash': [
    'with a percent-encoded slash in the path',
    (path) => {
      const [before, last] = divided(path);
      return `${before === '' ? '/.' : before}%2f${last.slice(1)}`;
    },
  ],
  'matrix-parameters': [
    'with a matrix parameter in each segment of the path',
    (path) => path.replace(/[^/]+/g, (segment) => `${segment};conform=1`),
  ],
  'double-encoding': [
    'with the last letter of the path percent-encoded twice',
    (path) => path.replace(/[A-Za-z](?=[^A-Za-z]*$)/, doublyEncoded),
  ],
  'letter-case': [
    'with the path in other letter case',
    (path) => (path === path.toUpperCase() ? path.toLowerCase() : path.toUpperCase()),
  ],
  'format-suffix': ['with .json after the path', (path) => `${path.replace(/\/$/, '')}.json`],
  'asset-suffix': ['with the name of a style sheet after the path', (path) => `${path}/conform.css`],
  fragment: ['with a fragment after the path', (path) => `${path}#conform.css`],
  'line-break': [
    'with a percent-encoded line break after the path',
    (path) => `${path}%0d%0a${SPLIT_FIELD}:%201`,
  ],
} as const satisfies Record<string, readonly [purpose: string, spell: Spell]>;

type SpellingName = keyof typeof SPELLINGS;

/** One oddity alone, which a front and the application may read differently; each with what it completes: "GET with …". */
const ODDITIES: readonly (readonly [name: string, purpose: string, spell: Spell])[] = [
  ['dot', 'with /./ in the path', (path) => divided(path).join('/.')],
  ['parent', 'with /conform/../ before the path', (path) => `/conform/..${path}`],
  ['encoded-dot', 'with /%2e/ in the path', (path) => divided(path).join('/%2e')],
  ['encoded-parent', 'with /conform/%2e%2e/ before the path', (path) => `/conform/%2e%2e${path}`],
  // A front that leaves the parameter in the segment finds no dot segment there.
  ['parent-with-parameter', 'with /conform/..;/ before the path', (path) => `/conform/..;${path}`],
  ['slashes-first', 'with a second slash before the path', (path) => `/${path}`],
  ['slashes-within', 'with a second slash in the path', (path) => divided(path).join('/')],
  [
    'encoded-letter',
    'with the first letter of the path percent-encoded',
    (path) => path.replace(LETTER, encoded),
  ],
  ['capital', 'with one letter of the path in the other case', (path) => path.replace(LAST_NAME, otherCase)],
  ['backslash', 'with a backslash in the path', (path) => withLastSlash(path, '\\')],
  ['encoded-backslash', 'with an encoded backslash in the path', (path) => withLastSlash(path, '%5c')],
];

/** The same for characters after the path, which the application cuts off or trims. */
const ENDINGS: readonly (readonly [name: string, purpose: string, ending: string])[] = [
  ['dot-segment', 'with /. after the path', '/.'],
  ['encoded-slash', 'with an encoded slash after the path', '%2f'],
  ['semicolon', 'with ; and a style sheet after the path', ';conform.css'],
  ['nul', 'with an encoded NUL after the path', '%00'],
  ['line-feed', 'with an encoded line feed after the path', '%0a'],
  ['space', 'with an encoded space after the path', '%20'],
  ['full-stop', 'with a full stop after the path', '.'],
  ['question-mark', 'with an encoded question mark after the path', '%3f'],
  ['number-sign', 'with an encoded # after the path', '%23'],
];

const LETTER = /[A-Za-z]/;
/** The first letter of the last segment. */
const LAST_NAME = /[A-Za-z](?=[^/]*$)/;

const encoded = (letter: string): string => `%${letter.charCodeAt(0).toString(16)}`;
const otherCase = (letter: string): string =>
  letter === letter.toUpperCase() ? letter.toLowerCase() : letter.toUpperCase();
const withLastSlash = (path: string, slash: string): string => {
  const [before, last] = divided(path);
  return `${before === '' ? '/.' : before}${slash}${last.slice(1)}`;
};

/** Without its query, which stays as it is. */
function spelled(target: string, spell: Spell): string {
  const mark = target.indexOf('?');
  return mark === -1 ? spell(target) : spell(target.slice(0, mark)) + target.slice(mark);
}

function withoutCredential(name: string, purpose: string, spell: Spell): Probe<Reply> {
  return probe(`path-${name}-without-credential`, { needs: [served] }, async ({ ask, http, documented }) => {
    await ask(served);
    if (spelled(documented.path, spell) === documented.path)
      throw new NotApplicable('the documented path has no such spelling');
    return http.send({
      purpose: `${purpose}, without a credential`,
      target: ({ path }) => spelled(path, spell),
      credential: 'none',
      raw: true,
    });
  });
}

/** Without a credential, by the name of the spelling. */
export const SPELLED: Readonly<Record<SpellingName, Probe<Reply>>> = Object.fromEntries(
  Object.entries(SPELLINGS).map(([name, [purpose, spell]]) => [
    name,
    withoutCredential(name, purpose, spell),
  ]),
) as Record<SpellingName, Probe<Reply>>;

/** RFC 9112 §3.2.2: rules that compare from the first slash on do not match it. */
const wholeUrl = probe(
  'whole-url-without-credential',
  { needs: [served] },
  async ({ ask, http, documented }) => {
    const { origin, pathname } = new URL((await ask(served)).exchange.request.url);
    return http.send({
      purpose: 'with the whole URL in the request line, without a credential',
      // The query that was sent may hold the key.
      target: () => `${origin}${spelled(documented.path, () => pathname)}`,
      credential: 'none',
      raw: true,
    });
  },
);

const inTurn = (name: string, all: readonly Probe<Reply>[]): Probe<readonly Reply[]> =>
  derived(name, all, async ({ ask }) => {
    const replies: Reply[] = [];
    for (const each of all) {
      const reply = await ask(each).catch(unlessInapplicable);
      if (reply !== null) replies.push(reply);
    }
    return replies;
  });

/** Each oddity alone, and those that follow the path; none of them with a credential. */
export const oddities = inTurn('path-oddities', [
  ...ODDITIES.map(([name, purpose, spell]) => risky(withoutCredential(`with-${name}`, purpose, spell))),
  risky(wholeUrl),
]);
export const endings = inTurn(
  'path-endings',
  ENDINGS.map(([name, purpose, ending]) =>
    risky(withoutCredential(`before-${name}`, purpose, (path) => path.replace(/\/$/, '') + ending)),
  ),
);

/** `climb` leads from one segment to the one before it; `separator` stands for a slash behind it. */
const CLIMBS: readonly (readonly [name: string, what: string, climb: string, separator: string])[] = [
  ['plain', '/../', '..', '/'],
  ['encoded', '/%2e%2e/', '%2e%2e', '/'],
  ['parameter', '/..;/', '..;', '/'],
  ['slash', '/..%2f', '..', '%2f'],
];

const FROM_OPEN_PLACE = CLIMBS.map(([name, what, climb, separator]) =>
  risky(
    probe(
      `path-from-open-place-${name}-without-credential`,
      { needs: [served] },
      async ({ ask, http, config, documented }) => {
        await ask(served);
        const place = openPlace(config, documented.path);
        const ups = `${climb}${separator}`.repeat(place.split('/').length - 1);
        return http.send({
          purpose: `below ${place} and out of it again by ${what}, without a credential`,
          target: ({ path }) => spelled(path, (plain) => `${place}/${ups}${plain.slice(1)}`),
          credential: 'none',
          raw: true,
        });
      },
    ),
  ),
);

/**
 * Below a place that is open to all, and out of it again by dot segments: a documented operation that asks for no
 * credential if there is one, else a usual name.
 */
export const fromOpenPlace = inTurn('path-from-open-place', FROM_OPEN_PLACE);

function openPlace({ operations }: Pick<ServiceConfig, 'operations'>, path: string): string {
  const open = operations.find(
    ({ auth, method, path: other }) => auth === 'none' && method === 'GET' && /^(?:\/[\w.~-]+)+$/.test(other),
  );
  const [before] = divided(path.split('?', 1)[0] ?? '');
  return open?.path ?? `${before}/public`;
}

/** The path of another resource, and that of the documented one in fields that replace it in some applications. */
export const rewritten = probe('path-rewritten', { needs: [served] }, async ({ ask, http, documented }) => {
  const { pathname } = new URL((await ask(served)).exchange.request.url);
  if (spelled(documented.path, (path) => path) === '/')
    throw new NotApplicable('the documented path is the root');
  return http.send({
    purpose: 'at / with the documented path in X-Original-URL and X-Rewrite-URL, without a credential',
    target: () => '/',
    fields: [
      ['X-Original-URL', pathname],
      ['X-Rewrite-URL', pathname],
    ],
    credential: 'none',
  });
});

/** Several oddities at once, with the credential: what falls over one of them, falls. */
const oddPath = variation(
  'odd-path',
  'with repeated slashes, encoded dots and slashes and a matrix parameter in the path',
  {
    target: ({ path }) => spelled(path, (plain) => `${plain}//%2e/;conform=1/conform%2f%252e%252e%5c`),
  },
);
/** U+0000, at which a string ends in C. */
export const nulInPath = risky(
  variation('nul-in-path', 'with an encoded NUL in the path', {
    target: ({ path }) => spelled(path, (plain) => `${plain}%00conform`),
  }),
);
/** The slash in two octets, which is no UTF-8 (RFC 3629 §3). */
export const badUtf8InPath = risky(
  variation('bad-utf8-in-path', 'with octets in the path that are no UTF-8', {
    target: ({ path }) =>
      spelled(path, (plain) => {
        const [before, last] = divided(plain);
        return `${before === '' ? '/.' : before}%c0%af${last.slice(1)}`;
      }),
  }),
);

/** A path that a browser takes for a host, where it comes back as a redirect; it ends with a slash, or with none. */
export const hostInPath: readonly Probe<Reply>[] = [
  variation('host-in-path', 'at a path that begins with two slashes and a foreign host', {
    target: () => `//${ELSEWHERE}/%2f..`,
  }),
  variation('host-in-path-with-slash', 'at a path of a backslash, a foreign host and a slash', {
    target: () => `/%5c${ELSEWHERE}/`,
  }),
];

/** A proxy reports the address that the client has used; any client can forge it. */
export const forwardedHost = variation('forwarded-host', 'for another host by X-Forwarded-Host', {
  fields: [
    ['X-Forwarded-Host', ELSEWHERE],
    ['X-Forwarded-Server', ELSEWHERE],
  ],
});

/** RFC 9112 §3.2.2: the whole URL in the request line. */
export const absoluteForm = probe(
  'absolute-form',
  { needs: [served] },
  async ({ ask, config, http, documented }) => {
    if (config.credentials.carrier?.in === 'signature')
      throw new NotApplicable('what is signed is the target in its usual form');
    const { origin, pathname } = new URL((await ask(served)).exchange.request.url);
    const stimulus: Stimulus = {
      purpose: 'with the whole URL in the request line',
      target: () => `${origin}${spelled(documented.path, () => pathname)}`,
      raw: true,
    };
    return http.send(stimulus);
  },
);

/** All of them, except risky ones. */
export const PATHS: readonly Probe<Reply>[] = [...Object.values(SPELLED), rewritten, oddPath, ...hostInPath];
