import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { UsageErrors } from '../../exit.ts';
import { GOOD_SERVICE, inFolder, ORDERS_CONTRACT } from '../fixtures/config-folder.ts';
import { loadServices } from '../load.ts';

const FILES = {
  'contracts/orders.yaml': ORDERS_CONTRACT.replace('standing: stated', 'standing: state'),
  'services/bills.yaml': `service: bills
contract: bils
provider: { url: "\${env:BILLS_URL}" }
credentials: { scheme: bearer, key: "\${env:BILLS_KEY}", secondKey: "\${exec:touch was-run}" }
plan: { requests: 0, window: 60 }
websocket: { url: ws, orign: x, keepsIdle: 3h }
operations:
  - { id: a, method: GET, path: /a, fields: { Host: a } }
  - { id: a, method: GET, path: b }
environments: { staging: { safety: { maxRequest: 3 } } }
`,
  'services/orders.yaml': `${GOOD_SERVICE}timeouts: { connect: 1h }
pacts: { files: [../pacts] }
`,
  'services/stock.yaml': 'service: stock\n\tcontract: orders\n',
  'pacts/a.json': '{}',
  'pacts/b.json': '[',
};

it('all that is wrong in all files is told in one go, by file and line, with every variable that is not set', async () => {
  await inFolder(FILES, async (configDir) => {
    const error: unknown = await loadServices({ configDir, env: { PATH: process.env.PATH } }).catch(
      (thrown) => thrown,
    );
    if (!(error instanceof UsageErrors)) throw error;
    expect(error.exitCode).toBe(2);
    expect(error.faults.map(({ message }) => message.replaceAll(`${configDir}/`, '').split('\n')[0])).toEqual(
      [
        'contracts/orders.yaml:6:15: clauses.0.standing: "state" is not known here',
        'pacts/a.json: is no pact: consumer.name is missing',
        'pacts/b.json:1:2: is not JSON: the end where a value should be in /0, at octet 1',
        'services/bills.yaml:2:11: contract: there is no contract "bils"',
        'services/bills.yaml:3:18: provider.url: the environment variable BILLS_URL is not set',
        'services/bills.yaml:4:37: credentials.key: the environment variable BILLS_KEY is not set',
        'services/bills.yaml:5:19: plan.requests: must be at least 1',
        'services/bills.yaml:5:30: plan.window: must be text, not a number',
        'services/bills.yaml:6:19: websocket.url: is no WebSocket address',
        'services/bills.yaml:6:23: websocket.orign: unknown key',
        'services/bills.yaml:6:44: websocket.keepsIdle: is too long',
        'services/bills.yaml:9:33: operations.1.path: does not begin with /',
        'services/bills.yaml:10:38: environments.staging.safety.maxRequest: unknown key',
        'services/orders.yaml:5:22: timeouts.connect: is too long',
        'services/stock.yaml:2:1: a tab is used to indent',
      ],
    );
    // For a config that is wrong anyway no command is run.
    expect(existsSync(join(configDir, 'services/was-run'))).toBe(false);
    expect(error.message).toContain(`${error.faults.length} things are wrong\n\n`);
  });
});
