import { createInterface } from 'node:readline';
import { initService, writeNewFiles } from '../../config/written/first-service.ts';
import { didYouMean } from '../../config/yaml/nearest.ts';
import type { Scheme } from '../../credential/scheme.ts';
import { SCHEMES, schemeNamed } from '../../credential/schemes.ts';
import { UsageError } from '../../exit.ts';

export interface InitOptions extends Readonly<Record<string, string | undefined>> {
  readonly service?: string;
  readonly url?: string;
  readonly scheme?: string;
  readonly config: string;
}

/** `conform init`: a first service config. Asks only for what no option answers, and only at a terminal. */
export async function init(options: InitOptions): Promise<number> {
  const asker = openAsker();
  try {
    const service = await asker.answer(options.service, 'service', 'Name of the service', '');
    const url = await asker.answer(options.url, 'url', 'Base URL', 'http://127.0.0.1:8080');
    const schemes = `Scheme (${NAMES.join(', ')})`;
    const scheme = chosenScheme(await asker.answer(options.scheme, 'scheme', schemes, 'bearer'));
    const capitals = service.toUpperCase().replaceAll('-', '_');
    const answers: Record<string, string> = {};
    for (const { option, question, fallback } of scheme.first.asks) {
      const suggested = fallback.replace('SERVICE', capitals);
      answers[option] = await asker.answer(options[camelCase(option)], option, question, suggested);
    }
    const files = await initService(options.config, { service, url, scheme, answers });
    await writeNewFiles(files);
    process.stdout.write(`${files.map(({ path }) => `wrote ${path}`).join('\n')}\n`);
    const variables = scheme.first.asks.flatMap(({ option, variable }) =>
      variable ? [answers[option] ?? ''] : [],
    );
    process.stderr.write(nextStep(service, variables, options.config));
    return 0;
  } finally {
    asker.close();
  }
}

interface Asker {
  /** What an option gave, else what the user says, else the fallback. */
  answer(given: string | undefined, option: string, question: string, fallback: string): Promise<string>;
  close(): void;
}

function openAsker(): Asker {
  if (!process.stdin.isTTY) {
    return {
      async answer(given, option) {
        if (given !== undefined) return given;
        throw new UsageError(`--${option} is needed where nobody can be asked`, { remedy: EXAMPLE });
      },
      close() {},
    };
  }
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  // Lines are kept as they come: somebody may paste several at once.
  const said = lines[Symbol.asyncIterator]();
  return {
    async answer(given, _option, question, fallback) {
      if (given !== undefined) return given;
      const hint = fallback === '' ? '' : ` [${fallback}]`;
      lines.setPrompt(`${question}${hint}: `);
      lines.prompt();
      const line = await said.next();
      // Ctrl-C, or the end of the input.
      if (line.done) throw new UsageError('no answer was given, and nothing is written');
      return line.value.trim() || fallback;
    },
    close: () => lines.close(),
  };
}

const EXAMPLE =
  'for example: conform init --service orders --url https://orders.example --scheme bearer --key-env ORDERS_API_KEY';

function nextStep(service: string, variables: readonly string[], configDir: string): string {
  const config = configDir === 'config' ? '' : ` --config ${configDir}`;
  const plural = variables.length > 1 ? 's' : '';
  const names = variables.join(' and ');
  const keys = names === '' ? '' : `set the environment variable${plural} ${names}, then `;
  return `Next: ${keys}run \`conform run ${service}${config}\`\n`;
}

const NAMES = SCHEMES.map(({ name }) => name);

function chosenScheme(name: string): Scheme {
  const scheme = schemeNamed(name);
  if (scheme !== undefined) return scheme;
  throw new UsageError(`no credential scheme is called ${JSON.stringify(name)}`, {
    remedy: didYouMean(name, NAMES),
  });
}

/** As commander names the value of an option. */
function camelCase(option: string): string {
  return option.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
