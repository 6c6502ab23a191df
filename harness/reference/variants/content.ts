import { gzipSync } from 'node:zlib';
import { imfFixdate } from '../behavior/clock.ts';
import { EVERY, REST, tableOf, type Variant } from '../behavior/deviation.ts';
import {
  insteadOfServing,
  onAnswer,
  onFinished,
  onReceipt,
  type Patch,
  together,
} from '../behavior/patches/patch.ts';
import {
  acceptsGzip,
  type Coding,
  compressing,
  cutOf,
  dated,
  isSince,
  paging,
  ranged,
  speaking,
  wantOfCoding,
  wantOfType,
  withTag,
} from '../behavior/patches/representations.ts';
import { entityTagOf } from '../behavior/preconditions.ts';
import {
  type HttpAnswer,
  isProblem,
  PROBLEM_NAMES,
  type ProblemName,
  problemDetail,
} from '../http/answer.ts';
import {
  asProblem,
  having,
  lacking,
  varyingBy,
  withContent,
  withJson,
  withMembers,
} from '../http/answer-changes.ts';
import { fieldValue, fieldValues, sending, withField, withFields, withoutField } from '../http/message.ts';
import { byAccount } from '../services/item-patches.ts';

/** What an HTTP server refuses before any application sees it. */
const BY_THE_SERVER: readonly ProblemName[] = [
  'malformed',
  'target-too-long',
  'fields-too-large',
  'unknown-method',
];

/** What the error object looks like, by status. */
const SHAPES: Readonly<Record<number, object>> = {
  401: { error: 'refused' },
  404: { message: 'refused', code: 404 },
};

function shapeFor(status: number): object {
  return SHAPES[status] ?? { errors: [{ reason: 'refused' }] };
}

/** Errors with another content. */
const explaining = (mediaType: string, text: (name: ProblemName) => string): Patch =>
  onAnswer(PROBLEM_NAMES, (answer) =>
    isProblem(answer.responseKind) ? withContent(answer, mediaType, text(answer.responseKind)) : answer,
  );

const IDLE_TIMEOUT = Buffer.from('HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n');

/** Serves another representation to clients that ask for it. */
const inFormat = (accept: RegExp, content: string, mediaType: string): Patch =>
  onAnswer('served', (answer, request) => {
    const varying = varyingBy(answer, 'Accept');
    if (!sending('accept', accept)(request)) return varying;
    return withField(withContent(varying, mediaType, content), 'ETag', `"${content.length}"`);
  });

export const CONTENT_VARIANTS = tableOf<Variant>(EVERY, {
  'says-that-it-was-idle': {
    summary: 'says 408 on a connection where nothing more is asked (RFC 9110 §15.5.9)',
    patch: onFinished('every', (answer) => ({ ...answer, followedBy: () => IDLE_TIMEOUT })),
  },
  'plain-json-errors': {
    summary: 'explains errors in application/json of its own shape',
    changes: ['json.media-types', 'json.error-shape', 'limits.refusal-shape', 'limits.refusal'],
    patch: explaining('application/json; charset=utf-8', (code) =>
      JSON.stringify({ error: { code, message: problemDetail(code) } }),
    ),
  },
  'bad-requests-without-a-word': {
    summary: 'has an HTTP server before it that refuses bad requests without a body (RFC 9110 §8.3)',
    patch: onAnswer(BY_THE_SERVER, (answer) => ({
      ...withoutField(answer, 'Content-Type'),
      body: Buffer.alloc(0),
    })),
  },
  'bare-array-body': {
    services: REST.services,
    summary: 'lists resources in a bare array',
    changes: ['json.success-shape'],
    undescribed: true,
    patch: onAnswer('served', (answer) => withJson(answer, (content) => content.resources ?? content)),
  },
  'text-errors': {
    setting: 'text errors',
    summary: 'explains its errors in plain text, as its documents say',
    changes: ['json.media-types'],
    patch: explaining('text/plain; charset=utf-8', problemDetail),
  },
  'links-beyond-the-interface': {
    services: REST.services,
    summary:
      'links to documentation, licence and status page, and has addresses of other services in its data',
    patch: onAnswer('served', (answer) => {
      const links = '</docs>; rel="service-doc help", </legal>; rel=license, </status>; rel=status';
      const own = fieldValues(answer, 'link');
      return withMembers(withField(answer, 'Link', [...own, links].join(', ')), {
        documentation_url: '/docs',
        _links: { license: { href: '/legal' }, help: [{ href: '/docs/help' }] },
        target: { url: 'http://collector.internal:9100/metrics', parent: '/srv/targets' },
      });
    }),
  },
  'content-with-a-counter': {
    services: REST.services,
    summary: 'has in each answer how many there were, so that none is as long as the one before',
    changes: ['json.success-shape'],
    undescribed: true,
    patch: (behavior) => {
      let count = 0;
      return onAnswer('served', (answer) =>
        withMembers(withoutField(answer, 'ETag'), { served: 'i'.repeat(++count) }),
      )(behavior);
    },
  },
  'chunked-body': {
    summary: 'sends content in chunks, without Content-Length',
    changes: ['framing.transfer'],
    patch: onFinished('served', lacking('Content-Length')),
  },
  'gzip-when-accepted': {
    summary: 'compresses for clients that accept gzip',
    changes: ['framing.transfer'],
    patch: compressing((request) => (acceptsGzip(request) ? 'gzip' : null)),
  },
  'error-shape-by-status': {
    summary: 'has another error object for each status',
    changes: ['json.error-shape', 'limits.refusal-shape'],
    patch: onAnswer(PROBLEM_NAMES, (answer) =>
      withContent(answer, 'application/json', JSON.stringify(shapeFor(answer.status))),
    ),
  },
  'json-charset-utf-8': {
    summary: 'says of JSON that it is UTF-8, which it always is',
    patch: onAnswer('served', having('Content-Type', 'application/json; charset=UTF-8')),
  },
  'vendor-json': {
    summary: 'has a JSON media type of its own',
    changes: ['json.media-types'],
    undescribed: true,
    patch: onAnswer('served', having('Content-Type', 'application/vnd.example.v1+json')),
  },
  'announces-version': {
    services: REST.services,
    summary: 'says in a field which version answers',
    changes: ['versioning.version-field'],
    patch: onAnswer('served', having('API-Version', '1.4')),
  },
  'announces-deprecation': {
    services: REST.services,
    summary: 'says since when this version is deprecated and when it ends (RFC 9745, RFC 8594)',
    changes: ['versioning.deprecation'],
    patch: onAnswer('served', (answer) =>
      withFields(answer, { Deprecation: '@1767225600', Sunset: 'Thu, 31 Dec 2026 23:59:59 GMT' }),
    ),
  },
});

const CODINGS: readonly Coding[] = ['br', 'gzip', 'deflate'];

export const NEGOTIATION_VARIANTS = tableOf<Variant>(EVERY, {
  'sends-xml': {
    services: REST.services,
    summary: 'sends XML to clients that ask for it',
    patch: inFormat(/^\w+\/xml$/, '<?xml version="1.0"?><resources/>', 'application/xml'),
  },
  'sends-csv': {
    services: REST.services,
    summary: 'sends CSV to clients that ask for it',
    patch: inFormat(/^\w+\/csv$/, 'id,name\r\n', 'text/csv'),
  },
  'sends-json-as-text': {
    services: REST.services,
    summary: 'sends its JSON as plain text to clients that ask for that',
    patch: inFormat(/^\w+\/plain$/, '{"items":[]}', 'text/plain'),
  },
  'sends-streams': {
    services: REST.services,
    summary: 'sends events to clients that ask for a stream',
    patch: inFormat(/event-stream$/, 'data: {}\n\n', 'text/event-stream'),
  },
  'sends-yaml': {
    services: REST.services,
    summary: 'sends YAML to clients that ask for it',
    patch: inFormat(/yaml$/, 'resources: []\n', 'application/yaml'),
  },
  'refuses-files-406': {
    summary: 'says 406 to clients that take nothing but a stream or YAML',
    patch: insteadOfServing(sending('accept', /(?:event-stream|yaml)$/), asProblem(406)),
  },
  'pages-for-browsers': {
    services: REST.services,
    summary: 'shows a page to clients that prefer HTML to JSON, and says that Accept decides',
    patch: paging((request) => wantOfType(request, 'text/html') > wantOfType(request, 'application/json')),
  },
  'all-codings': {
    summary: 'compresses in the coding with the largest weight',
    changes: ['framing.transfer'],
    patch: compressing((request) => {
      const wanted = CODINGS.map((coding) => ({ coding, want: wantOfCoding(request, coding) }));
      const [best] = wanted.filter(({ want }) => want > 0).sort((one, other) => other.want - one.want);
      return best?.coding ?? null;
    }),
  },
  'speaks-languages': {
    summary: 'answers in the language of the client, and says so',
    patch: speaking((wanted) => /^[a-z]{2}/.exec(wanted)?.[0] ?? 'en'),
  },
  'names-several-languages': {
    summary: 'names the languages of its readers, with script, region and variant (RFC 5646 §2.1)',
    patch: onAnswer('served', having('Content-Language', 'en, de-CH-1996, zh-Hant-TW, x-private')),
  },
  'refuses-malformed-accept': {
    summary: 'says 400 to an Accept field that it cannot read',
    patch: insteadOfServing(sending('accept', /^;/), asProblem(400)),
  },
  'refuses-other-languages': {
    summary: 'says 406 to clients that want none of its languages before all others',
    patch: insteadOfServing(sending('accept-language', /^(?!en)/), asProblem(406)),
  },
});

/** The answer with another ETag, made of its own. */
function retagged(answer: HttpAnswer, change: (tag: string) => string): HttpAnswer {
  const tag = fieldValue(answer, 'etag');
  return tag === undefined ? answer : withField(answer, 'ETag', change(tag));
}

const VALIDATED = ['served', 'not-modified'] as const;

/** How old what a cache hands out is, in s. */
const AGE = 1_900;

export const CACHING_VARIANTS = tableOf<Variant>(EVERY, {
  'weak-tags': {
    summary: 'has weak entity tags alone',
    patch: onAnswer(VALIDATED, (answer) => retagged(answer, (tag) => `W/${tag}`)),
  },
  'dates-alone': {
    summary: 'has Last-Modified and no entity tags',
    patch: together(
      onReceipt(lacking('If-None-Match', 'If-Match')),
      dated(),
      onAnswer(VALIDATED, lacking('ETag')),
    ),
  },
  'tags-and-dates': {
    summary: 'has entity tags and Last-Modified, and goes by the tag where a client sends both',
    patch: dated(),
  },
  'ignores-if-match': {
    summary: 'takes no notice of If-Match where nothing is changed',
    changes: ['caching.preconditions'],
    patch: onReceipt(lacking('If-Match')),
  },
  'tag-of-the-coding': {
    summary: 'has an entity tag of its own for what it compresses',
    changes: ['framing.transfer'],
    patch: together(
      onReceipt((request) => {
        const held = fieldValue(request, 'if-none-match');
        return held === undefined
          ? request
          : withField(request, 'If-None-Match', held.replaceAll('-gzip"', '"'));
      }),
      onAnswer('served', (answer, request) => {
        const varying = varyingBy(answer, 'Accept-Encoding');
        if (!acceptsGzip(request)) return varying;
        const compressed = { ...withField(varying, 'Content-Encoding', 'gzip'), body: gzipSync(answer.body) };
        return retagged(compressed, (tag) => tag.replace(/"$/, '-gzip"'));
      }),
    ),
  },
  'compresses-without-tags': {
    summary: 'has no entity tag for what it compresses',
    changes: ['framing.transfer'],
    patch: onAnswer('served', (answer, request) => {
      const varying = varyingBy(answer, 'Accept-Encoding');
      if (!acceptsGzip(request)) return varying;
      const plain = withoutField(varying, 'ETag');
      return { ...withField(plain, 'Content-Encoding', 'gzip'), body: gzipSync(answer.body) };
    }),
  },
  'dates-compared-exactly': {
    summary:
      'answers 304 to its own Last-Modified alone, and to no other date (If-Modified-Since may be ignored)',
    patch: dated(
      (since, request) =>
        !sending('if-none-match')(request) &&
        isSince(since) &&
        !isSince(imfFixdate(Date.parse(since) - 1_000)),
    ),
  },
  'expires-at-once': {
    summary: 'says by Expires: 0 that nothing of it stays fresh, as many frameworks do (RFC 9111 §5.3)',
    patch: onAnswer('served', having('Expires', '0')),
  },
  'expires-in-the-past': {
    summary: 'has an Expires in the past beside no-cache, for old caches',
    patch: onAnswer('served', having('Expires', 'Thu, 01 Jan 1970 00:00:00 GMT')),
  },
  'whole-for-an-open-range': {
    summary: 'answers 200 where a range covers everything',
    changes: ['status.conditions'],
    patch: ranged({ cut: (range, octets) => (range === 'bytes=0-' ? undefined : cutOf(range, octets)) }),
  },
  'cuts-long-ranges': {
    summary: 'sends only the beginning of a long range, and says so in Content-Range (RFC 9110 §15.3.7)',
    changes: ['status.conditions'],
    patch: ranged({
      cut: (range, octets) => (range === 'bytes=0-' ? [0, Math.floor(octets / 2)] : cutOf(range, octets)),
    }),
  },
  'all-ranges': {
    summary: 'serves ranges of octets from the beginning and from the end, and says what lies beyond',
    changes: ['status.conditions'],
    patch: ranged(),
  },
  '304-with-length': {
    summary: 'tells with a 304 the length that the content would have (RFC 9110 §8.6)',
    patch: (behavior) => {
      let length = '';
      return together(
        onFinished('served', (answer) => {
          if (answer.status === 200) length = fieldValue(answer, 'content-length') ?? '';
          return answer;
        }),
        onFinished('not-modified', (answer) => withField(answer, 'Content-Length', length)),
      )(behavior);
    },
  },
  'content-of-the-account': {
    services: ['search'],
    summary: 'serves each account something of its own, with an ETag of its own',
    patch: together(
      byAccount,
      withTag(({ body }) => entityTagOf(body)),
    ),
  },
  'weak-tag-for-all-accounts': {
    services: ['search'],
    summary: 'has one weak ETag for what it shows each account in its own way',
    patch: together(
      byAccount,
      withTag(
        () => 'W/"all"',
        (_, held) => held.includes('"all"'),
      ),
    ),
  },
  'behind-a-cache': {
    summary: 'hands out what a cache has kept for half an hour, and says so',
    patch: onAnswer('served', (answer, _, { clock }) =>
      withFields(answer, { Age: String(AGE), Date: imfFixdate(clock.now() - AGE * 1_000) }),
    ),
  },
});
