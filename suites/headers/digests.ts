import { AS_SENT, type CheckDefinition, check, rfc } from '../../harness/engine/check/suite.ts';
import { everyExchange } from '../stimuli/record.ts';
import {
  digestFault,
  hasDigestOfContent,
  isSigned,
  weakSignedDigest,
  wrongDigestOf,
} from './stimuli/message-signature.ts';

// RFC 9530 §2 and §3: a dictionary, whose values are byte sequences.
export const digestForm = check('headers.digest-form', {
  title: 'sends a well-formed Content-Digest and Repr-Digest',
  headline: 'A digest is malformed: {got}',
  why: 'A client that wants to know whether the body is whole cannot read the digest.',
  change:
    'Write the algorithm, and the digest in base64 between colons: sha-256=:RBNvo1WzZ4oRRq0W9+hknpT7T8If536DEMBg9hyq/4o=:.',
  grounds: [rfc(9530, '2', 'MUST'), rfc(9530, '3', 'MUST')],
  uses: [everyExchange],
  judge: ({ expect }) =>
    expect()
      .where(
        ({ response }) => response.has('content-digest') || response.has('repr-digest'),
        'no response has Content-Digest or Repr-Digest',
      )
      .toConform('digests in base64 between colons', digestFault),
});

/** Digests of what is sent (RFC 9530). */
export const digests: readonly CheckDefinition[] = [
  digestForm,

  // RFC 9530 §2: it is the digest of the content as it is sent, compressed or not.
  check('headers.content-digest', {
    title: 'sends a Content-Digest that is that of the body',
    headline: 'Content-Digest is not that of the body: {got}',
    why: 'A client that compares them takes the body for damaged or forged, and drops it.',
    change: 'Compute it over the very bytes that are sent, behind compression and every change of the body.',
    grounds: [rfc(9530, '2', 'MUST')],
    uses: [everyExchange],
    judge: ({ expect }) =>
      expect()
        .where((reply) => hasDigestOfContent(reply, 'Content-Digest'), 'no body comes with a Content-Digest')
        .toConform('the digest of the body', (reply) => wrongDigestOf(reply, 'Content-Digest'), AS_SENT),
  }),

  // RFC 9530 §3: it is that of the whole representation, which a 200 to a GET has as its content.
  check('headers.repr-digest', {
    title: 'sends a Repr-Digest that is that of the whole body',
    headline: 'Repr-Digest is not that of the whole body: {got}',
    why: 'A client that has put the parts together takes the whole for damaged, and loads it again.',
    change: 'Compute it over the whole body in the coding that is sent, and anew where that changes.',
    grounds: [rfc(9530, '3', 'MUST')],
    uses: [everyExchange],
    judge: ({ expect }) =>
      expect()
        .where((reply) => hasDigestOfContent(reply, 'Repr-Digest'), 'no whole body comes with a Repr-Digest')
        .toConform('the digest of the body', (reply) => wrongDigestOf(reply, 'Repr-Digest'), AS_SENT),
  }),

  // RFC 9530 §5: deprecated algorithms are of no use against somebody who changes a message on purpose.
  check('headers.signed-digest', {
    title: 'signs no digest that can be forged',
    headline: 'A signature covers only a weak digest of the body: {got}',
    why: 'An attacker can make another body with the same digest, and the signature still holds.',
    change: 'Use sha-256 or sha-512 in Content-Digest.',
    grounds: [rfc(9530, '5', 'MUST')],
    restsOn: [digestForm],
    uses: [everyExchange],
    judge: ({ expect }) =>
      expect()
        .where(isSigned, 'no response has Signature-Input')
        .toConform('a digest of sha-256 or sha-512', weakSignedDigest),
  }),
];
