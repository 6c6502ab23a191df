import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { UsageError } from '../../base/exit.ts';
import type { SecurityScheme } from '../../config/credential/scheme.ts';
import { bearer, none, SCHEMES } from '../../config/credential/schemes.ts';
import { loadServices } from '../../config/load.ts';
import { firstFacts } from '../../config/operation/openapi/first-facts.ts';
import type { ServiceConfig } from '../../config/service.ts';
import { initService, writeNewFiles } from '../../config/written/first-service.ts';

/** A service of which only the document is known, with an example credential. */
export interface DocumentedService {
  readonly config: ServiceConfig;
  /** A temporary folder with its config. */
  readonly configDir: string;
  /** Variables of the config, with example values. */
  readonly env: Readonly<Record<string, string>>;
  /** Removes the folder. */
  close(): void;
}

export const MOCK = 'mock';
const EXAMPLE = 'example-key-not-secret';

/** @throws UsageError if nothing of the document can be used. */
export async function documentedService(path: string): Promise<DocumentedService> {
  const facts = await firstFacts(path, path, '/');
  if ('fault' in facts) throw new UsageError(facts.fault.problem, { key: path, remedy: facts.fault.remedy });
  const folder = mkdtempSync(join(tmpdir(), 'conform-'));
  const close = () => rmSync(folder, { recursive: true, force: true });
  try {
    const scheme = schemeFor(facts.demand, facts.open);
    const env: Record<string, string> = {};
    const answers: Record<string, string> = {};
    for (const { option, variable, fallback } of scheme.first.asks) {
      const name = `MOCK_${option.toUpperCase().replaceAll('-', '_')}`;
      if (variable) Object.assign(env, { [name]: EXAMPLE, [`${name}_USER`]: 'example-user' });
      answers[option] = variable ? name : (facts.demand?.name ?? fallback);
    }
    const configDir = join(folder, 'config');
    const openapi = { path: resolve(path), facts };
    const url = 'http://127.0.0.1:1';
    const load = async (samplePath: string): Promise<ServiceConfig> => {
      const files = await initService(configDir, {
        ...{ service: MOCK, url, samplePath, scheme, answers, openapi },
      });
      await writeNewFiles(files);
      const allow = ['writes', 'leftovers'] as const;
      const { services } = await loadServices({ configDir, services: [MOCK], env, allow });
      const [service] = services;
      if (service === undefined) throw new UsageError('is not loaded', { key: path });
      return service.config;
    };
    let config = await load(facts.samplePath ?? '/');
    const called = config.operations.find(
      ({ method, uncallable }) => method === 'GET' && uncallable === null,
    );
    if (facts.samplePath === null && called !== undefined) {
      rmSync(configDir, { recursive: true });
      config = await load(called.path);
    }
    return { config, configDir, env, close };
  } catch (error) {
    close();
    throw error;
  }
}

function schemeFor(demand: SecurityScheme | null, open: boolean): (typeof SCHEMES)[number] {
  if (demand === null) return open ? none : bearer;
  return SCHEMES.find((each) => each.opens(demand, { name: demand.name })) ?? bearer;
}
