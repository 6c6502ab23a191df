import { derived, type Probe, probe, risky } from '../../../harness/engine/session/probe.ts';
import type { Reply } from '../../../harness/wire/exchange/reply.ts';
import type { FieldLine } from '../../../harness/wire/exchange.ts';
import type { RequestForm } from '../../../harness/wire/http/request.ts';
import { type Difference, served } from '../../stimuli/sample.ts';
import { CHUNKED, chunkedContent, PAIRED, type Pair, pairOf } from './connection.ts';

/** Lawful spellings of the documented request, all in one request, and alone only if that is not served. */

interface Spelling {
  /** Completes "GET /v1/resources …". */
  readonly what: string;
  readonly spelled?: NonNullable<RequestForm['spelled']>[number];
  readonly piecemeal?: true;
  /** Values of Accept, a line each, in place of those that it has. */
  readonly accept?: (values: readonly string[]) => readonly string[];
}

const SPELLINGS = {
  /** RFC 9112 §2.2 */
  'empty-line': { what: 'after an empty line', spelled: 'empty-line' },
  /** RFC 9293 §3.8: TCP cuts what is sent wherever it likes. */
  piecemeal: { what: 'octet by octet', piecemeal: true },
  /** RFC 9112 §5.1 */
  'wide-values': { what: 'with several spaces around each field value', spelled: 'wide-values' },
  'tabbed-values': { what: 'with tabs around each field value', spelled: 'tabbed-values' },
  'bare-colon': { what: 'without a space after each colon', spelled: 'bare-colon' },
  /** RFC 9110 §5.1 */
  'upper-names': { what: 'with field names in capitals', spelled: 'upper-names' },
  /** RFC 9110 §5.2 */
  'several-lines': {
    what: 'with Accept in two lines',
    accept: (values) => ['application/x-conform;q=0.1', ...values],
  },
  /** RFC 9110 §5.6.1.2 */
  'empty-members': {
    what: 'with empty members in Accept',
    accept: (values) => values.map((value) => `, ${value} ,,`),
  },
} as const satisfies Record<string, Spelling>;

type SpellingName = keyof typeof SPELLINGS;

const NAMES = Object.keys(SPELLINGS) as SpellingName[];

function differenceOf(all: readonly Spelling[], accepted: string): Difference {
  const accept = all.reduce<readonly string[]>(
    (values, { accept: change }) => change?.(values) ?? values,
    [accepted],
  );
  const spelled = all.flatMap((each) => each.spelled ?? []);
  return {
    ...(all.some((each) => each.accept) && { fields: accept.map((value): FieldLine => ['Accept', value]) }),
    raw: {
      ...(spelled.length > 0 && { spelled }),
      ...(all.some(({ piecemeal }) => piecemeal) && { piecemeal: true }),
    },
  };
}

/** The answer to each spelling: to a request with all of them if it was served, else to one with this alone. */
const spellings: Probe<Readonly<Record<SpellingName, Reply>>> = probe(
  'lawful-spellings',
  { needs: [served], cost: 1 + NAMES.length, usualCost: 1 },
  async ({ ask, http, documented }) => {
    await ask(served);
    const accepted = Object.entries(documented.fields).find(([name]) => /^accept$/i.test(name))?.[1] ?? '*/*';
    const send = (purpose: string, ...names: readonly SpellingName[]) =>
      http.send({
        purpose,
        ...differenceOf(
          names.map((name): Spelling => SPELLINGS[name]),
          accepted,
        ),
      });
    const joined = await send('as documented, in lawful spellings', ...NAMES);
    const replies: [SpellingName, Reply][] = [];
    for (const name of NAMES)
      replies.push([name, joined.served ? joined : await send(SPELLINGS[name].what, name)]);
    return Object.fromEntries(replies) as Record<SpellingName, Reply>;
  },
);

export const SPELLED = each<SpellingName, Reply>('spelled', NAMES, spellings);

/** RFC 9112 §7 and §7.1: what differs in the content of `chunkedContent`. */
const CHUNK_SPELLINGS = {
  'coding-case': { what: 'Transfer-Encoding: Chunked', coding: 'Chunked' },
  zeros: { what: 'zeros before the size of a chunk', zeros: '000' },
  'size-case': { what: 'the size of a chunk in small letters', letter: 'a' },
  /** §7.1.1: a value may be a quoted string. */
  'quoted-extension': { what: 'a quoted value in the extension of a chunk', extension: ';x="y;z"' },
  /** §7.1.2 */
  trailers: { what: 'several trailers', trailers: 'X: 1\r\nx-y:2\r\n' },
} as const;

type ChunkSpellingName = keyof typeof CHUNK_SPELLINGS;

interface ChunkSpelling {
  readonly what: string;
  readonly coding?: string;
  readonly zeros?: string;
  readonly letter?: string;
  readonly extension?: string;
  readonly trailers?: string;
}

/** A pair, and that whose chunks are spelled as usual. */
export interface PairOfTwo extends Pair {
  readonly usual: Pair;
}

const chunkSpellings: Probe<Readonly<Record<ChunkSpellingName, PairOfTwo>>> = risky(
  probe(
    'chunk-spellings',
    {
      needs: [...PAIRED, chunkedContent],
      cost: 2 * (1 + Object.keys(CHUNK_SPELLINGS).length),
      usualCost: 1,
    },
    async (port) => {
      const usual = await port.ask(chunkedContent);
      const send = async (all: readonly ChunkSpelling[], purpose: string): Promise<PairOfTwo> => {
        const form: Omit<ChunkSpelling, 'what'> = Object.assign({}, ...all);
        const { coding, zeros = '', letter = 'A', extension = '', trailers = '' } = form;
        const pair = await pairOf(port, {
          purpose: `with content in chunks, ${purpose}, and another request right behind it`,
          fields: [coding === undefined ? CHUNKED : ['Transfer-Encoding', coding]],
          without: ['content-type'],
          credential: 'none',
          content: `${zeros}${letter}${extension}\r\nconform=12\r\n0\r\n${trailers}\r\n`,
        });
        return { ...pair, usual };
      };
      const joined = await send(Object.values(CHUNK_SPELLINGS), 'spelled in another way');
      const isAlike = joined.statuses.join() === usual.statuses.join();
      const pairs: [string, PairOfTwo][] = [];
      for (const [name, spelling] of Object.entries(CHUNK_SPELLINGS))
        pairs.push([name, isAlike ? joined : await send([spelling], `with ${spelling.what}`)]);
      return Object.fromEntries(pairs) as Record<ChunkSpellingName, PairOfTwo>;
    },
  ),
);

export const CHUNK_SPELLED = each<ChunkSpellingName, PairOfTwo>(
  'chunks-spelled',
  Object.keys(CHUNK_SPELLINGS),
  chunkSpellings,
);

/** One of them. */
function each<N extends string, E>(
  prefix: string,
  names: readonly string[],
  all: Probe<Readonly<Record<N, E>>>,
): Readonly<Record<N, Probe<E>>> {
  const one = (name: string) =>
    derived(`${prefix}-${name}`, [all], async ({ ask }) => (await ask(all))[name as N]);
  return Object.fromEntries(names.map((name) => [name, one(name)])) as Record<N, Probe<E>>;
}
