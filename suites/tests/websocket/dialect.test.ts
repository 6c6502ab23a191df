import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, type TestContext } from 'vitest';
import { temporaryFolder } from '../../../harness/base/fixtures/folder.ts';
import { GOOD_SERVICE, loadOrders } from '../../../harness/config/fixtures/config-folder.ts';
import type { ServiceConfig } from '../../../harness/config/service.ts';
import { startWsEndpoint } from '../../../harness/wire/fixtures/ws-endpoint.ts';
import { websocket } from '../../websocket/websocket.suite.ts';
import { type Judged, judgedInTurn, saidOf } from '../fixtures/judged.ts';

type Context = Pick<TestContext, 'onTestFinished'>;

/** A file beside nothing else. */
const written = (text: string) => join(temporaryFolder({ 'chat.mjs': text }), 'chat.mjs');

/** The module that the documentation shows. */
async function documented(): Promise<string> {
  const page = await readFile(new URL('../../../docs/dialects.md', import.meta.url), 'utf8');
  const [, code = ''] = /```ts\n([^`]+)```/.exec(page.replaceAll('`${', '§{').replaceAll('}`', '}§')) ?? [];
  return written(code.replace(/§\{(.*?)\}§/g, (_, inner) => `\`\${${inner}}\``).replaceAll('§', '`'));
}

async function configOf(dialect: string, more = ''): Promise<ServiceConfig> {
  const yaml = `${GOOD_SERVICE}websocket: { url: /chat, dialect: ${dialect}${more} }\n`;
  return (await loadOrders(yaml)).config;
}

/** A service that speaks the documented dialect, with these answers by kind. */
async function chat(
  { onTestFinished }: Context,
  answers: Readonly<Record<string, object | null>>,
  welcome: object | null,
): Promise<string> {
  const { url, stop } = await startWsEndpoint((socket) => {
    if (welcome) socket.send(JSON.stringify(welcome));
    socket.on('message', (content) => {
      const text = String(content);
      // Whatever is not of the dialect is passed over, as services do.
      const answer = text.startsWith('{') ? answers[JSON.parse(text).kind] : null;
      if (answer) socket.send(JSON.stringify(answer));
    });
  });
  onTestFinished(stop);
  return url;
}

/** What is found of it, with little patience. */
function found(url: string, config: ServiceConfig): Promise<Judged> {
  const timeouts = { connectMs: 1_000, responseMs: 500 };
  return judgedInTurn({ ...config, timeouts }, [websocket], { url });
}

const ANSWERS = { ping: { kind: 'pong' }, join: { kind: 'joined', body: { channel: 'lobby' } } };
const OF_DIALECT = ['greeting', 'heartbeat', 'subscribe'].map((name) => `websocket.dialect-${name}`);

describe.concurrent('a dialect of a module of the user', () => {
  it('is the one that the documentation shows, and is judged', async (context) => {
    const messages = ', messages: { welcome: { type: object, required: [session] } }';
    const config = await configOf(await documented(), messages);
    const url = await chat(context, ANSWERS, { kind: 'welcome', body: { session: 's1' } });
    const { outcomes, messages: said } = await found(url, config);
    const ids = [...OF_DIALECT, 'websocket.message-schema'];
    expect(ids.map((id) => outcomes[id])).toEqual(['pass', 'pass', 'pass', 'pass']);
    expect(said['websocket.message-shapes']).toContain('joined, pong');
  });

  it('is violated by a service that does not keep to it', async (context) => {
    const messages = ', messages: { welcome: { type: object, required: [session] } }';
    const config = await configOf(await documented(), messages);
    const url = await chat(context, { join: ANSWERS.join }, { kind: 'welcome', body: {} });
    const all = await found(url, config);
    expect(all.outcomes['websocket.dialect-heartbeat']).toBe('fail');
    expect(saidOf(all, 'websocket.message-schema')).toMatch(/^fail: .*must have required property 'session'/);
  });

  it.for([
    ['export const name = "chat";', 'its default export is no dialect'],
    ['export default { name: "chat" };', 'its default export is no dialect'],
    ['export default { name: "chat", read: () => null, heartbeat: 7 };', 'its default export is no dialect'],
    ['throw new Error("broken");', 'broken'],
    ['await new Promise(() => {});', 'nothing after'],
  ] as const)('is refused when the module is %s', async ([code, reason]) => {
    await expect(configOf(written(code))).rejects.toThrow(reason);
  });

  it('that throws over a message has read nothing', async (context) => {
    const code =
      'export default { name: "chat", greeting: "hi", read() { throw new Error("unreadable"); } };';
    const config = await configOf(written(code));
    const all = await found(await chat(context, ANSWERS, { kind: 'welcome' }), config);
    expect(saidOf(all, 'websocket.dialect-greeting')).toMatch(/^fail: .*got no event/);
  });
});

describe.concurrent('messages with their answers', () => {
  it('are judged where nothing echoes', async (context) => {
    const url = await chat(context, { time: { kind: 'time', body: { now: 12 } } }, null);
    const pair = (expected: string) => `, exchange: [{ send: { kind: time }, expect: ${expected} }]`;
    const right = pair('{ required: [body], properties: { body: { required: [now] } } }');
    expect((await found(url, await configOf('raw', right))).outcomes).toMatchObject({
      'websocket.exchange': 'pass',
      'websocket.exchange-fragments': 'pass',
      'websocket.echo-text': 'skipped',
    });
    const all = await found(url, await configOf('raw', pair('{ required: [later] }')));
    expect(saidOf(all, 'websocket.exchange')).toMatch(/^fail: .*must have required property 'later'/);
    expect(all.outcomes['websocket.exchange-fragments']).toBe('blocked');
  });

  it('are blocked, by the pattern, where judging an answer has no end', async (context) => {
    const url = await chat(context, { time: { kind: 'time', body: `${'a'.repeat(60)}!` } }, null);
    const pair = `, exchange: [{ send: { kind: time }, expect: { properties: { body: { pattern: '^(a+)+$' } } } }]`;
    const all = await found(url, await configOf('raw', pair));
    expect(saidOf(all, 'websocket.exchange')).toMatch(/^blocked: its pattern .* takes longer than 3000 ms/);
    expect(Object.values(all.outcomes)).not.toContain('error');
  });
});
