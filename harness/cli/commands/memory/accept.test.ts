import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../base/fixtures/folder.ts';
import { start } from '../../../provider/reference/fixtures/http-client.ts';
import { conform } from '../../../run/fixtures/conform-process.ts';
import { conformHere } from '../../fixtures/in-process.ts';

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
      const args = ['run', 'search', '--check', ...CHECKS, ...places, '--provider-url', provider.url];
      return conform(args).ended.finally(() => provider.stop());
    };

    expect(await night()).toMatchObject({ code: 0 });
    const accept = ['accept', 'search', ...places];
    expect(await conformHere(accept)).toMatchObject({
      code: 2,
      stdout: expect.stringMatching(/^search: responses\.media-types: new, /m),
      stderr: expect.stringMatching(/--yes is needed where nobody can be asked/),
    });
    expect(await conformHere(['accept', 'search', 'errors.sape', '--yes', ...places])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/observed nothing under "errors\.sape"/),
    });
    expect(await conformHere([...accept, '--yes'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/\nAccepted: 3 observations\.\n$/),
    });
    expect(readFileSync(list, 'utf8')).toMatch(
      /^# yaml-language-server: .*\naccepted:\n(?:.*\n)* {2}- key: auth\.refusal\n/,
    );
    expect(await conformHere([...accept, '--yes'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Nothing to accept/),
    });

    // A counter in the body, and its members in another order, are lawful every day.
    expect(await night('content-with-a-counter')).toMatchObject({ code: 0 });
    const drifted = await night('plain-json-errors');
    expect(drifted).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(
        /Drifted from what is accepted[\s\S]*responses\.media-types\s+drifted:\s+errors:/,
      ),
    });
    expect(await conformHere([...accept, 'responses.media-types', '--yes'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^search: responses\.media-types: errors: without .* and with .* now\n/),
    });
    expect(await night('plain-json-errors')).toMatchObject({ code: 0 });
  });
});
