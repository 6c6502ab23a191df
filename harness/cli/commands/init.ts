import { createInterface } from 'node:readline';
import { FIRST_SCHEMES, type FirstScheme, initService, writeNewFiles } from '../../config/first-service.ts';
import { didYouMean } from '../../config/yaml/nearest.ts';
import { UsageError } from '../../exit.ts';

export interface InitOptions {
  readonly service?: string;
  readonly url?: string;
  readonly scheme?: string;
  readonly keyEnv?: string;
  readonly config: string;
}

/** `conform init`: a first service config. Asks only for what no option answers, and only at a terminal. */
export async function init(options: InitOptions): Promise<number> {
  const asker = openAsker();
  try {
    const service = await asker.answer(options.service, 'service', 'Name of the service', '');
    const url = await asker.answer(options.url, 'url', 'Base URL', 'http://127.0.0.1:8080');
    const schemes = `Scheme (${FIRST_SCHEMES.join(', ')})`;
    const scheme = schemeOf(await asker.answer(options.scheme, 'scheme', schemes, 'bearer'));
    const suggested = `${service.toUpperCase().replaceAll('-', '_')}_API_KEY`;
    const variable =
      scheme === 'none'
        ? ''
        : await asker.answer(options.keyEnv, 'key-env', 'Environment variable with the key', suggested);
    const files = await initService(options.config, { service, url, scheme, variable });
    await writeNewFiles(files);
    process.stdout.write(`${files.map(({ path }) => `wrote ${path}`).join('\n')}\n`);
    process.stderr.write(nextStep(service, variable, options.config));
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

function nextStep(service: string, variable: string, configDir: string): string {
  const config = configDir === 'config' ? '' : ` --config ${configDir}`;
  const key = variable === '' ? '' : `put the key into the environment variable ${variable}, then `;
  return `Next: ${key}run \`conform run ${service}${config}\`\n`;
}

function schemeOf(text: string): FirstScheme {
  const scheme = FIRST_SCHEMES.find((known) => known === text);
  if (scheme !== undefined) return scheme;
  throw new UsageError(`no credential scheme is called ${JSON.stringify(text)}`, {
    remedy: didYouMean(text, FIRST_SCHEMES),
  });
}
