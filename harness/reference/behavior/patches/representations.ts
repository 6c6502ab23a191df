import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { readHttpDate } from '../../../wire/fields/grammar/http-date.ts';
import type { HttpAnswer } from '../../http/answer.ts';
import { lacking, varyingBy, withContent } from '../../http/answer-changes.ts';
import {
  fieldValue,
  listMembers,
  type ReceivedRequest,
  type RequestCondition,
  sending,
  withField,
} from '../../http/message.ts';
import type { Kernel } from '../behavior.ts';
import { imfFixdate } from '../clock.ts';
import { notModified } from '../preconditions.ts';
import { onAnswer, onReceipt, type Patch, together } from './patch.ts';

interface Weighed {
  readonly name: string;
  /** From 0 to 1 (RFC 9110 §12.4.2). */
  readonly weight: number;
}

/** The members of an Accept field, each with its weight. */
function weighed(request: ReceivedRequest, field: string): readonly Weighed[] {
  return listMembers(request, field).map((member) => {
    const [name = '', ...parameters] = member.split(';').map((part) => part.trim());
    const weight = parameters.find((parameter) => /^q=[01](\.\d*)?$/.test(parameter));
    return { name, weight: weight === undefined ? 1 : Number(weight.slice(2)) };
  });
}

/** The weight of the most specific of the names that is mentioned; null when none is mentioned. */
function weightOf(members: readonly Weighed[], names: readonly string[]): number | null {
  for (const name of names) {
    const member = members.find((candidate) => candidate.name === name);
    if (member !== undefined) return member.weight;
  }
  return null;
}

/** How much the client wants a media type (RFC 9110 §12.5.1); without an Accept field all are wanted alike. */
export function wantOfType(request: ReceivedRequest, type: string): number {
  const members = weighed(request, 'accept');
  const range = type.replace(/\/.*/, '/*');
  return members.length === 0 ? 1 : (weightOf(members, [type, range, '*/*']) ?? 0);
}

export function acceptsJson(request: ReceivedRequest): boolean {
  return wantOfType(request, 'application/json') > 0;
}

/** How much the client wants a content coding (RFC 9110 §12.5.3); without an Accept-Encoding field none is assumed. */
export function wantOfCoding(request: ReceivedRequest, coding: string): number {
  return weightOf(weighed(request, 'accept-encoding'), [coding, '*']) ?? 0;
}

export function acceptsGzip(request: ReceivedRequest): boolean {
  return wantOfCoding(request, 'gzip') > 0;
}

/** Other representations than the plain JSON that the service has as it is. */

export type Coding = 'gzip' | 'deflate' | 'br';

type Compress = (content: Buffer) => Buffer;

const COMPRESS: Readonly<Record<Coding, Compress>> = {
  gzip: (content) => gzipSync(content),
  deflate: (content) => deflateSync(content),
  br: (content) => brotliCompressSync(content),
};

/** The answer in a content coding, with a weak entity tag: the octets are others than the plain ones. */
function compressed(answer: HttpAnswer, coding: Coding, compress: Compress = COMPRESS[coding]): HttpAnswer {
  const tag = fieldValue(answer, 'etag');
  const weak = tag === undefined || tag.startsWith('W/') ? answer : withField(answer, 'ETag', `W/${tag}`);
  return { ...withField(weak, 'Content-Encoding', coding), body: compress(answer.body) };
}

export const compressing = (
  choose: (request: ReceivedRequest) => Coding | null,
  compress?: Compress,
): Patch =>
  onAnswer('served', (answer, request) => {
    const varying = varyingBy(answer, 'Accept-Encoding');
    const coding = choose(request);
    return coding === null ? varying : compressed(varying, coding, compress);
  });

/** Shows a page in place of JSON to those who want one. */
export const paging = (wantsPage: RequestCondition, varies = true): Patch =>
  onAnswer('served', (answer, request) => {
    const varying = varies ? varyingBy(answer, 'Accept') : answer;
    if (!wantsPage(request)) return varying;
    const page = withContent(varying, 'text/html; charset=utf-8', '<!doctype html><title>Resources</title>');
    return withField(page, 'ETag', '"page"');
  });

export const speaking = (language: (wanted: string) => string, varies = true): Patch =>
  onAnswer('served', (answer, request) => {
    const chosen = language(fieldValue(request, 'accept-language') ?? '');
    const labelled = withField(answer, 'Content-Language', chosen);
    return varies ? varyingBy(labelled, 'Accept-Language') : labelled;
  });

/** Validators and ranges beyond those of the service as it is. */

/** When everything was last changed, in ms since the epoch. A day of one digit, so that its forms differ. */
const CHANGED_MS = Date.UTC(2025, 10, 3, 4, 5, 6);
export const CHANGED = imfFixdate(CHANGED_MS);

/** Sends this ETag instead, and answers 304 if it `holds`; ignores If-Match. */
export const withTag = (
  tag: (answer: HttpAnswer, request: ReceivedRequest, kernel: Kernel) => string,
  holds: (own: string, held: string) => boolean = (own, held) => held.includes(own),
): Patch =>
  together(
    onReceipt(lacking('If-Match')),
    onAnswer('served', (answer, request, kernel) => {
      const own = tag(answer, request, kernel);
      const tagged = withField(answer, 'ETag', own);
      const held = fieldValue(request, 'if-none-match');
      return held !== undefined && holds(own, held) ? notModified(tagged) : tagged;
    }),
  );

export const isSince = (since: string): boolean => {
  const date = readHttpDate(since, new Date(CHANGED_MS));
  return date.kind === 'date' && Number(date.at) >= CHANGED_MS;
};

/** RFC 9110 §13.1.3 */
const sparesContent = (since: string, request: ReceivedRequest): boolean =>
  !sending('if-none-match')(request) && isSince(since);

/** Sends Last-Modified, and answers 304 to an If-Modified-Since that `spares` the client the content. */
export const dated = (spares = sparesContent): Patch =>
  onAnswer(['served', 'not-modified'], (answer, request) => {
    const stamped = withField(answer, 'Last-Modified', CHANGED);
    const since = fieldValue(request, 'if-modified-since');
    return answer.responseKind === 'served' && since !== undefined && spares(since, request)
      ? notModified(stamped)
      : stamped;
  });

/** Octets of the whole, both ends included; null where the range does not begin within it. */
type Cut = readonly [first: number, last: number] | null;

/** Of `bytes=0-1`, `bytes=5-` or `bytes=-2`; undefined for whatever else a Range field holds (RFC 9110 §14.1.2). */
export function cutOf(range: string, octets: number): Cut | undefined {
  const [whole, first = '', last = ''] = /^bytes=(\d{0,9})-(\d{0,9})$/.exec(range) ?? [];
  if (whole === undefined || first + last === '') return undefined;
  if (first === '') return [Math.max(0, octets - Number(last)), octets - 1];
  if (Number(first) >= octets) return null;
  return [Number(first), last === '' ? octets - 1 : Math.min(Number(last), octets - 1)];
}

interface RangeRules {
  readonly cut: typeof cutOf;
  /** The octets of a cut. */
  readonly part: (content: Buffer, first: number, last: number) => Buffer;
  /** What Content-Range says of it. */
  readonly contentRange: (first: number, last: number, octets: number) => string;
  readonly unsatisfied: (answer: HttpAnswer) => HttpAnswer;
  /** Whether If-Range lets a range be served. */
  readonly isSame: (ifRange: string, answer: HttpAnswer) => boolean;
}

const RANGE_RULES: RangeRules = {
  cut: cutOf,
  part: (content, first, last) => content.subarray(first, last + 1),
  contentRange: (first, last, octets) => `bytes ${first}-${last}/${octets}`,
  unsatisfied: (answer) => ({
    ...withField(answer, 'Content-Range', `bytes */${answer.body.length}`),
    status: 416,
    body: Buffer.alloc(0),
  }),
  isSame: (ifRange, answer) => ifRange === fieldValue(answer, 'etag'),
};

/** Serves ranges of octets (RFC 9110 §14), by these rules unless given others. */
export const ranged = (changed: Partial<RangeRules> = {}): Patch =>
  onAnswer('served', (answer, request) => {
    const rules = { ...RANGE_RULES, ...changed };
    const { length } = answer.body;
    const offered = withField(answer, 'Accept-Ranges', 'bytes');
    const range = fieldValue(request, 'range');
    const condition = fieldValue(request, 'if-range');
    if (range === undefined || (condition !== undefined && !rules.isSame(condition, answer))) return offered;
    const cut = rules.cut(range, length);
    if (cut === undefined) return offered;
    if (cut === null) return rules.unsatisfied(offered);
    const [first, last] = cut;
    return {
      ...withField(offered, 'Content-Range', rules.contentRange(first, last, length)),
      status: 206,
      body: rules.part(answer.body, first, last),
    };
  });
