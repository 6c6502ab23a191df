import { revealed } from '../../base/secret.ts';
import { isToken } from '../../wire/fields/grammar/field-grammar.ts';
import type { FixedHeader } from '../../wire/request.ts';
import { type CredentialsBlock, FRAMING_FIELDS } from '../credential/schemes.ts';
import type { Draft } from '../draft/draft.ts';
import { LEAST_CHARACTERS, readSecretText } from '../draft/secret.ts';
import { named, text } from '../shape/kinds.ts';
import type { Loaded } from '../shape/loaded.ts';

export const HEADERS = named(
  `Headers that are sent with every request to the service and with each WebSocket handshake, also those without a credential: for example for a gateway in front of it. A User-Agent disguises the run: its own and X-Conform-Run are not sent then, so that the service cannot tell who asks. Values read through \${env:NAME}, \${file:PATH} or \${exec:COMMAND} count as secrets.`,
  {
    names: { pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$", expected: 'the name of a header' },
    expected: 'a mapping such as { X-Tenant: acme }',
    examples: [{ 'X-Tenant': 'acme', 'X-Gateway-Key': `\${env:GATEWAY_KEY}` }],
    nullable: true,
    def: 'headers',
  },
  text('Value of the header.', { references: 'secret', mayBeEmpty: true, def: 'headerValue' }),
);

/** Fields that checks set, leave out or vary: one that is always there would change what they find. */
const OF_CHECKS = /^(?:accept|accept-.*|authorization|if-.*|origin|range|sec-websocket-.*|x-conform-run)$/i;

/** @throws UsageError for a name that is not free, or a value that no header can carry. */
export async function buildHeaders(
  draft: Draft,
  written: Loaded<typeof HEADERS> | undefined,
  credentials: CredentialsBlock | undefined,
): Promise<readonly FixedHeader[]> {
  return draft.faults.each(written, async (name, value) => {
    const key = `headers.${name}`;
    const fault = draft.faultFor(key);
    if (!isToken(name)) throw fault('cannot be the name of a header', 'use letters, digits and hyphens');
    const isKey = credentials?.name?.toLowerCase() === name.toLowerCase();
    if (isKey || /^authorization$/i.test(name)) {
      const remedy = 'write it below `credentials:`; scheme `header` takes any name, Authorization too';
      throw fault('is where a credential goes, which checks leave out and change', remedy);
    }
    if (OF_CHECKS.test(name) || FRAMING_FIELDS.test(name))
      throw fault('is a header that the checks set themselves', 'leave it out');
    const read = await readSecretText(draft, key, String(value));
    const carried = revealed(read);
    if (/[^\x20-\x7e\x80-\xff]/.test(carried))
      throw fault('holds a line break or another character that no header can carry', 'correct it');
    if (carried === '' || carried !== carried.trim())
      throw fault(carried === '' ? 'is empty' : 'begins or ends with white space', 'correct it');
    for (const piece of read) {
      if (typeof piece === 'string' || piece.reveal().length >= LEAST_CHARACTERS) continue;
      throw fault(
        `the secret is shorter than ${LEAST_CHARACTERS} characters`,
        'use a longer one, or write the value here if it is no secret: so short a text cannot be kept out of reports',
      );
    }
    return read;
  });
}
