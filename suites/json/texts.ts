import { type CheckDefinition, check, observation } from '../../harness/check/check.ts';
import { IN_CONTENT, IN_JSON, type Reading } from '../../harness/check/reading.ts';
import { clause, type Ground, rfc8259 } from '../../harness/contract/ground.ts';
import type { JsonCautionKind, JsonFaultKind } from '../../harness/evidence/json/text.ts';
import { errorReplies, jsonReplies, successReplies } from '../../harness/probe/gathered.ts';

/** JSON by RFC 8259, octet by octet. */
export const texts: readonly CheckDefinition[] = [
  check(
    'json.body-present',
    {
      title: 'sends content where a JSON body is promised',
      grounds: [clause('endpoint.sample'), clause('responses.format')],
      provenBy: ['json-empty-body'],
    },
    async ({ probe, expect }) => {
      expect(...(await probe(successReplies))).toConform('a JSON body', ({ response }) =>
        response.bodyLength > 0 ? null : 'no content',
      );
    },
  ),

  check(
    'json.error-body-present',
    {
      title: 'explains its errors in a JSON body',
      grounds: [clause('errors.format')],
      provenBy: ['errors-are-empty'],
    },
    async ({ probe, expect }) => {
      expect(...(await probe(errorReplies))).toConform('a JSON body', ({ response }) =>
        response.bodyLength > 0 ? null : `status ${response.status} without content`,
      );
    },
  ),

  wellFormed('json.utf8', 'is valid UTF-8', rfc8259('8.1', 'MUST'), 'invalid-utf8', ['json-invalid-utf8']),
  wellFormed('json.no-bom', 'begins without a byte order mark', rfc8259('8.1', 'MUST'), 'byte-order-mark', [
    'json-bom',
  ]),
  wellFormed('json.one-text', 'is one JSON text and nothing else', rfc8259('2', 'MUST'), 'trailing-content', [
    'json-trailing-bytes',
  ]),
  wellFormed('json.syntax', 'keeps the JSON grammar', rfc8259('2', 'MUST'), 'syntax', ['json-truncated']),
  wellFormed('json.numbers', 'has neither NaN nor Infinity', rfc8259('6', 'MUST'), 'number', ['json-nan']),
  wellFormed(
    'json.unique-names',
    'names each member of an object once',
    rfc8259('4', 'SHOULD'),
    'duplicate-name',
    ['json-duplicate-keys'],
    IN_JSON,
  ),

  observation(
    'json.big-integers',
    {
      title: 'sends integers that doubles cannot hold',
      grounds: [rfc8259('6', 'MAY')],
      shownBy: ['json-big-integer'],
    },
    async ({ probe, expect, observe, note }) => {
      const replies = await probe(jsonReplies);
      const found = replies.some(({ response }) =>
        response.json.cautions.some(({ kind }) => kind === 'big-integer'),
      );
      if (!found && replies.length > 0) expect(...replies).toConform('an integer', () => null, IN_CONTENT);
      observe('json.big-integers', found);
      note(found ? 'integers beyond 2^53 are seen' : 'none are seen');
    },
  ),
];

/** One check per way in which a JSON text can be ill-formed, over everything that calls itself JSON. */
function wellFormed(
  id: string,
  conduct: string,
  ground: Ground,
  kind: JsonFaultKind | JsonCautionKind,
  provenBy: readonly [string, ...string[]],
  reading: Reading = IN_CONTENT,
): CheckDefinition {
  return check(
    id,
    { title: `sends JSON that ${conduct}`, grounds: [ground], provenBy },
    async ({ probe, expect }) => {
      expect(...(await probe(jsonReplies))).toConform(
        `JSON that ${conduct}`,
        ({ response }) =>
          [...response.json.faults, ...response.json.cautions].find((remark) => remark.kind === kind)
            ?.message ?? null,
        reading,
      );
    },
  );
}
