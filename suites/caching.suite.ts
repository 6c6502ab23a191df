import { check, FRAMED, rfc9110, suite } from '../harness/check/suite.ts';
import { sample } from '../harness/probe/request/sample.ts';
import * as target from '../harness/probe/request/target.ts';
import { handles } from './status/unusual.ts';

/** Validators, conditional requests and ranges (RFC 9110 §13 and §14, RFC 9111). */
export const caching = suite('caching', 'Caching and conditional requests', [
  // RFC 9110 §14.2: a server may ignore Range; §13.1.2 says what becomes of If-None-Match. Neither is a reason to fail.
  handles({
    id: 'caching.range',
    what: 'a Range header',
    why: 'Download tools and media players ask for ranges.',
    change: 'Ignore Range, or answer 206 or 416.',
    probe: target.rangeRequest,
  }),
  handles({
    id: 'caching.conditional',
    what: 'an If-None-Match header',
    why: 'Every browser and cache sends it for what it already has.',
    change: 'Compare it with the ETag and answer 304 or 200. Ignore it where there is no ETag.',
    probe: target.conditional,
  }),

  // RFC 9110 §13.1.2: a GET is answered 304 while the tag it names still is that of the resource; 412 is for others.
  check('caching.not-modified', {
    title: 'answers 304 to a client that already has the current version',
    headline: 'A client that has the current version gets {answer}',
    why: 'The whole body is sent again each time, although nothing has changed.',
    change: 'Compare If-None-Match with the ETag, and answer 304 without a body when they match.',
    grounds: [rfc9110('13.1.2', 'MUST')],
    async judge({ probe, expect, notApplicable }) {
      const tag = (await probe(sample)).response.entityTag;
      const { served, response } = await probe(target.conditional);
      if (response.status !== 304 && response.status !== 412) {
        if (tag === null) notApplicable('the documented response has no ETag');
        if (!served) notApplicable('such a request is refused');
        if (response.entityTag !== tag) notApplicable('the ETag has changed in between');
      }
      await expect(target.conditional).toConform('status 304', ({ status }) => {
        if (status === 304) return null;
        return status === 412 ? 'status 412' : `status ${status} with the same ETag`;
      });
    },
  }),

  // RFC 9110 §15.4.5: a 304 has the fields that a 200 would have had and caches need.
  check('caching.not-modified-fields', {
    title: 'repeats in a 304 the headers that caches need',
    headline: 'A 304 lacks headers of the 200: {got}',
    why: 'A cache no longer knows how long it may keep its copy.',
    change: 'Send Cache-Control, Content-Location, ETag and Vary with 304 as with 200.',
    grounds: [rfc9110('15.4.5', 'MUST')],
    async judge({ probe, expect }) {
      const { response: full } = await probe(sample);
      const needed = ['Cache-Control', 'Content-Location', 'ETag', 'Vary'].filter((name) => full.has(name));
      await expect(target.conditional)
        .where(({ status }) => status === 304, 'no request was answered 304')
        .toConform(`the ${needed.join(', ')} of the 200`, ({ response }) => {
          const lost = needed.filter((name) => !response.has(name));
          return lost.length === 0 ? null : `no ${lost.join(', no ')}`;
        });
    },
  }),

  // RFC 9110 §15.3.7: a 206 tells in Content-Range which octets of how many it has.
  check('caching.partial-content', {
    title: 'says which bytes it sends when it sends a range',
    headline: 'A 206 does not say rightly which bytes it has: {got}',
    why: 'The client puts the parts together wrongly, or not at all.',
    change: 'Send Content-Range with every 206, for example: bytes 0-99/1234.',
    grounds: [rfc9110('15.3.7', 'MUST')],
    judge: ({ expect }) =>
      expect(target.rangeRequest)
        .where(({ status }) => status === 206, 'ranges are not served')
        .toConform(
          'the range of the octets in Content-Range',
          ({ response }) => response.partialFault,
          FRAMED,
        ),
  }),
]);
