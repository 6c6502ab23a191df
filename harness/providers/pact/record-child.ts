import { MatchersV3, PactV4 } from '@pact-foundation/pact';
import { reasonOf } from '../../base/thrown.ts';
import type {
  ExpectedField,
  ExpectedText,
  PactScript,
  RecordedCall,
  RecordedMessage,
  RecorderOrder,
  RecorderReply,
} from './recording.ts';

/**
 * The process in which Pact's mock server runs: what its native part prints, and reports of its use, stay in here. It
 * says where each call is expected and goes on when the parent has made it.
 */
let called = () => {};

process.on('message', (order: RecorderOrder) => {
  if (order.type === 'called') called();
  else void recorded(order.script, order.folder).then(tell);
});

process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));

function tell(reply: RecorderReply): void {
  process.send?.(reply);
}

async function recorded(script: PactScript, folder: string): Promise<RecorderReply> {
  const { consumer, provider, calls, messages } = script;
  const pact = new PactV4({ consumer, provider, dir: folder, logLevel: 'error' });
  try {
    for (const [index, call] of calls.entries()) await recordCall(pact, call, index);
    for (const message of messages) await recordMessage(pact, message);
    return { type: 'recorded' };
  } catch (error) {
    return { type: 'failed', reason: reasonOf(error) };
  }
}

async function recordCall(
  pact: PactV4,
  { description, states, request, response }: RecordedCall,
  index: number,
): Promise<void> {
  let interaction = pact.addInteraction();
  for (const state of states) interaction = interaction.given(state);
  await interaction
    .uponReceiving(description)
    .withRequest(request.method, request.path, (builder) => {
      if (request.query.length > 0) builder.query(matchersOf(request.query));
      builder.headers(matchersOf(request.fields));
      if (request.body === null) return;
      const { mediaType, text } = request.body;
      // As JSON it is compared as JSON, and can be read in the pact.
      if (isJson(mediaType)) builder.jsonBody(JSON.parse(text));
      else builder.body(mediaType, Buffer.from(text));
    })
    .willRespondWith(response.status, (builder) => {
      builder.headers(matchersOf(response.fields));
    })
    .executeTest(async ({ url }) => {
      const done = Promise.withResolvers<void>();
      called = done.resolve;
      tell({ type: 'call', index, url });
      await done.promise;
    });
}

function isJson(mediaType: string): boolean {
  return /^[^;]*[/+]json\s*(;|$)/i.test(mediaType);
}

async function recordMessage(pact: PactV4, { description, content }: RecordedMessage): Promise<void> {
  await pact
    .addAsynchronousInteraction()
    .expectsToReceive(description, (builder) => {
      builder.withMetadata({ 'content-type': 'application/json' });
      builder.withJSONContent(MatchersV3.like(content as Parameters<typeof MatchersV3.like>[0]));
    })
    .executeTest(async () => undefined);
}

function matchersOf(fields: readonly ExpectedField[]): Record<string, string | MatchersV3.Matcher<string>> {
  return Object.fromEntries(fields.map(([name, value]) => [name, matcherOf(value)]));
}

function matcherOf({ example, pattern }: ExpectedText): string | MatchersV3.Matcher<string> {
  return pattern === undefined ? example : MatchersV3.regex(pattern, example);
}
