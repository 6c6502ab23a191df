import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../base/fixtures/folder.ts';
import { conform, unbroken } from '../../engine/fixtures/conform-process.ts';
import { start } from '../../reference/fixtures/http-client.ts';
import { conformHere, saying } from '../fixtures/in-process.ts';

const SERVICE = `service: search
contract: search
provider: { url: 'http://127.0.0.1:9' }
credentials: { scheme: bearer, key: '\${env:SEARCH_API_KEY}' }
`;
const CHECKS = ['status.sample', 'auth.refusal-status', 'json.success-shape', 'json.media-types'];

describe('what is accepted', () => {
  it('is what a service is held to from then on, until another value is accepted', async () => {
    const folder = temporaryFolder({ 'services/search.yaml': SERVICE });
    const places = ['--config', folder, '--reports', join(folder, 'reports')];
    const list = join(folder, 'accepted', 'search.yaml');
    const night = async (variant: string | null = null) => {
      const provider = await start('search', { variant });
      const args = ['run', 'search', '--check', ...CHECKS, ...places, '--url', provider.url];
      return conform(args).ended.finally(() => provider.stop());
    };

    expect((await night()).code).toBe(0);
    const accept = ['accept', 'search', ...places];
    expect(saying(await conformHere(accept))).toMatch(
      /^2: .*search: responses\.media-types: new, .*--yes is needed without a terminal/s,
    );
    expect(saying(await conformHere([...accept, 'errors.sape', '--yes']))).toMatch(
      /^2: .*observed nothing under "errors\.sape"/,
    );
    expect(saying(await conformHere([...accept, '--yes']))).toMatch(/^0: .*\nAccepted: 3 observations\.\n$/s);
    expect(readFileSync(list, 'utf8')).toMatch(
      /^# yaml-language-server: .*\naccepted:\n(?:.*\n)* {2}- key: auth\.refusal\n/,
    );
    expect(saying(await conformHere([...accept, '--yes']))).toMatch(/^0: Nothing to accept/);

    // A counter in the body, and its members in another order, are lawful every day.
    expect((await night('content-with-a-counter')).code).toBe(0);
    expect(unbroken(saying(await night('plain-json-errors')))).toMatch(
      /^1: .*Drifted from what is accepted.*responses\.media-types drifted: errors:/,
    );
    expect(saying(await conformHere([...accept, 'responses.media-types', '--yes']))).toMatch(
      /^0: search: responses\.media-types: errors: without .* and with .* now\n/,
    );
    expect((await night('plain-json-errors')).code).toBe(0);
  });
});
