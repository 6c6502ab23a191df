import { unlessUnjudged } from '../../../harness/base/verdict.ts';
import type { DocumentedMessage } from '../../../harness/config/asyncapi/documented-messages.ts';
import { idIn } from '../../../harness/config/asyncapi/kind.ts';
import type { ServiceConfig } from '../../../harness/config/service.ts';
import { connecting, derived, overRecord, type Probe, risky } from '../../../harness/engine/session/probe.ts';
import { answerOf } from '../../../harness/engine/session/websocket/conversation.ts';
import type { OpenConversation } from '../../../harness/engine/session/websocket/open-conversation.ts';
import type { OperationCoverage } from '../../../harness/report/results/results.ts';
import type { Message } from '../../../harness/wire/conversation/message.ts';
import type { ConversationView } from '../../../harness/wire/conversation/view.ts';
import { logIn } from '../../websocket/stimuli/message-pair.ts';
import { alive, opening } from '../../websocket/stimuli/ordinary-client.ts';
import { EndpointBook, type MessageVerdict } from './endpoint-book.ts';
import { type EndpointPlan, type PlannedText, planOf } from './plan.ts';

/** Clients that say what an AsyncAPI document says, and listen. */

/** A client at one address: a connection, and others for what one that ended left unsent. */
export interface Talk {
  readonly plan: EndpointPlan;
  readonly views: readonly ConversationView[];
}

/** Connections for the messages of one address. */
const MOST_CONNECTIONS = 3;

function bookOf({ endpoint }: EndpointPlan, { websocket }: ServiceConfig): EndpointBook {
  return new EndpointBook(endpoint, websocket?.documented?.definitions ?? {});
}

/** A handshake at the address of an endpoint. */
function handshakeAt(
  { endpoint: { target, fields } }: EndpointPlan,
  { websocket }: ServiceConfig,
  purpose: string,
) {
  // The address of the config needs no mention: its handshake is that of every other client.
  return target === websocket?.url ? { purpose } : { purpose, endpoint: target, fields };
}

const talks: Probe<readonly Talk[]> = connecting(
  'messages-talks',
  {
    needs: [alive],
    cost: (config) => MOST_CONNECTIONS * planOf(config).length,
    usualCost: (config) => planOf(config).length,
  },
  async ({ ask, config, websocket }) => {
    await ask(alive);
    const all: Talk[] = [];
    for (const plan of planOf(config)) {
      const book = bookOf(plan, config);
      const views: ConversationView[] = [];
      let left = plan.texts;
      for (let round = 1; round <= MOST_CONNECTIONS; round += 1) {
        const again = round === 1 ? '' : `, connection ${round}`;
        const purpose = `a WebSocket at ${plan.endpoint.target} with documented messages${again}`;
        const due = left;
        const view = await websocket.converse(handshakeAt(plan, config, purpose), (conversation) =>
          talk(conversation, { plan, due, book, config }),
        );
        views.push(view);
        const said = new Set(view.sent.map(({ text }) => text));
        left = due.filter(({ text }) => !said.has(text));
        if (!view.opened || left.length === 0 || left.length === due.length) break;
      }
      all.push({ plan, views });
    }
    return all;
  },
);

interface Script {
  readonly plan: EndpointPlan;
  readonly due: readonly PlannedText[];
  readonly book: EndpointBook;
  readonly config: ServiceConfig;
}

async function talk(conversation: OpenConversation, { plan, due, book, config }: Script): Promise<void> {
  await logIn(conversation, config.websocket?.login);
  for (const planned of due) {
    await conversation.text(planned.text);
    if (planned.operation.replies === null) continue;
    const isReply = (message: Message) => replyFault(book.judge(message), planned) === null;
    await conversation.message('for the reply', isReply);
  }
  if (plan.listens) await conversation.silence(config.websocket?.documented?.listenMs ?? 0);
  await conversation.close(1000);
}

/** Why a message is not the reply to one of ours; null if it is. */
function replyFault(verdict: MessageVerdict, { operation, id }: PlannedText): 'other' | 'other id' | null {
  if (verdict.is !== 'documented' || !operation.replies?.includes(verdict.message.name)) return 'other';
  const { correlation } = verdict.message;
  if (id === undefined || correlation === null) return null;
  return idIn(verdict.value, correlation) === id ? null : 'other id';
}

/** One of our messages that has a documented reply, and what became of it. */
export interface Answering {
  readonly view: ConversationView;
  readonly operation: string;
  /** What came in place of a reply; null if one came. */
  readonly fault: string | null;
  /** The id of the reply in place of ours; null if it is ours, or none is documented. */
  readonly otherId: string | null;
  /** Its correlation id is documented on both sides. */
  readonly isCorrelated: boolean;
  /** A documented message that is no reply, and may be a refusal; null for none. */
  readonly refusal: string | null;
  /** A message in its place that cannot be judged; null for none. */
  readonly unjudged: Extract<MessageVerdict, { is: 'unread' | 'unjudged' }> | null;
}

export const answerings: Probe<readonly Answering[]> = derived(
  'messages-answerings',
  [talks],
  async ({ ask, config }) => {
    const all = await ask(talks);
    return all.flatMap(({ plan, views }) => {
      const book = bookOf(plan, config);
      return views.flatMap((view) => {
        const said = saidIn(view, plan).filter(({ planned }) => planned.operation.replies !== null);
        return said.map(({ planned, later }) => answeringOf(view, planned, later, book));
      });
    });
  },
);

/** The messages that were sent, each with those that came before the next one. */
function saidIn({ sent, messages }: ConversationView, { texts }: EndpointPlan) {
  return texts.flatMap((planned) => {
    const index = sent.findIndex(({ text }) => text === planned.text);
    const own = sent[index];
    if (own === undefined) return [];
    const next = sent[index + 1]?.atMs ?? Number.POSITIVE_INFINITY;
    return [{ planned, later: messages.filter(({ atMs }) => atMs >= own.atMs && atMs <= next) }];
  });
}

function answeringOf(
  view: ConversationView,
  planned: PlannedText,
  later: readonly Message[],
  book: EndpointBook,
): Answering {
  const { operation, id } = planned;
  const verdicts = later.map((message) => book.judge(message));
  const own = verdicts.find((verdict) => replyFault(verdict, planned) === null);
  const isCorrelated = id !== undefined && own?.is === 'documented' && own.message.correlation !== null;
  const of = {
    ...{ view, operation: operation.id, isCorrelated },
    ...{ fault: null, otherId: null, refusal: null, unjudged: null },
  };
  if (own !== undefined) return of;
  const other = verdicts.find((verdict) => replyFault(verdict, planned) === 'other id');
  if (other?.is === 'documented') {
    const got = other.message.correlation === null ? undefined : idIn(other.value, other.message.correlation);
    const otherId = got === undefined ? 'no id' : `another ${typeof got === typeof id ? 'id' : typeof got}`;
    return { ...of, isCorrelated: true, otherId };
  }
  const documented = verdicts.flatMap((verdict) => (verdict.is === 'documented' ? [verdict] : []));
  const refusal = documented.find(({ message, value }) => isError(message) || hasId(message, value, id));
  if (refusal !== undefined) return { ...of, refusal: refusal.message.name };
  const unjudged = verdicts.find(({ is }) => is === 'unread' || is === 'unjudged');
  if (unjudged?.is === 'unread' || unjudged?.is === 'unjudged') return { ...of, unjudged };
  // The fault of a message is a finding of its own.
  const hasOtherFault = verdicts.some(({ is }) => is !== 'documented');
  return { ...of, fault: hasOtherFault ? null : noReply(view) };
}

function noReply({ unaskedEnd }: ConversationView): string {
  return unaskedEnd === null ? 'no reply' : `no reply, and the end (${unaskedEnd.code ?? 'no code'})`;
}

function hasId({ correlation }: DocumentedMessage, value: unknown, id: unknown): boolean {
  return correlation !== null && id !== undefined && idIn(value, correlation) === id;
}

/** By its name, or what it says that it is. */
function isError({ name, kind }: DocumentedMessage): boolean {
  return [name, ...(kind?.values ?? [])].some((word) =>
    /err|fail|reject|refus|denied|invalid|nack/i.test(word),
  );
}

/** A message of the service in a conversation in which a client said nothing but documented messages. */
export interface JudgedMessage {
  readonly view: ConversationView;
  readonly verdict: MessageVerdict;
}

/** Puts the coverage of the document on record. */
export const everyDocumented = overRecord<JudgedMessage>(
  'messages-every',
  [talks, opening],
  async ({ ask, config, recorded, coverOperations }) => {
    const said = await ask(talks).catch(unlessUnjudged);
    const plans = planOf(config);
    const judged = plans.flatMap((plan) => {
      const book = bookOf(plan, config);
      const heard = recorded.conversations.filter(
        (view) => isOfPlan(view, plan, config) && isNearest(plan.endpoint, plans, view),
      );
      return heard.flatMap((view) =>
        view.messages.map((message) => ({ view, verdict: book.judge(message) })),
      );
    });
    coverOperations(coverageOf(config, said ?? []));
    return judged;
  },
);

function isOfPlan(
  view: ConversationView,
  { endpoint, texts }: EndpointPlan,
  { websocket }: ServiceConfig,
): boolean {
  if (!view.opened || !view.isOrdinary || view.faults.length > 0) return false;
  if (likeness(endpoint, view) === null) return false;
  const documented = new Set(texts.map(({ text }) => text));
  const others = view.sent.filter(({ text }) => text === null || !documented.has(text));
  return others.length <= (websocket?.login === undefined ? 0 : 1);
}

/** No other address is more like that of the conversation, as /admin/ws is where /ws is another one. */
function isNearest(
  endpoint: EndpointPlan['endpoint'],
  plans: readonly EndpointPlan[],
  view: ConversationView,
): boolean {
  const all = plans.map((plan) => likeness(plan.endpoint, view) ?? 0);
  return likeness(endpoint, view) === Math.max(...all);
}

/** Octets of the path, below whatever base URL, and of the parameters that are the same; null for another path. */
function likeness({ target }: EndpointPlan['endpoint'], { conversation }: ConversationView): number | null {
  const [path = '', query = ''] = target.replace(/^wss?:\/\/[^/?]*/i, '').split('?');
  const [at = '', asked = ''] = conversation.handshake.request.target.split('?');
  if (!at.endsWith(path)) return null;
  const parameters = asked.split('&');
  const same = query.split('&').filter((each) => parameters.includes(each));
  return path.length + same.join('').length;
}

function coverageOf(config: ServiceConfig, said: readonly Talk[]): readonly OperationCoverage[] {
  const { endpoints = [], elsewhere = [] } = config.websocket?.documented ?? {};
  const plans = new Map(planOf(config).map((plan) => [plan.endpoint, plan]));
  return [
    ...endpoints.flatMap((endpoint) => {
      const plan = plans.get(endpoint);
      const views = said.find((each) => each.plan.endpoint === endpoint)?.views ?? [];
      return endpoint.operations.map((operation): OperationCoverage => {
        const { id, action, place, messages, replies } = operation;
        const awaited = action === 'send' ? (replies ?? []) : messages;
        const heard = plan === undefined ? [] : heardIn(views, plan, operation.id, action, config);
        const why = whyNot(plan, operation.id, action, views);
        return {
          ...{ operation: `${action} ${id}`, id, place, undocumented: [] },
          ...(why && { notExercised: why }),
          answers: awaited.map((code) => ({ code, seen: heard.filter((name) => name === code).length })),
        };
      });
    }),
    ...elsewhere.map(
      ({ id, action, place, unfit }): OperationCoverage => ({
        ...{ operation: `${action} ${id}`, id, place, undocumented: [], answers: [] },
        notExercised: { reason: unfit ?? 'it has no address here', why: 'unfit' },
      }),
    ),
  ];
}

/** Names of the messages that came, as replies to an operation or at all. */
function heardIn(
  views: readonly ConversationView[],
  plan: EndpointPlan,
  id: string,
  action: 'send' | 'receive',
  config: ServiceConfig,
): readonly string[] {
  const book = bookOf(plan, config);
  const messages = views.flatMap((view) =>
    action === 'receive'
      ? view.messages
      : saidIn(view, plan).flatMap(({ planned, later }) => (planned.operation.id === id ? later : [])),
  );
  return messages.flatMap((message) => {
    const verdict = book.judge(message);
    return verdict.is === 'documented' ? [verdict.message.name] : [];
  });
}

function whyNot(
  plan: EndpointPlan | undefined,
  id: string,
  action: 'send' | 'receive',
  views: readonly ConversationView[],
): OperationCoverage['notExercised'] | null {
  if (plan === undefined) return { reason: 'the document has too many addresses', why: 'capped' };
  const kept = plan.kept.get(id);
  if (kept !== undefined) return kept;
  const [first] = views;
  if (first === undefined) return { reason: 'no connection was opened', why: 'left' };
  if (!first.opened) return { reason: `no connection was opened: ${answerOf(first)}`, why: 'left' };
  if (action === 'receive') return null;
  const isSent = views.some((view) => saidIn(view, plan).some(({ planned }) => planned.operation.id === id));
  return isSent ? null : { reason: 'the connection ended before', why: 'left' };
}

/** The first message that a schema refuses, at each address where a message for errors is documented. */
export const refusals: Probe<readonly JudgedMessage[]> = risky(
  connecting(
    'messages-refusals',
    { needs: [alive], cost: (config) => unfitPlans(config).length },
    async ({ ask, config, websocket }) => {
      await ask(alive);
      const all: JudgedMessage[] = [];
      for (const { plan, text } of unfitPlans(config)) {
        const book = bookOf(plan, config);
        const purpose = `a WebSocket at ${plan.endpoint.target} with a message that does not fit its schema`;
        const view = await websocket.converse(handshakeAt(plan, config, purpose), async (conversation) => {
          await logIn(conversation, config.websocket?.login);
          await conversation.text(text);
          await conversation.message('for the refusal', () => true);
          await conversation.close(1000);
        });
        const before = view.sent.findLast((each) => each.text === text)?.atMs ?? Number.POSITIVE_INFINITY;
        const later = view.messages.filter(({ atMs }) => atMs >= before);
        all.push(...later.map((message) => ({ view, verdict: book.judge(message) })));
      }
      return all;
    },
  ),
);

function unfitPlans(
  config: ServiceConfig,
): readonly { readonly plan: EndpointPlan; readonly text: string }[] {
  return planOf(config).flatMap((plan) => {
    const text = plan.texts.find(({ unfitText }) => unfitText !== null)?.unfitText;
    const hasError = plan.endpoint.messages.some(isError);
    return text == null || !hasError ? [] : [{ plan, text }];
  });
}
