import {
  check,
  credentialInField,
  given,
  IN_CONTENT,
  rfc9110,
  secondKey,
} from '../../harness/engine/check/suite.ts';
import { secondKeyServed } from '../auth/bad-credentials.ts';
import { secondKeySample } from '../auth/stimuli/credential.ts';
import { sample, sampleAgain, samplesInARow } from '../stimuli/sample.ts';
import { otherTag } from './conditions.ts';
import * as validator from './stimuli/validator.ts';
import { TAG_CHANGED } from './validators.ts';

/** Validators of an address at which each account finds something of its own. */
export const accounts = given(
  [secondKey, credentialInField],
  [
    // RFC 9110 §8.8.3: what a strong tag does not tell apart is the same, octet by octet.
    check('caching.etag-per-account', {
      title: 'gives what each account sees a strong ETag of its own, or a weak one',
      headline: 'Two accounts see other content under the same strong ETag: {got}',
      why: 'One account is told that its copy is current, when it is the copy of another account.',
      change: 'Make the ETag from what the account gets, or mark it as weak: W/"abc".',
      grounds: [rfc9110('8.8.3', 'MUST')],
      restsOn: [secondKeyServed],
      uses: [sample, samplesInARow, secondKeySample],
      async judge({ probe, expect, notApplicable }) {
        const mine = await probe(sample);
        const again = await probe(samplesInARow);
        if (!again.every((each) => each.served && mine.sharesStrongTagWith(each)))
          notApplicable('no strong ETag came each time');
        if (!again.every((each) => mine.hasSameContentAs(each)))
          notApplicable('the content is another each time');
        await expect(secondKeySample)
          .where((other) => other.served && other.hasSameCodingAs(mine))
          .toConform(
            'the same content, or another ETag',
            (other) =>
              mine.sharesStrongTagWith(other) && !mine.hasSameContentAs(other)
                ? `other content with ETag ${other.response.entityTag}`
                : null,
            IN_CONTENT,
          );
      },
    }),

    // RFC 9110 §13.1.2: the tag is compared with that of what this client would get.
    check('caching.tag-of-another-account', {
      title: 'sends its own content to an account that names the ETag of another account',
      headline: 'An account that names the ETag of another account gets {answer}',
      why: 'A client goes on showing one account the content of another.',
      change: 'Compare If-None-Match with the ETag of what this account would get.',
      grounds: [rfc9110('13.1.2', 'MUST')],
      restsOn: [secondKeyServed, otherTag],
      uses: [sample, sampleAgain, validator.tagOfAnother, validator.secondKeyAfter],
      async judge({ probe, expect, notApplicable }) {
        const [mine, again] = [await probe(sample), await probe(sampleAgain)];
        if (!again.served || mine.response.entityTag !== again.response.entityTag)
          notApplicable('no ETag came twice');
        if ((await probe(validator.tagOfAnother)).status === 304) {
          const { entityTag } = (await probe(validator.secondKeyAfter)).response;
          if (
            entityTag === null ||
            validator.opaque(entityTag) === validator.opaque(mine.response.entityTag ?? '')
          )
            notApplicable(TAG_CHANGED);
        }
        await expect(validator.tagOfAnother).toConform(
          'what this account gets, or a refusal',
          ({ status }) => (status === 304 ? 'status 304' : null),
        );
      },
    }),
  ],
);
