import type { Sample } from '../../harness/base/clause.ts';
import { NotApplicable, unlessInapplicable } from '../../harness/base/verdict.ts';
import type { Stimulus } from '../../harness/engine/session/http/stimulus.ts';
import { derived, type Port, type Probe, probe, risky } from '../../harness/engine/session/probe.ts';
import type { Reply } from '../../harness/wire/exchange/reply.ts';
import type { FieldLine } from '../../harness/wire/exchange.ts';
import { withoutCredential, wrongCredential } from '../auth/stimuli/credential.ts';
import { type Difference, served, variation } from './sample.ts';

/** The same service asked for other things, in other ways: methods, targets, field values, versions, sizes. */

const UNKNOWN_PATH = '/conform-no-such-resource';
/** Of content that nothing reads. */
export const UNKNOWN_TYPE = 'application/x-conform-unknown';

/** Beside the documented one; a collection that creates what is asked for by its name, or hides it, knows it all the same. */
export const unknownPath = variation('unknown-path', 'at a path that does not exist', {
  target: ({ path }) => siblingOf(path),
});
const deepUnknownPath = variation('deep-unknown-path', 'at a path that does not exist, three levels down', {
  target: ({ path }) => `${siblingOf(path)}/conform/none`,
});
const rootUnknownPath = variation('root-unknown-path', 'at a path that does not exist, at the top', {
  target: () => UNKNOWN_PATH,
});

/** Improbable paths at several depths: nobody knows all of them. The one at the top, where the others are served. */
export const unknownPaths = derived(
  'unknown-paths',
  [unknownPath, deepUnknownPath, rootUnknownPath],
  async ({ ask, documented }) => {
    const below = [await ask(unknownPath), await ask(deepUnknownPath)];
    const isTop = siblingOf(documented.path) === UNKNOWN_PATH;
    return isTop || below.some(({ served }) => !served) ? below : [...below, await ask(rootUnknownPath)];
  },
);
export const unknownPathWithoutCredential = variation(
  'unknown-path-without-credential',
  'at a path that does not exist, without a credential',
  { target: ({ path }) => siblingOf(path), credential: 'none' },
);

export const headSample = variation('head-sample', 'as documented', { method: 'HEAD', raw: true });
export const optionsSample = variation('options-sample', 'of the documented path', {
  method: 'OPTIONS',
  without: ['content-type'],
  raw: true,
});
/** Of the server as such (RFC 9110 §9.3.7). */
export const optionsOfServer = variation('options-of-server', 'of the server as a whole', {
  method: 'OPTIONS',
  target: () => '*',
  without: ['content-type'],
  raw: true,
});
/** Content that has no meaning (RFC 9110 §9.3.1): some libraries send it all the same. */
export const getWithContent = variation('get-with-content', 'as documented, with content', {
  fields: [['Content-Type', 'application/json']],
  content: '{}',
});
/** Where QUERY is offered (RFC 10008): the same content without a type, and with a type that nobody knows. */
const query = (name: string, purpose: string, type: string | null): Probe<Reply> =>
  probe(name, { needs: [served, optionsSample] }, async ({ ask, http }) => {
    const offers = [await ask(served), await ask(optionsSample)].map(({ response }) => response);
    if (!offers.some((response) => response.allow.includes('QUERY') || response.has('accept-query')))
      throw new NotApplicable('nothing says that QUERY is offered');
    return http.send({
      purpose,
      method: 'QUERY',
      without: ['content-type'],
      fields: type === null ? [] : [['Content-Type', type]],
      content: 'conform',
      raw: true,
    });
  });
export const queryWithoutType = query('query-without-type', 'with content of no type', null);
export const queryOfUnknownType = query(
  'query-of-unknown-type',
  'with content of a type that nobody knows',
  'application/x-conform-unknown',
);

/** A well-formed method name that nobody has registered: nothing can have a side effect for it. */
export const unknownMethod = variation(
  'unknown-method',
  'at the documented path, a method that nobody has registered',
  { method: 'CONFORM', without: ['content-type'] },
);
export const traceSample = variation('trace-sample', 'of the documented path', {
  method: 'TRACE',
  without: ['content-type'],
  raw: true,
});
/** Registered, safe and rarely offered (RFC 4918 §9.1): DELETE could destroy what the documented path names. */
export const unservedMethod = probe(
  'unserved-method',
  { needs: [served], cost: ({ safety }) => (safety.unsafeMethods ? 1 : 0) },
  async ({ config, ask, http }) => {
    // Elsewhere a method that does not exist shows the same.
    if (!config.safety.unsafeMethods) throw new NotApplicable('safety.unsafeMethods is not set');
    await ask(served);
    // A Content-Type without content may be a reason of its own to refuse it.
    return http.send({ purpose: 'of the documented path', method: 'PROPFIND', without: ['content-type'] });
  },
);

/**
 * POST where it is known that none is offered: some handlers take any content, and create something from it. PUT and
 * DELETE need no content to destroy what is there.
 */
export const undocumentedPost = probe(
  'undocumented-post',
  { needs: [optionsSample, unservedMethod], cost: ({ safety }) => (safety.unsafeMethods ? 1 : 0) },
  async ({ config, ask, http, documented }) => {
    await refuseOffered(['POST'], { config, ask, documented });
    return http.send({
      purpose: 'of the documented path, with content of an unknown type',
      method: 'POST',
      fields: [['Content-Type', UNKNOWN_TYPE]],
      content: '{',
    });
  },
);

/** @throws NotApplicable unless it is known that none of the methods is offered at the documented path. */
async function refuseOffered(
  methods: readonly string[],
  { config, ask, documented }: Pick<Port, 'config' | 'ask' | 'documented'>,
): Promise<void> {
  if (!config.safety.unsafeMethods) throw new NotApplicable('safety.unsafeMethods is not set');
  const allowed = [await ask(optionsSample), await ask(unservedMethod)].flatMap(
    ({ response }) => response.allow,
  );
  if (allowed.length === 0) throw new NotApplicable('no Allow says which methods the documented path offers');
  const here = documented.path.split('?', 1)[0];
  const named = config.operations.flatMap(({ method, path }) =>
    path.split('?', 1)[0] === here ? [method] : [],
  );
  const offered = methods.find((method) => [...allowed, ...named].includes(method));
  if (documented.method !== 'GET' || offered !== undefined)
    throw new NotApplicable(`${offered ?? documented.method} is offered at the documented path`);
}

/** RFC 9110 §13.1.1: whatever heeds conditions changes nothing under this one. */
const UNMET: FieldLine = ['If-Match', '"conform-none"'];

/**
 * PUT and PATCH where it is known that neither is offered, with content that nothing reads and under a condition that
 * nothing meets; DELETE where nothing is.
 */
export const undocumentedChanges = probe<readonly Reply[]>(
  'undocumented-changes',
  { needs: [optionsSample, unservedMethod], cost: ({ safety }) => (safety.unsafeMethods ? 3 : 0) },
  async (port) => {
    const { http } = port;
    await refuseOffered(['PUT', 'PATCH', 'DELETE'], port);
    const content = {
      fields: [['Content-Type', UNKNOWN_TYPE], UNMET],
      content: '{',
    } as const;
    const purpose = 'of the documented path, with content of an unknown type';
    return [
      await http.send({ purpose, method: 'PUT', ...content }),
      await http.send({ purpose, method: 'PATCH', ...content }),
      await http.send({
        purpose: 'of a path that does not exist',
        method: 'DELETE',
        target: ({ path }) => siblingOf(path),
        without: ['content-type'],
        fields: [UNMET],
      }),
    ];
  },
);

/** The same path by methods that few services have. */
export const otherMethods = derived(
  'other-methods',
  [traceSample, unservedMethod],
  async ({ ask, config }) => [
    await ask(traceSample),
    ...(config.safety.unsafeMethods ? [await ask(unservedMethod)] : []),
  ],
);

/** Longer than some servers and firewalls take. */
const long = (each: Probe<Reply>): Probe<Reply> => ({ ...risky(each), risks: ['long-head'] });

export const malformedTarget = risky(
  variation('malformed-target', 'with malformed percent-encoding in the path', {
    target: ({ path }) => `${path}/%zz%`,
  }),
);
export const overlongTarget = long(
  variation('overlong-target', 'with a 12,000-octet query', {
    target: ({ path }) => `${path}?q=${'a'.repeat(12_000)}`,
  }),
);
/** More than any usual server takes: 8 KiB, 16 KiB. */
export const overlongField = long(
  variation('overlong-field', 'with a 20,000-octet header field', {
    fields: [['X-Conform-Long', 'a'.repeat(20_000)]],
  }),
);
export const hostileQuery = risky(
  variation('hostile-query', 'with quotes, brackets and markup in the query', {
    target: ({ path }) =>
      `${path}?q=%27%22%3E%3Cscript%3E%24%7B7*7%7D%00&q[]=1&limit=-1&limit=abc&__proto__[x]=1`,
  }),
);
export const unknownAccept = variation('unknown-accept', 'accepting only application/x-conform-unknown', {
  fields: [['Accept', 'application/x-conform-unknown']],
});
/** Formats that tools and people ask for, each alone. */
export const otherFormats = derived(
  'other-formats',
  () => OTHER_FORMATS,
  async ({ ask }) => {
    const replies: Reply[] = [];
    for (const each of OTHER_FORMATS) replies.push(await ask(each));
    return replies;
  },
);

const OTHER_FORMATS = ['application/xml', 'text/csv', 'text/plain', 'image/png'].map(acceptingAlone);

function acceptingAlone(type: string): Probe<Reply> {
  const fields = [['Accept', type]] as const;
  return variation(`accept-${type.replace('/', '-')}`, `accepting only ${type}`, { fields });
}

/** Formats that browsers, libraries and gateways ask for, each alone. */
export const furtherFormats = derived(
  'further-formats',
  () => FURTHER_FORMATS,
  async ({ ask }) => {
    const replies: Reply[] = [];
    for (const each of FURTHER_FORMATS) replies.push(await ask(each));
    return replies;
  },
);

const FURTHER_FORMATS = ['text/event-stream', 'application/yaml'].map(acceptingAlone);

/** Errors that a service explains itself, once a request has got through to it: one of each kind. */
export const explained = derived(
  'explained-errors',
  () => EXPLAINED,
  async ({ ask }) => {
    const replies: Reply[] = [];
    for (const each of EXPLAINED) {
      const reply = await ask(each).catch(unlessInapplicable);
      if (reply !== null && (reply.status ?? 0) >= 400) replies.push(reply);
    }
    return replies;
  },
);

const EXPLAINED = [withoutCredential, wrongCredential, unknownPath, unservedMethod, unknownAccept];

export const rangeRequest = variation('range', 'for a range of octets', { fields: [['Range', 'bytes=0-1']] });
/** With the entity tag of the sample, where it has one that can be repeated. */
export const conditional = probe('conditional', { needs: [served] }, async ({ ask, http }) => {
  const { entityTag } = (await ask(served)).response;
  return http.send({
    purpose: entityTag === null ? 'with If-None-Match: *' : 'with its own ETag in If-None-Match',
    fields: [['If-None-Match', entityTag ?? '*']],
    raw: true,
  });
});
export const expectContinue = variation('expect-continue', 'with Expect: 100-continue', {
  fields: [['Expect', '100-continue']],
  raw: true,
});
export const withoutUserAgent = variation('without-user-agent', 'without a User-Agent', {
  without: ['user-agent'],
});
/** As a client of many apps sends it, without the marks by which a service could know this run. */
const UNMARKED = { fields: [['User-Agent', 'okhttp/4.12.0']], without: ['x-conform-run'] } as const;
export const unmarkedSample = variation('unmarked-sample', 'as another client sends it', UNMARKED);
export const unmarkedWithoutCredential = variation(
  'unmarked-without-credential',
  'as another client sends it, without a credential',
  { ...UNMARKED, credential: 'none' },
);
export const withoutHost: Probe<Reply> = refusedMessage('without-host', 'without a Host field', {
  raw: { withoutHost: true },
});
export const twoHosts: Probe<Reply> = refusedMessage('two-hosts', 'with two Host fields', {
  fields: [
    ['Host', 'conform.invalid'],
    ['Host', 'elsewhere.invalid'],
  ],
  raw: true,
});
/** RFC 3986 §3.2.2: no host has a space or a slash in it. */
export const invalidHost: Probe<Reply> = refusedMessage('invalid-host', 'with a Host that is none', {
  fields: [['Host', 'conform invalid/@']],
  raw: true,
});
/** A proxy that reads the name without the space would see another message than the service (RFC 9112 §5.1). */
export const spacedFieldName: Probe<Reply> = refusedMessage(
  'spaced-field-name',
  'with a space between a field name and its colon',
  { fields: [['X-Conform-Spaced ', '1']], raw: true },
);
export const withoutContentType = probe('without-content-type', ({ http }) =>
  http.send({ purpose: 'without the documented Content-Type', without: ['content-type'] }),
);
export const gzipAccepted = variation('gzip-accepted', 'accepting gzip', {
  fields: [['Accept-Encoding', 'gzip']],
});

/** First without a credential, which costs no quota: HTTP servers refuse such a message before they ask for one. Else with it. */
function refusedMessage(name: string, purpose: string, difference: Difference): Probe<Reply> {
  const send: Probe<Reply>['send'] = async ({ ask, http }) => {
    await ask(served);
    const alone = { ...difference, purpose: `${purpose}, without a credential`, credential: 'none' } as const;
    const anonymous = await http.send(alone);
    const status = anonymous.exchange.response?.status ?? null;
    const forTheCredential = [401, 403, (await ask(withoutCredential)).exchange.response?.status];
    return forTheCredential.includes(status ?? 0) ? http.send({ purpose, ...difference }) : anonymous;
  };
  return risky(probe(name, { needs: [served, withoutCredential], cost: 2, usualCost: 1 }, send));
}

/** A path that nobody serves, beside the documented one. */
export function siblingOf(path: Sample['path']): string {
  const parent = path.slice(0, path.lastIndexOf('/'));
  return `${parent}${UNKNOWN_PATH}`;
}

/** How long a request target and a header field may be is found between these, in three requests each. */
const SIZES = [2_048, 4_096, 8_192, 16_384, 32_768];

export interface SizeLimit {
  /** The largest size, in octets, that was served; null when none was. */
  readonly served: number | null;
  /** The smallest one that was not; null when all were. */
  readonly refused: number | null;
  /** How it was refused; null when it was not, or the connection was dropped. */
  readonly status: number | null;
}

export const targetSize = risky(
  probe<SizeLimit>(
    'target-size',
    { needs: [served], cost: 3, risks: ['long-head'] },
    largestServed((size, path) => ({
      purpose: `with a target of ${size} octets`,
      target: () => `${path}?q=${'a'.repeat(size - path.length - 3)}`,
    })),
  ),
);
export const fieldSize = risky(
  probe<SizeLimit>(
    'field-size',
    { needs: [served], cost: 3, risks: ['long-head'] },
    largestServed((size) => ({
      purpose: `with a header field of ${size} octets`,
      fields: [['X-Conform-Long', 'a'.repeat(size)]],
    })),
  ),
);

/** Bisects: sizes below `low` were served, those from `high` on were not. */
function largestServed(stimulus: (size: number, path: string) => Stimulus): Probe<SizeLimit>['send'] {
  return async ({ ask, http, documented }) => {
    await ask(served);
    let [low, high] = [0, SIZES.length];
    let status: number | null = null;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const reply = await http.send(stimulus(SIZES[middle] ?? 0, documented.path));
      if (reply.served) low = middle + 1;
      else {
        high = middle;
        status = reply.status;
      }
    }
    return { served: SIZES[low - 1] ?? null, refused: SIZES[high] ?? null, status };
  };
}

/** The sample for clients that say what they take (RFC 9110 §12.5), in every way in which it may be said. */

/** Media types are compared in any letter case (§8.3.1), and JSON has the larger weight. */
export const jsonPreferred = variation('json-preferred', 'as HTML or, rather, as APPLICATION/JSON', {
  fields: [['Accept', 'text/html;q=0.1, APPLICATION/JSON;q=0.9']],
});
/** A range that JSON is in. */
export const applicationRange = variation('application-range', 'as application/*', {
  fields: [['Accept', 'application/*, text/html;q=0']],
});
export const htmlAlone = variation('html-alone', 'as text/html and not as JSON', {
  fields: [['Accept', 'text/html, application/json;q=0']],
});
/** No Accept field at all by its grammar. */
export const malformedAccept = variation('malformed-accept', 'with an Accept header that nobody can read', {
  fields: [['Accept', ';q=x,,/;json,*/json;q=2']],
});
/** Some look for the word alone. */
export const gzipRefused = variation('gzip-refused', 'accepting deflate and not gzip', {
  fields: [['Accept-Encoding', 'gzip;q=0, deflate']],
});
/** A coding that has the name of another one in its own. */
export const similarCoding = variation('similar-coding', 'accepting br and conform-gzip', {
  fields: [['Accept-Encoding', 'conform-gzip, br;q=0.5']],
});
export const otherLanguage = variation('other-language', 'in Tamil or any other language', {
  fields: [['Accept-Language', 'ta-IN-x-conform;q=1.000, *;q=0.5, de;q=0']],
});
/** The media type of the sample in capitals and with a parameter, where it has one. */
const CONTENT_TYPE_SPELLED = 'APPLICATION/JSON; charset="utf-8"';
export const contentTypeSpelled = variation(
  'content-type-spelled',
  `with Content-Type: ${CONTENT_TYPE_SPELLED}`,
  { fields: [['Content-Type', CONTENT_TYPE_SPELLED]] },
);
