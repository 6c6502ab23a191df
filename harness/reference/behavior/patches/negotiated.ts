import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import type { Answer } from '../../http/answer.ts';
import { varyingBy, withContent } from '../../http/answer-changes.ts';
import { fieldValue, type ReceivedRequest, withField } from '../../http/message.ts';
import { onAnswer, type Patch } from './patch.ts';

/** Other representations than the plain JSON that the service has as it is. */

export type Coding = 'gzip' | 'deflate' | 'br';

type Compress = (content: Buffer) => Buffer;

const COMPRESS: Readonly<Record<Coding, Compress>> = {
  gzip: (content) => gzipSync(content),
  deflate: (content) => deflateSync(content),
  br: (content) => brotliCompressSync(content),
};

/** The answer in a content coding, with a weak entity tag: the octets are others than the plain ones. */
function compressed(answer: Answer, coding: Coding, compress: Compress = COMPRESS[coding]): Answer {
  const tag = fieldValue(answer, 'etag');
  const weak = tag === undefined || tag.startsWith('W/') ? answer : withField(answer, 'ETag', `W/${tag}`);
  return { ...withField(weak, 'Content-Encoding', coding), body: compress(answer.body) };
}

/** Compresses for those for whom a coding is chosen. */
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
export const paging = (wantsPage: (request: ReceivedRequest) => boolean, varies = true): Patch =>
  onAnswer('served', (answer, request) => {
    const varying = varies ? varyingBy(answer, 'Accept') : answer;
    if (!wantsPage(request)) return varying;
    const page = withContent(varying, 'text/html; charset=utf-8', '<!doctype html><title>Resources</title>');
    return withField(page, 'ETag', '"page"');
  });

/** Says in which language it answers. */
export const speaking = (language: (wanted: string) => string, varies = true): Patch =>
  onAnswer('served', (answer, request) => {
    const told = withField(
      answer,
      'Content-Language',
      language(fieldValue(request, 'accept-language') ?? ''),
    );
    return varies ? varyingBy(told, 'Accept-Language') : told;
  });
