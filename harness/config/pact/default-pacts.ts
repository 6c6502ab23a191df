import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SHIPPED_CONFIG, shown } from '../yaml/catalogue-folder.ts';

/** The pact that lies beside the user's config for the service, or for its contract; else the shipped one. */
export function defaultPact(configDir: string, service: string, contract: string): string | null {
  // A contract of the user's own that has a shipped one's name is another contract, with other consumers.
  const ownContract = ['yaml', 'yml'].some((end) =>
    existsSync(join(configDir, 'contracts', `${contract}.${end}`)),
  );
  const places = [
    join(configDir, 'pacts', `${service}.json`),
    join(configDir, 'pacts', `${contract}.json`),
    ...(ownContract ? [] : [join(SHIPPED_CONFIG, 'pacts', `${contract}.json`)]),
  ];
  const found = places.find((path) => existsSync(path));
  return found === undefined ? null : shown(found);
}
