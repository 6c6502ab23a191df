import { gzipSync } from 'node:zlib';
import { imfFixdate } from '../behavior/clock.ts';
import { EVERY, tableOf, type Variant } from '../behavior/deviation.ts';
import { byAccount } from '../behavior/patches/items.ts';
import { onAnswer, onFinished, onReceipt, together } from '../behavior/patches/patch.ts';
import { acceptsGzip, dated, ranged, withTag } from '../behavior/patches/representations.ts';
import { entityTagOf } from '../behavior/preconditions.ts';
import type { Answer } from '../http/answer.ts';
import { lacking, varyingBy } from '../http/answer-changes.ts';
import { fieldValue, withField, withoutField } from '../http/message.ts';

/** The answer with another tag in place of its own, made of that. */
function retagged(answer: Answer, change: (tag: string) => string): Answer {
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
      onReceipt((request) => withoutField(withoutField(request, 'If-None-Match'), 'If-Match')),
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
    patch: onReceipt((request) => withoutField(request, 'If-Match')),
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
      withField(withField(answer, 'Age', String(AGE)), 'Date', imfFixdate(clock.now() - AGE * 1_000)),
    ),
  },
});
