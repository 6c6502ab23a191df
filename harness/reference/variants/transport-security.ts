import { REST, tableOf, type Variant } from '../behavior/deviation.ts';
import { TRANSPORT_SECURITY } from '../behavior/handling.ts';
import { onFinished } from '../behavior/patches/patch.ts';
import { having } from '../http/answer-changes.ts';
import { withoutField } from '../http/message.ts';

export const TRANSPORT_SECURITY_VARIANTS = tableOf<Variant>(
  { ...REST, setting: 'over TLS' },
  {
    'transport-security-in-other-words': {
      summary:
        'writes Strict-Transport-Security in other letter case, in quotes and with directives of its own',
      patch: onFinished(
        'every',
        having(TRANSPORT_SECURITY, ' Preload;MAX-AGE = "63072000" ; includesubdomains;; x=y'),
      ),
    },
    'transport-security-of-what-it-serves': {
      summary: 'sends Strict-Transport-Security with what it serves, and not with errors',
      patch: onFinished('every', (answer) =>
        answer.responseKind === 'served' ? answer : withoutField(answer, TRANSPORT_SECURITY),
      ),
    },
  },
);
