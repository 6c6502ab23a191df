import { type Defect, REST, tableOf } from '../../behavior/deviation.ts';
import { TRANSPORT_SECURITY } from '../../behavior/handling.ts';
import { onFinished } from '../../behavior/patches/patch.ts';
import { having } from '../../http/answer-changes.ts';
import { withField, withoutField } from '../../http/message.ts';

/** Ways to keep browsers on TLS (RFC 6797) that do not. */
export const TRANSPORT_SECURITY_DEFECTS = tableOf<Defect>(
  { ...REST, setting: 'over TLS' },
  {
    'transport-security-without-tls-alone': {
      summary: 'sends Strict-Transport-Security over plain http, where browsers ignore it, and not over TLS',
      cause: 'Responses over TLS have no Strict-Transport-Security',
      fails: ['headers.transport-security'],
      patch: onFinished('every', (answer, _request, { overTls }) =>
        overTls
          ? withoutField(answer, TRANSPORT_SECURITY)
          : withField(answer, TRANSPORT_SECURITY, 'max-age=31536000'),
      ),
    },
    'transport-security-ended': {
      summary: 'has browsers forget that they should use TLS (RFC 6797 §6.1.1)',
      cause: 'Strict-Transport-Security says max-age=0, which switches it off',
      fails: ['headers.transport-security'],
      patch: onFinished('every', having(TRANSPORT_SECURITY, 'max-age=0; includeSubDomains')),
    },
    'transport-security-with-commas': {
      summary: 'puts commas between the directives of Strict-Transport-Security',
      cause: 'Strict-Transport-Security has commas between its directives',
      fails: ['headers.transport-security-form'],
      patch: onFinished('every', having(TRANSPORT_SECURITY, 'max-age=31536000, includeSubDomains')),
    },
    'transport-security-without-time': {
      summary: 'says in Strict-Transport-Security for which hosts, and not for how long',
      cause: 'Strict-Transport-Security has no max-age',
      fails: ['headers.transport-security-form'],
      patch: onFinished('every', having(TRANSPORT_SECURITY, 'includeSubDomains; preload')),
    },
    'transport-security-twice': {
      summary: 'sends Strict-Transport-Security twice, once of its own and once of its proxy (RFC 6797 §7.1)',
      cause: 'The header Strict-Transport-Security comes twice',
      fails: ['headers.single-fields'],
      patch: onFinished('every', (answer) => ({
        ...answer,
        fields: [...answer.fields, [TRANSPORT_SECURITY, 'max-age=600']],
      })),
    },
  },
);
