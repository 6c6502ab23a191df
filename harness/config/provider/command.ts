import { isLoopback } from '../../base/loopback.ts';
import type { Draft } from '../draft/draft.ts';
import { either, type Fault, mapping, needed, text } from '../shape/kinds.ts';
import type { Loaded } from '../shape/loaded.ts';
import { baseUrl } from '../shape/text-forms.ts';
import { existing, FRESH, readEnv, STARTED } from './container.ts';
import { buildReadiness, type CommandProvider, PORT_PLACEHOLDER, providerKind } from './kind.ts';

/** Any port that is not the default one of a scheme, to see whether the placeholder stands where a port goes. */
const SOME_PORT = '61234';

function portedAddress(url: string, fault: Fault): string {
  baseUrl(url.replaceAll(PORT_PLACEHOLDER, SOME_PORT), fault);
  const pieces = url.split(PORT_PLACEHOLDER);
  if (pieces.length > 2 || (pieces.length === 2 && new URL(pieces.join(SOME_PORT)).port !== SOME_PORT)) {
    const problem = `${PORT_PLACEHOLDER} does not stand where the port goes`;
    throw fault(problem, `write http://127.0.0.1:${PORT_PLACEHOLDER}`);
  }
  return url;
}

const KEYS = {
  command: mapping(
    'A program on this machine. It is started for the run and ended after it, with every process that it started. It gets PATH, HOME, the language and the folder for temporary files from your environment; name everything else in env.',
    { expected: `a mapping such as { run: [node, server.js], url: "http://127.0.0.1:\${PORT}" }` },
    {
      run: needed(
        either<string | readonly string[]>(
          'The program and its arguments, or one line for the shell.',
          { expected: 'a list such as [node, server.js], or a line for the shell', references: 'raw' },
          {
            type: ['string', 'array'],
            items: text('One word of the command.', { mayBeEmpty: true, references: 'raw' }),
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
          `Base URL of the program. \${PORT} is a free port, which the program gets as the variable PORT; a list in run may use it too.`,
          {
            expected: `an http or https URL, such as http://127.0.0.1:\${PORT}`,
            examples: [`http://127.0.0.1:\${PORT}`],
            literal: PORT_PLACEHOLDER,
            references: 'open',
            read: portedAddress,
          },
        ),
      ),
      ...STARTED,
      ...FRESH,
    },
  ),
};

const KEY = 'provider.command';

/** @throws UsageError for a command that cannot be meant; reads the secrets that it is to be given. */
async function buildCommand(written: Loaded<typeof KEYS.command>, draft: Draft): Promise<CommandProvider> {
  const { faultAt } = draft;
  const { run, cwd, env, url, ready, timeoutMs, freshForEachSuite } = written;
  const readiness = buildReadiness(faultAt, `${KEY}.ready`, ready);
  if (readiness?.kind === 'health')
    throw faultAt(`${KEY}.ready.health`, 'belongs to a container', 'use `http:` or `log:`');
  return {
    kind: 'command',
    run: holdToCommandLine(draft, run, url.includes(PORT_PLACEHOLDER)),
    cwd: await existing(draft, `${KEY}.cwd`, cwd, 'folder'),
    env: await readEnv(draft, `${KEY}.env`, env),
    url,
    ready: readiness,
    timeoutMs,
    freshForEachSuite,
  };
}

export const command = providerKind('command', {
  keys: KEYS,
  build: buildCommand,
  staysHere: ({ url }) => isLoopback(new URL(url.replace(PORT_PLACEHOLDER, '80')).hostname),
  addressOf: () => null,
});

/** Arguments are visible to all who may list the processes of a machine. */
function holdToCommandLine(draft: Draft, run: CommandProvider['run'], hasPort: boolean): typeof run {
  const words = typeof run === 'string' ? [run] : run;
  for (const [index, word] of words.entries()) {
    const fault = draft.faultFor(typeof run === 'string' ? `${KEY}.run` : `${KEY}.run.${index}`);
    if (/\$\{(env|file|exec):/.test(word))
      throw fault(
        'would show what it refers to in the list of processes',
        'give it to the command in `env:`',
      );
    if (word.includes('\0')) throw fault('holds a NUL character', 'no command line can hold one');
    if (word.includes(PORT_PLACEHOLDER) && !hasPort) {
      const problem = `no port is chosen: \`url\` does not hold ${PORT_PLACEHOLDER}`;
      throw fault(problem, 'name the port in both, or in neither');
    }
  }
  if (words.every((word) => word.trim() === '') || words[0] === '')
    throw draft.faultAt(`${KEY}.run`, 'names no program', 'write one, such as [node, server.js]');
  return run;
}
