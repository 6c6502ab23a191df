import { AS_SENT, check, observation, rfc, when } from '../../harness/engine/check/suite.ts';
import { everyExchange } from '../stimuli/record.ts';
import { sample } from '../stimuli/sample.ts';
import {
  coverage,
  digestFault,
  hasDigestOfContent,
  IN_SIGNATURES,
  isSigned,
  missingComponent,
  plainReplies,
  signatureFault,
  timeFault,
  verdicts,
  weakSignedDigest,
  wishFault,
  wrongDigestOf,
} from './stimuli/message-signature.ts';

const UNSIGNED = 'no response has Signature-Input';

// RFC 9421 §4: two dictionaries with the same labels; what is covered, and the signature of it.
const form = check('headers.signature-form', {
  title: 'sends well-formed signatures',
  headline: 'A signature of a response is malformed: {got}',
  why: 'No client can verify it, and whoever insists on signatures drops the response.',
  change: 'Let a library for RFC 9421 write Signature-Input and Signature.',
  grounds: [rfc(9421, '4.1', 'MUST'), rfc(9421, '4.2', 'MUST'), rfc(9421, '2', 'MUST')],
  uses: [everyExchange],
  judge: ({ expect }) =>
    expect().where(isSigned, UNSIGNED).toConform('signatures by RFC 9421', signatureFault, IN_SIGNATURES),
});

// RFC 9421 §2.5: where a component is not in the message, there is nothing that could be verified.
const components = check('headers.signature-components', {
  title: 'sends what its signatures cover',
  headline: 'A signature covers what the response does not have: {got}',
  why: 'A client cannot put together what was signed, so the signature never holds.',
  change: 'Sign last, and only headers that are there; see that no proxy takes any of them away.',
  grounds: [rfc(9421, '2.5', 'MUST')],
  uses: [plainReplies],
  judge: ({ expect }) =>
    expect().where(isSigned, UNSIGNED).toConform('all that is covered', missingComponent, IN_SIGNATURES),
});

/** Signatures of responses (RFC 9421), where a service has them. */
export const messageSignatures = [
  form,
  components,

  // RFC 9421 §2.3: created is when it was made, and expires until when it is to be accepted.
  check('headers.signature-time', {
    title: 'sends signatures that are valid when they come',
    headline: 'A signature is not valid when the response comes: {got}',
    why: 'A client refuses a signature that has expired, or that is made in the future.',
    change: 'Sign each response anew, with times in seconds since 1970 and not in milliseconds.',
    grounds: [rfc(9421, '2.3', 'SHOULD')],
    uses: [everyExchange],
    judge: ({ expect }) =>
      expect()
        .where(isSigned, UNSIGNED)
        .toConform('signatures of the time of the response', timeFault, IN_SIGNATURES),
  }),

  // RFC 9421 §3.2: put together anew from what has come, it is what was signed.
  check('headers.signature-valid', {
    title: 'signs what it serves with its key',
    headline: 'A response has no valid signature: {got}',
    why: 'A client that verifies responses drops this one, as if somebody had forged it.',
    change: 'Sign last, with the published key, exactly what is sent; see that no proxy changes it then.',
    grounds: [rfc(9421, '3.2', 'MUST')],
    applies: [
      when(({ signatures }) => signatures, 'no key is configured by which it could be verified (signatures)'),
    ],
    restsOn: [form, components],
    uses: [verdicts, plainReplies],
    async judge({ probe, expect, blocked }) {
      const found = await probe(verdicts);
      await expect(plainReplies).toConform(
        'a valid signature',
        (reply) => {
          const verdict = found.get(reply);
          return verdict?.is === 'invalid' ? verdict.got : null;
        },
        IN_SIGNATURES,
      );
      for (const [reply, verdict] of found) {
        if (verdict.is !== 'untold') continue;
        blocked(`the signature of ${reply.to} cannot be verified: ${verdict.why}`);
      }
    },
  }),

  // RFC 9421 §5.1: what is asked for in a request has the form of what is signed then.
  check('headers.accept-signature-form', {
    title: 'asks for signatures in the form of RFC 9421',
    headline: 'Accept-Signature is malformed: {got}',
    why: 'A client cannot sign its requests as the service wants it.',
    change:
      'Write a list of what to cover, and parameters: sig1=("@method" "@target-uri");created;keyid="a".',
    grounds: [rfc(9421, '5.1', 'MUST')],
    uses: [everyExchange],
    judge: ({ expect }) =>
      expect()
        .where(({ response }) => response.has('accept-signature'), 'no response has Accept-Signature')
        .toConform('a request for signatures by RFC 9421', wishFault),
  }),

  // RFC 9421 §1.4: what has to be covered each application says by itself.
  observation('headers.signature-coverage', {
    title: 'signs these parts of the documented response',
    why: 'What a signature does not cover can be changed by anyone between the service and the client.',
    grounds: [rfc(9421, '1.4', 'MAY')],
    restsOn: [form],
    uses: [sample],
    async observe({ probe, notApplicable }) {
      const reply = await probe(sample);
      if (!isSigned(reply)) notApplicable('the documented response has no Signature-Input');
      const seen = coverage(reply);
      return { seen, note: seen.map(({ label, covers }) => `${label}: ${covers.join(' ')}`).join('; ') };
    },
  }),
];

// RFC 9530 §2 and §3: a dictionary, whose values are byte sequences.
const digestForm = check('headers.digest-form', {
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
export const digests = [
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

  // RFC 9530 §5: deprecated algorithms are of no use against an attacker who changes a message.
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
        .toConform('a digest of sha-256 or sha-512', weakSignedDigest, IN_SIGNATURES),
  }),
];
