import { isLatin1 } from '../octets/utf8.ts';

/**
 * The octet sequences that give a secret away wherever they stand. Escaped spellings (percent, JSON, HTML) are not
 * among them: text is searched decoded as well (`octet-view.ts`), so that every mixture of escapes is met.
 */
export interface SecretForm {
  readonly octets: Uint8Array;
  /** The form means the same in either letter case (hexadecimal digits). */
  readonly caseless: boolean;
  /** Base64 only: one more character on this side carries some bits of the secret. */
  readonly sharesBefore: boolean;
  readonly sharesAfter: boolean;
}

/**
 * Every form of a value: as it is and reversed, each in base64 and base64url (at each of the three alignments that
 * it can have inside a longer text, and that reversed too) and in hexadecimal; and in UTF-16.
 */
export function formsOf(value: string): readonly SecretForm[] {
  const plain = [...spellings(value), ...reversals(value)];
  const forms = [
    ...plain.map(verbatim),
    ...[...plain, ...escapedSpellings(value)].flatMap(base64Forms),
    ...plain.map((octets) => ({ ...verbatim(Buffer.from(octets.toString('hex'))), caseless: true })),
    verbatim(Buffer.from(value, 'utf16le')),
    verbatim(Buffer.from(value, 'utf16le').swap16()),
  ];
  const distinct = new Map<string, SecretForm>();
  for (const form of forms) {
    const key = Buffer.from(form.octets).toString('latin1');
    if (!distinct.has(key)) distinct.set(key, form);
  }
  return [...distinct.values()];
}

function verbatim(octets: Uint8Array): SecretForm {
  return { octets, caseless: false, sharesBefore: false, sharesAfter: false };
}

function spellings(value: string): readonly Buffer[] {
  const utf8 = Buffer.from(value);
  const spelled = [utf8];
  // Field values lose their outer white space on the way, and forms write `+` for a space.
  if (value.trim().length >= 6) spelled.push(Buffer.from(value.trim()));
  if (value.includes(' ')) spelled.push(Buffer.from(value.replaceAll(' ', '+')));
  if (utf8.length !== value.length) {
    // Latin-1 on the wire, and UTF-8 octets that someone took for Latin-1 and encoded again.
    if (isLatin1(value)) spelled.push(Buffer.from(value, 'latin1'));
    spelled.push(Buffer.from(utf8.toString('latin1')));
  }
  return spelled;
}

/** Spellings that may have been encoded in base64 as a whole, where no decoding of ours looks. */
function escapedSpellings(value: string): readonly Buffer[] {
  const percent = percentEncoded(value);
  return [JSON.stringify(value).slice(1, -1), percent, percent.replaceAll('%20', '+')]
    .filter((spelling) => spelling !== value)
    .map((spelling) => Buffer.from(spelling));
}

function reversals(value: string): readonly Buffer[] {
  return [reversed(value), reversed(percentEncoded(value))].map((text) => Buffer.from(text));
}

function reversed(text: string): string {
  return Array.from(text).reverse().join('');
}

function percentEncoded(value: string): string {
  return encodeURIComponent(value.toWellFormed());
}

/** RFC 4648 §4 and §5, at the three alignments: only the characters that the secret alone determines. */
function base64Forms(octets: Buffer): readonly SecretForm[] {
  return [0, 1, 2].flatMap((before) => {
    const text = Buffer.concat([Buffer.alloc(before), octets]).toString('base64');
    const firstBit = before * 8;
    const lastBit = (before + octets.length) * 8;
    const core = text.slice(Math.ceil(firstBit / 6), Math.floor(lastBit / 6));
    const form = {
      octets: Buffer.from(core),
      caseless: false,
      sharesBefore: firstBit % 6 !== 0,
      sharesAfter: lastBit % 6 !== 0,
    };
    const urlSafe = core.replaceAll('+', '-').replaceAll('/', '_');
    const turned = { ...form, sharesBefore: form.sharesAfter, sharesAfter: form.sharesBefore };
    return [
      form,
      { ...form, octets: Buffer.from(urlSafe) },
      ...[core, urlSafe, encodeURIComponent(core)].map((text) => ({
        ...turned,
        octets: Buffer.from(reversed(text)),
      })),
    ];
  });
}
