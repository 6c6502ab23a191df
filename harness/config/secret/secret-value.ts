import { Secret } from '../../credential/secret.ts';
import type { Draft } from '../draft.ts';
import { describeReference, type Reference, resolveReference, splitReferences } from '../yaml/reference.ts';

interface SecretOptions {
  /** Example secrets may stand in the file: nothing sent leaves this machine. */
  readonly literalAllowed: boolean;
  /** Without it the service can be exercised all the same. */
  readonly optional: boolean;
}

/** Shorter ones would be found, and removed, all over the evidence. */
export const LEAST_CHARACTERS = 8;
/** What any exchange holds: cut out as a secret, the evidence could no longer be judged. In lower case. */
const PROTOCOL_TEXT = [
  'application/json application/problem+json; charset=utf-8',
  'authorization www-authenticate location connection keep-alive transfer-encoding chunked websocket',
  'cache-control no-store content-type content-length content-encoding retry-after ratelimit-policy',
  'x-ratelimit-limit x-ratelimit-remaining x-ratelimit-reset sec-websocket-protocol localhost 127.0.0.1',
].join(' ');

/**
 * Reads one secret. null only when it is optional and there is none: an empty default, or a default that is an
 * example and would otherwise be sent to a service that is not on this machine.
 *
 * @throws UsageError naming the place, never the value.
 */
export async function readSecret(
  draft: Draft,
  key: string,
  text: string,
  options: SecretOptions,
): Promise<Secret | null> {
  const fault = (problem: string, remedy: string) => draft.faultAt(key, problem, remedy);
  const reference = soleReference(splitReferences(text, fault));
  if (reference === null) {
    if (!options.literalAllowed) {
      throw fault(
        'a secret stands in the file itself',
        `write \${env:NAME}, \${file:PATH} or \${exec:COMMAND}; a literal is only for reference providers and loopback addresses`,
      );
    }
    return checked(new Secret(nameOf(draft, key), text), fault);
  }

  if (reference.kind === 'env' && reference.fallback === '' && !options.optional) {
    throw fault('the default is empty', `leave the default out: \${env:NAME}`);
  }
  const { text: value, fromFallback } = await resolveReference(reference, draft.scope, fault);
  const note = (suffix: string) => {
    const origin = draft.origins.get(key);
    const read = `${describeReference(reference)}${suffix}`;
    if (origin?.kind === 'file') draft.origins.set(key, { ...origin, reference: read });
  };
  if (fromFallback && reference.kind === 'env') {
    if (value === '') {
      note(' (not set)');
      return null;
    }
    if (!options.literalAllowed) {
      if (!options.optional) {
        throw fault(
          `the environment variable ${reference.name} is not set, and its default is only for reference providers and loopback addresses`,
          `export ${reference.name}=…`,
        );
      }
      note(' (not set; its default stays on this machine)');
      return null;
    }
    note(' (default)');
  } else {
    note('');
  }
  return checked(new Secret(nameOf(draft, key, reference), value), fault);
}

function soleReference(parts: readonly (string | Reference)[]): Reference | null {
  const [only] = parts;
  return parts.length === 1 && typeof only === 'object' ? only : null;
}

/** The environment variable where there is one, else made of service and key: `SEARCH_SECOND_KEY`. */
function nameOf({ blocks }: Draft, key: string, reference?: Reference): string {
  if (reference?.kind === 'env') return reference.name;
  const words = `${blocks.service}.${key.replace(/^credentials\./, '')}`;
  return words
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .replaceAll(/[.-]/g, '_')
    .toUpperCase();
}

function checked(secret: Secret, fault: (problem: string, remedy: string) => Error): Secret {
  const value = secret.reveal();
  if (/[\r\n]/.test(value)) {
    throw fault('the secret holds a line break', 'does the file or variable hold more than the secret?');
  }
  if (/\p{Cc}/u.test(value)) {
    throw fault(
      'the secret holds a control character',
      'no header field can carry it: check how it was copied',
    );
  }
  if (/[^\p{ASCII}\u0080-\u00ff]/u.test(value)) {
    throw fault(
      'the secret holds a character beyond latin-1',
      'no header field can carry it: check how it was copied',
    );
  }
  if (value !== value.trim()) {
    throw fault(
      'the secret begins or ends with white space',
      'no header field can carry it: remove the white space',
    );
  }
  if (value.length < LEAST_CHARACTERS) {
    throw fault(
      `the secret is shorter than ${LEAST_CHARACTERS} characters`,
      'use a longer one: so short a text cannot be told from other text, and so not be kept out of reports',
    );
  }
  if (PROTOCOL_TEXT.includes(value.toLowerCase())) {
    throw fault(
      'the secret is a word that every exchange holds',
      'use another one: so common a word cannot be told from other text, and so not be kept out of reports',
    );
  }
  return secret;
}
