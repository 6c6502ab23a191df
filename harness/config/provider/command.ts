import { baseUrl } from '../blocks/base-url.ts';
import { readDuration } from '../blocks/limits-block.ts';
import type { Draft } from '../draft.ts';
import type { CommandBlock } from '../service-file.ts';
import { json, mapping, needed, text } from '../shape/kinds.ts';
import { interpolate } from '../yaml/reference.ts';
import { existing, FRESH, MAX_START_MS, readEnv, STARTED } from './container.ts';
import { buildReadiness } from './ready.ts';
import { type CommandProvider, PORT_PLACEHOLDER } from './started-provider.ts';

export const COMMAND_KEYS = {
  command: mapping(
    'A program of this machine that is started for the run and ended after it, with all that it started.',
    { expected: `a mapping such as { run: [node, server.js], url: "http://127.0.0.1:\${PORT}" }` },
    {
      run: needed(
        json<string | readonly string[]>(
          'The program and its arguments, or one line for the shell.',
          { expected: 'a list such as [node, server.js], or a line for the shell', texts: 'raw' },
          {
            type: ['string', 'array'],
            items: text('A word of it.', { mayBeEmpty: true, texts: 'raw' }),
            minItems: 1,
            minLength: 1,
          },
        ),
      ),
      cwd: text('Folder in which it runs, relative to this file. Default: the folder of this file.', {
        default: '.',
      }),
      url: needed(
        text(
          `Base address under which it can be reached. \${PORT} stands for a free port, which the program is given as the variable PORT; a list in run may name it too.`,
          {
            expected: `an http or https URL, such as http://127.0.0.1:\${PORT}`,
            examples: [`http://127.0.0.1:\${PORT}`],
            texts: 'raw',
          },
        ),
      ),
      ...STARTED,
      ...FRESH,
    },
  ),
};

const KEY = 'provider.command';
const DEFAULT_TIMEOUT_MS = 60_000;
/** Any port that is not the default one of a scheme, to see whether the placeholder stands where a port goes. */
const SOME_PORT = '61234';

/** @throws UsageError for a command that cannot be meant; reads the secrets that it is to be given. */
export async function buildCommand(draft: Draft, block: CommandBlock): Promise<CommandProvider> {
  const { faultAt, origins } = draft;
  if (block.run === undefined)
    throw faultAt(`${KEY}.run`, 'is missing', 'add `run:`, such as [node, server.js]');
  const url = await readUrl(draft, block.url);
  const ready = buildReadiness(faultAt, `${KEY}.ready`, block.ready);
  if (ready?.kind === 'health') {
    throw faultAt(`${KEY}.ready.health`, 'belongs to a container', 'use `http:` or `log:`');
  }
  if (block.timeout === undefined) origins.set(`${KEY}.timeout`, { kind: 'default' });
  if (block.cwd === undefined) origins.set(`${KEY}.cwd`, { kind: 'default' });
  return {
    kind: 'command',
    run: holdToCommandLine(draft, block.run, url.includes(PORT_PLACEHOLDER)),
    cwd: await existing(draft, `${KEY}.cwd`, block.cwd ?? '.', 'folder'),
    env: await readEnv(draft, `${KEY}.env`, block.env),
    url,
    ready,
    timeoutMs:
      block.timeout === undefined
        ? DEFAULT_TIMEOUT_MS
        : readDuration(draft, `${KEY}.timeout`, block.timeout, MAX_START_MS),
    freshForEachSuite: block.freshForEachSuite ?? false,
  };
}

async function readUrl(draft: Draft, written: string | undefined): Promise<string> {
  const key = `${KEY}.url`;
  const fault = (problem: string, remedy: string) => draft.faultAt(key, problem, remedy);
  if (written === undefined)
    throw fault('is missing', `add \`url:\`, such as http://127.0.0.1:${PORT_PLACEHOLDER}`);
  const pieces: string[] = [];
  const references: string[] = [];
  for (const piece of written.split(PORT_PLACEHOLDER)) {
    const read = await interpolate(piece, draft.scope, fault);
    pieces.push(read.text);
    references.push(...read.references);
  }
  const url = pieces.join(PORT_PLACEHOLDER);
  baseUrl(url.replaceAll(PORT_PLACEHOLDER, SOME_PORT), fault);
  if (pieces.length > 2 || (pieces.length === 2 && new URL(pieces.join(SOME_PORT)).port !== SOME_PORT)) {
    throw fault(
      `${PORT_PLACEHOLDER} does not stand where the port goes`,
      `write http://127.0.0.1:${PORT_PLACEHOLDER}`,
    );
  }
  const origin = draft.origins.get(key);
  if (references.length > 0 && origin?.kind === 'file') {
    draft.origins.set(key, { ...origin, reference: references.join(', ') });
  }
  return url;
}

/** Whoever may list the processes of a machine sees their arguments. */
function holdToCommandLine(
  { faultAt }: Draft,
  run: string | readonly string[],
  hasPort: boolean,
): string | readonly string[] {
  const words: readonly (readonly [string, string])[] =
    typeof run === 'string'
      ? [[`${KEY}.run`, run]]
      : run.map((word, index) => [`${KEY}.run.${index}`, word] as const);
  for (const [key, word] of words) {
    if (/\$\{(env|file|exec):/.test(word)) {
      throw faultAt(
        key,
        'would show what it refers to in the list of processes',
        'give it to the command in `env:`',
      );
    }
    if (word.includes('\0')) throw faultAt(key, 'holds a NUL character', 'no command line can hold one');
    if (word.includes(PORT_PLACEHOLDER) && !hasPort) {
      throw faultAt(
        key,
        `no port is chosen: \`url\` does not hold ${PORT_PLACEHOLDER}`,
        'name the port in both, or in neither',
      );
    }
  }
  if (words.every(([, word]) => word.trim() === '') || words[0]?.[1] === '') {
    throw faultAt(`${KEY}.run`, 'names no program', 'write one, such as [node, server.js]');
  }
  return run;
}
