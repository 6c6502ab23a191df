import { check, suite } from '../harness/check/check.ts';
import { FRAMED } from '../harness/check/reading.ts';
import { rfc9110 } from '../harness/contract/ground.ts';
import { sample } from '../harness/probe/request/sample.ts';
import * as target from '../harness/probe/request/target.ts';
import { handles } from './unusual.ts';

/** Validators, conditional requests and ranges (RFC 9110 §13 and §14, RFC 9111). */
export const caching = suite('caching', 'Caching and conditional requests', [
  handles('caching.range', 'a Range field', target.rangeRequest, ['range-500']),

  handles('caching.conditional', 'If-None-Match', target.conditional, ['if-none-match-500']),

  // RFC 9110 §13.1.2: a GET is answered 304 while the tag it names still is that of the resource; 412 is for others.
  check(
    'caching.not-modified',
    {
      title: 'answers 304 to a client that has what it would be sent',
      grounds: [rfc9110('13.1.2', 'MUST')],
      provenBy: ['if-none-match-ignored', 'if-none-match-412'],
    },
    async ({ probe, expect, notApplicable }) => {
      const tag = (await probe(sample)).response.entityTag;
      const reply = await probe(target.conditional);
      const { status, entityTag } = reply.response;
      if (status !== 304 && status !== 412) {
        if (tag === null) return notApplicable('the documented response has no ETag');
        if (!reply.served) return notApplicable('such a request is refused');
        if (entityTag !== tag) return notApplicable('the resource has another ETag by now');
      }
      expect(reply).toConform('status 304', () => {
        if (status === 304) return null;
        return status === 412 ? 'status 412' : `status ${status} with the same ETag`;
      });
    },
  ),

  // RFC 9110 §15.4.5: a 304 has the fields that a 200 would have had and caches need.
  check(
    'caching.not-modified-fields',
    {
      title: 'repeats in a 304 what caches need of the 200',
      grounds: [rfc9110('15.4.5', 'MUST')],
      provenBy: ['not-modified-without-fields'],
    },
    async ({ probe, expect, notApplicable }) => {
      const { response: full } = await probe(sample);
      const reply = await probe(target.conditional);
      if (reply.exchange.response?.status !== 304) return notApplicable('no request was answered 304');
      const needed = ['Cache-Control', 'Content-Location', 'ETag', 'Vary'].filter((name) => full.has(name));
      expect(reply).toConform(`the ${needed.join(', ')} of the 200`, ({ response }) => {
        const lost = needed.filter((name) => !response.has(name));
        return lost.length === 0 ? null : `no ${lost.join(', no ')}`;
      });
    },
  ),

  // RFC 9110 §15.3.7: a 206 tells in Content-Range which octets of how many it has.
  check(
    'caching.partial-content',
    {
      title: 'tells of which octets it serves where it serves a range',
      grounds: [rfc9110('15.3.7', 'MUST')],
      provenBy: ['range-without-content-range'],
    },
    async ({ probe, expect, notApplicable }) => {
      const reply = await probe(target.rangeRequest);
      if (reply.exchange.response?.status !== 206) return notApplicable('ranges are not served');
      expect(reply).toConform(
        'the range of the octets in Content-Range',
        ({ response }) => response.partialFault,
        FRAMED,
      );
    },
  ),
]);
