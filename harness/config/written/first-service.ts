import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Answers } from '../../credential/first-use.ts';
import type { Scheme } from '../../credential/scheme.ts';
import { makeFolders } from '../../evidence/record/folder.ts';
import { UsageError } from '../../exit.ts';
import { baseUrl } from '../shape/address.ts';
import { namedFiles, SHIPPED_CONFIG } from '../yaml/catalogue-folder.ts';

/** What `conform init` asks, and nothing more. */
export interface FirstService {
  /** Lower-case letters, digits and hyphens. */
  readonly service: string;
  /** Base URL of the running service. */
  readonly url: string;
  readonly scheme: Scheme;
  /** To what the scheme asks. */
  readonly answers: Answers;
}

export interface NewFile {
  readonly path: string;
  readonly text: string;
}

/**
 * The files of a first service: its config and, when no contract has its name, a contract to fill in. Writes nothing.
 *
 * @throws UsageError for an unfit answer.
 */
export async function initService(configDir: string, first: FirstService): Promise<readonly NewFile[]> {
  const { service, scheme, answers } = first;
  if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(service)) {
    throw new UsageError('is no name for a service', {
      key: 'service',
      remedy: 'use lower-case letters, digits and hyphens',
    });
  }
  for (const { option, variable } of scheme.first.asks) {
    if (!variable || /^[A-Za-z_][A-Za-z0-9_]*$/.test(answers[option] ?? '')) continue;
    throw new UsageError('cannot be the name of an environment variable', {
      key: option,
      remedy: 'name the variable that holds the value, such as ORDERS_API_KEY; never the value itself',
    });
  }
  const url = baseUrl(first.url, (problem, remedy) => new UsageError(problem, { key: 'url', remedy }));
  const contracts = [
    ...(await namedFiles(join(configDir, 'contracts'))).keys(),
    ...(await namedFiles(join(SHIPPED_CONFIG, 'contracts'))).keys(),
  ];
  const config = {
    path: join(configDir, 'services', `${service}.yaml`),
    text: serviceText({ ...first, url }),
  };
  if (contracts.includes(service)) return [config];
  return [config, { path: join(configDir, 'contracts', `${service}.yaml`), text: contractText(service) }];
}

/** @throws UsageError, before anything is written, when one of the files is there already. */
export async function writeNewFiles(files: readonly NewFile[]): Promise<void> {
  for (const { path } of files) {
    const name = path.replace(/^.*[\\/]|\.yaml$/g, '');
    if ((await namedFiles(dirname(path))).has(name)) throw alreadyThere(path);
  }
  for (const { path, text } of files) {
    try {
      makeFolders(dirname(path));
      await writeFile(path, text, { flag: 'wx' });
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
      if (code === 'EEXIST') throw alreadyThere(path);
      throw new UsageError(`cannot be written (${code})`, {
        place: { file: path },
        remedy: 'name another folder',
      });
    }
  }
}

function alreadyThere(path: string): UsageError {
  return new UsageError('is there already', {
    place: { file: path },
    remedy: 'choose another name, or remove the file first: nothing is overwritten',
  });
}

function serviceText({ service, url, scheme, answers }: FirstService): string {
  return `# The service ${service}: where it is, how a client is let in, what may be done to it.
service: ${JSON.stringify(service)}
contract: ${JSON.stringify(service)} # contracts/${service}.yaml

provider:
  url: ${JSON.stringify(url)}

credentials:
${[`scheme: ${scheme.name} # ${scheme.summary}`, ...scheme.first.lines(answers)]
  .map((line) => `  ${line}`)
  .join('\n')}

# The quota of your account. Leave it out when the contract states the rate, or when you do not know it.
# plan: { requests: 100, window: 60s }

safety:
  exceedRateLimit: false # true: send more than the plan admits, to see the refusal
`;
}

function contractText(service: string): string {
  return `# What the documents of ${service} say, clause by clause. Only what stands here is judged as a rule; the rest
# is observed. standing: stated (it says so), advised (it recommends it), not-shown (it leaves it open).
contract: ${JSON.stringify(service)}
title: ${JSON.stringify(service)}
source:
  document: ${JSON.stringify(`${service} documents`)} # file name or address of what you read

clauses:
  # A request that is known to work. Correct it: the harness asks it more than any other.
  - key: endpoint.sample
    standing: stated
    value: { method: GET, path: /, fields: {}, response: JSON body }
    place: { section: Endpoints, row: 1 }
  # Add what else your documents state, for example:
  # - key: limits.rate
  #   standing: stated
  #   value: { requests: 100, window: 60s }
  #   place: { section: Limits, row: 1 }
`;
}
