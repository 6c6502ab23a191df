import { EVERY, REST, tableOf, type Variant } from '../behavior/deviation.ts';
import { insteadOfServing, onAnswer } from '../behavior/patches/patch.ts';
import {
  type Coding,
  compressing,
  paging,
  speaking,
  wantOfCoding,
  wantOfType,
} from '../behavior/patches/representations.ts';
import { asProblem, having } from '../http/answer-changes.ts';
import { fieldValue } from '../http/message.ts';

const CODINGS: readonly Coding[] = ['br', 'gzip', 'deflate'];

export const NEGOTIATION_VARIANTS = tableOf<Variant>(EVERY, {
  'pages-for-browsers': {
    services: REST.services,
    summary: 'shows a page to clients that prefer HTML to JSON, and says that Accept decides',
    patch: paging((request) => wantOfType(request, 'text/html') > wantOfType(request, 'application/json')),
  },
  'all-codings': {
    summary: 'compresses in the coding with the largest weight',
    changes: ['framing.transfer'],
    patch: compressing((request) => {
      const wanted = CODINGS.map((coding) => ({ coding, want: wantOfCoding(request, coding) }));
      const [best] = wanted.filter(({ want }) => want > 0).sort((one, other) => other.want - one.want);
      return best?.coding ?? null;
    }),
  },
  'speaks-languages': {
    summary: 'answers in the language of the client, and says so',
    patch: speaking((wanted) => /^[a-z]{2}/.exec(wanted)?.[0] ?? 'en'),
  },
  'names-several-languages': {
    summary: 'names the languages of its readers, with script, region and variant (RFC 5646 §2.1)',
    patch: onAnswer('served', having('Content-Language', 'en, de-CH-1996, zh-Hant-TW, x-private')),
  },
  'refuses-malformed-accept': {
    summary: 'says 400 to an Accept field that it cannot read',
    patch: insteadOfServing((request) => /^;|,,/.test(fieldValue(request, 'accept') ?? ''), asProblem(400)),
  },
  'refuses-other-languages': {
    summary: 'says 406 to clients that want none of its languages before all others',
    patch: insteadOfServing(
      (request) => /^(?!en)/.test(fieldValue(request, 'accept-language') ?? 'en'),
      asProblem(406),
    ),
  },
});
