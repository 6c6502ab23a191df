import type { Draft } from '../draft.ts';
import type { AppCredentials, Credentials } from '../service.ts';
import type { CredentialsBlock } from '../service-file.ts';
import { didYouMean } from '../yaml/nearest.ts';
import { readSecret } from './secret-value.ts';

type Scheme = NonNullable<CredentialsBlock['scheme']>;
type Key = Exclude<keyof CredentialsBlock, 'scheme'>;

/** What each scheme needs and what it may have beside. */
const KEYS_OF: Readonly<Record<Scheme, { readonly needs: readonly Key[]; readonly may: readonly Key[] }>> = {
  none: { needs: [], may: [] },
  bearer: { needs: ['key'], may: ['secondKey', 'app'] },
  header: { needs: ['name', 'key'], may: ['secondKey', 'app'] },
  query: { needs: ['name', 'key'], may: ['secondKey', 'app'] },
  basic: { needs: ['username', 'password'], may: ['app'] },
  signed: { needs: ['app'], may: [] },
};

/** RFC 9110 §5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Fields that frame or route the message; a credential there would break it. */
const FRAMING_FIELDS: ReadonlySet<string> = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'date',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
]);

/** Unreserved characters of RFC 3986 §2.3, and the brackets that some interfaces use. */
const PARAMETER_NAME = /^[A-Za-z0-9_.~[\]-]+$/;

/** @throws UsageError when keys are missing or too many for the scheme, or a secret is unfit. */
export async function buildCredentials(draft: Draft, literalAllowed: boolean): Promise<Credentials> {
  const { faultAt } = draft;
  const block = draft.blocks.credentials;
  if (!block) {
    throw faultAt(
      'credentials',
      'is missing',
      'add `credentials:`, with `scheme: none` when anybody may call',
    );
  }
  const { scheme } = block;
  if (!scheme) {
    throw faultAt(
      'credentials.scheme',
      'is missing',
      `add \`scheme:\`, one of: ${Object.keys(KEYS_OF).join(', ')}`,
    );
  }
  holdToScheme(draft, scheme, block);
  const secret = async (key: string, text: string) => {
    const read = await readSecret(draft, key, text, { literalAllowed, optional: false });
    if (!read) throw faultAt(key, 'is empty', 'give it a value');
    return read;
  };
  const requiredText = (key: 'name' | 'username') => block[key] ?? '';

  switch (scheme) {
    case 'none':
      return { scheme };
    case 'signed': {
      const app = await readApp(draft, block, { literalAllowed, optional: false });
      if (!app) throw faultAt('credentials.app', 'is missing', 'add `app: { id, key, secret }`');
      return { scheme, secondKey: null, app };
    }
    case 'basic': {
      const username = requiredText('username');
      // RFC 7617 §2: the first colon ends the user-id.
      if (/[:\p{Cc}]/u.test(username)) {
        throw faultAt(
          'credentials.username',
          'holds a colon or control character',
          'RFC 7617 allows neither',
        );
      }
      const password = await secret('credentials.password', block.password ?? '');
      const app = await readApp(draft, block, { literalAllowed, optional: true });
      return { scheme, username, password, secondKey: null, app };
    }
    case 'bearer':
    case 'header':
    case 'query': {
      const key = await secret('credentials.key', block.key ?? '');
      const secondKey =
        typeof block.secondKey === 'string'
          ? await readSecret(draft, 'credentials.secondKey', block.secondKey, {
              literalAllowed,
              optional: true,
            })
          : null;
      if (secondKey && secondKey.reveal() === key.reveal()) {
        throw faultAt(
          'credentials.secondKey',
          'is the same key as `key`',
          'give a key of another account, or leave it out: with the same key nothing about keys can be told apart',
        );
      }
      const app = await readApp(draft, block, { literalAllowed, optional: true });
      if (scheme === 'bearer') return { scheme, key, secondKey, app };
      const name = requiredText('name');
      holdToName(draft, scheme, name);
      return { scheme, name, key, secondKey, app };
    }
  }
}

function holdToScheme({ faultAt }: Draft, scheme: Scheme, block: CredentialsBlock): void {
  const { needs, may } = KEYS_OF[scheme];
  for (const key of needs) {
    if (block[key] === undefined || block[key] === null) {
      const why = key === 'name' ? ', which says where the key goes' : '';
      throw faultAt(`credentials.${key}`, `scheme ${scheme} needs it${why}`, `add \`${key}:\``);
    }
  }
  for (const key of keysIn(block)) {
    if (needs.includes(key) || may.includes(key)) continue;
    const home = schemesWith(key);
    throw faultAt(
      `credentials.${key}`,
      `does not belong to scheme ${scheme}`,
      `remove it, or use a scheme that has it: ${home.join(', ')}`,
    );
  }
}

function keysIn(block: CredentialsBlock): readonly Key[] {
  const { scheme: _, ...rest } = block;
  return Object.entries(rest)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([key]) => key)
    .filter((key): key is Key => key in rest);
}

function schemesWith(key: Key): readonly string[] {
  return Object.entries(KEYS_OF)
    .filter(([, { needs, may }]) => needs.includes(key) || may.includes(key))
    .map(([scheme]) => scheme);
}

function holdToName({ faultAt }: Draft, scheme: 'header' | 'query', name: string): void {
  const fault = (problem: string, remedy: string) => faultAt('credentials.name', problem, remedy);
  if (scheme === 'query') {
    if (!PARAMETER_NAME.test(name)) {
      throw fault('cannot be the name of a query parameter', 'use letters, digits and - . _ ~ [ ]');
    }
    return;
  }
  if (!TOKEN.test(name)) {
    throw fault('cannot be the name of a header field', 'use letters, digits and hyphens, such as X-API-Key');
  }
  if (FRAMING_FIELDS.has(name.toLowerCase())) {
    throw fault(
      'is a header field that cannot carry a credential',
      didYouMean(name, ['X-API-Key', 'Authorization']),
    );
  }
}

interface AppOptions {
  readonly literalAllowed: boolean;
  readonly optional: boolean;
}

async function readApp(
  draft: Draft,
  block: CredentialsBlock,
  options: AppOptions,
): Promise<AppCredentials | null> {
  const { app } = block;
  if (!app) return null;
  const { id, key, secret } = app;
  for (const [name, value] of Object.entries({ id, key, secret })) {
    if (value === undefined) throw draft.faultAt(`credentials.app.${name}`, 'is missing', `add \`${name}:\``);
  }
  if (id === undefined || key === undefined || secret === undefined) return null;
  for (const [name, value] of Object.entries({ id, key })) {
    if (!/^[\x21-\x7e]+$/.test(value)) {
      throw draft.faultAt(
        `credentials.app.${name}`,
        'holds white space or non-ASCII characters',
        'correct it',
      );
    }
  }
  const read = await readSecret(draft, 'credentials.app.secret', secret, options);
  return read && { id, key, secret: read };
}
