import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../base/fixtures/folder.ts';
import { conform } from '../../engine/fixtures/conform-process.ts';
import { conformHere } from '../fixtures/in-process.ts';
import { serving } from '../fixtures/serving.ts';

async function explained(id: string): Promise<string> {
  const { code, stdout, stderr } = await conformHere(['explain', id]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

/** The arguments of the first line that is `conform COMMAND …`. */
function commandIn(text: string, command: string): readonly string[] {
  const line = text.split('\n').find((each) => each.trim().startsWith(`conform ${command} `));
  expect(line, text).toBeDefined();
  return line?.trim().split(' ').slice(1) ?? [];
}

describe('what explain says of the proof', () => {
  it.for(['json.no-bom', 'websocket.accept', 'pact.interaction'])(
    'shows %s fail when it is done as written',
    async (id, { onTestFinished }) => {
      const text = await explained(id);
      const { server, url } = await serving(commandIn(text, 'serve').slice(1));
      onTestFinished(() => server.signal('SIGTERM'));
      const run = commandIn(text, 'run').map((each) => each.replace('http://127.0.0.1:PORT', url));
      const { code, stdout } = await conform([...run, '--reports', temporaryFolder()]).ended;
      expect({ code, stdout }).toMatchObject({ code: 1, stdout: expect.stringContaining(id) });
    },
  );

  it('tells each defect, its effect, and the service that can have it', async () => {
    expect(await explained('auth.missing-credential')).toMatch(
      /\nProven by\n {2}accepts-missing-key: .+\n {4}conform serve search --defect accepts-missing-key\n/,
    );
  });

  it('tells what the config needs where the shipped one does not show it', async () => {
    const text = await explained('auth.signed-stale');
    expect(text).toMatch(
      / {2}conform run realtime .*--check auth\.signed-stale\n {4}config\/services\/realtime\.yaml needs credentials: \{ scheme: signed \}/,
    );
    expect(await explained('webhooks.delivered')).toContain('needs safety: { unsafeMethods: true }');
    expect(await explained('operations.schema')).toContain('needs openapi: ../openapi/search.yaml');
  });

  it('tells of an observation what changes it', async () => {
    const text = await explained('limits.dialect');
    expect(text).toContain('only records an observation');
    expect(text).toContain('conform serve search --variant no-quota-fields\n');
    expect(text.match(/^ {2}conform run .*$/gm)).toHaveLength(1);
  });
});
