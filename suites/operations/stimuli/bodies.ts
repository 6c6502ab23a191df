import { isJsonObject } from '../../../harness/base/json-text.ts';
import { Blocked, NotApplicable } from '../../../harness/base/verdict.ts';
import { isJsonType } from '../../../harness/config/operation/call/call.ts';
import { refusalBy } from '../../../harness/config/operation/call/refusal.ts';
import type { Operation, ServiceConfig } from '../../../harness/config/service.ts';
import type { Stimulus } from '../../../harness/engine/session/http/stimulus.ts';
import {
  derived,
  type Port,
  type Probe,
  probe,
  risky,
  type Selected,
} from '../../../harness/engine/session/probe.ts';
import { operationCalls } from './operation.ts';
import { OwnItems } from './own-items.ts';
import { aboutOwnItem, isOfOwn, lifecyclesIn } from './own-operations.ts';
import type { Order } from './plan.ts';
import { responseSchemas } from './response-schemas.ts';
import { orderOf } from './stimulus.ts';
import type { OperationReply } from './trials.ts';

/** One operation that takes a JSON object, asked with bodies that it was not made for. */

/** A body in place of the documented one. `what` completes "POST /v1/matches …"; `content` is made of the documented text. */
type OddBody = readonly [what: string, content: (text: string) => string | Uint8Array, form?: BodyForm];

interface BodyForm {
  /** Content-Type: the documented one if left out, none if null. */
  readonly type?: string | null;
  readonly fields?: Stimulus['fields'];
}

/** One member more than the documented ones. */
const withMember = (text: string, member: string): string =>
  text.replace(/(\S)?\s*\}$/, (_, last = '') => `${last}${last === '{' ? '' : ','}${member}}`);

/** Something at the beginning of the first text in it; behind it where it has none. */
const inText = (text: string, inserted: string): string =>
  /:"/.test(text) ? text.replace(/:"/, `:"${inserted}`) : withMember(text, `"conform":"${inserted}"`);

/** Takes the place of what stands for octets that are no text. */
const MARK = 'conform-octets';

/** Deeper than recursive parsers reach. */
const DEPTH = 20_000;
/** Octets: more than the usual limits of servers and frameworks, 100 KiB and 1 MiB. */
const LARGE = 1_500_000;

const asDocumented = (text: string): string => text;

const BODIES = {
  malformed: [
    ['with its body cut short', (text) => text.slice(0, -1)],
    ['with a body that is no JSON', () => 'conform'],
  ],
  empty: [['with an empty body', () => '']],
  'other-value': [
    ['with null for a body', () => 'null'],
    ['with [] for a body', () => '[]'],
    ['with "conform" for a body', () => '"conform"'],
  ],
  odd: [
    ['with NaN in the body', (text) => withMember(text, '"conform":NaN')],
    [
      'with a number in the body that is too large for any type',
      (text) => withMember(text, '"conform":1e99999'),
    ],
    [
      'with each member of the body twice',
      (text) => withMember(text, text === '{}' ? '' : text.slice(1, -1)),
    ],
    [`with ${DEPTH} arrays in each other for a body`, () => '['.repeat(DEPTH) + ']'.repeat(DEPTH)],
    ['with half a surrogate pair in the body', (text) => inText(text, '\\ud800')],
    ['with U+0000 in the body', (text) => inText(text, '\\u0000')],
    [
      'with octets in the body that are no UTF-8',
      (text) => {
        const [before = '', after = ''] = inText(text, MARK).split(MARK);
        return Buffer.concat([Buffer.from(before), Buffer.from([0xc3, 0x28, 0xff]), Buffer.from(after)]);
      },
    ],
    ['with a byte order mark before the body', (text) => `\ufeff${text}`],
  ],
  foreign: [
    ['with XML', () => '<?xml version="1.0"?><conform/>', { type: 'application/xml' }],
    ['with content of a type that nobody knows', () => 'conform', { type: 'application/x-conform-unknown' }],
  ],
  'odd-type': [
    ['with no Content-Type', asDocumented, { type: null }],
    [
      'with a charset that nobody knows',
      asDocumented,
      { type: 'application/json; charset=x-conform-unknown' },
    ],
    [
      'with a Content-Type whose parameter is cut short',
      asDocumented,
      { type: 'application/json; charset="utf' },
    ],
    ['with a Content-Type that is no media type', asDocumented, { type: 'json' }],
  ],
  coding: [
    [
      'in a content coding that nobody knows',
      asDocumented,
      { fields: [['Content-Encoding', 'x-conform-unknown']] },
    ],
    ['as gzip, which it is not', asDocumented, { fields: [['Content-Encoding', 'gzip']] }],
  ],
  large: [[`with ${LARGE} bytes of body`, (text) => text.padEnd(LARGE)]],
  'as-text': [['with its JSON as text/plain', asDocumented, { type: 'text/plain' }]],
} as const satisfies Record<string, readonly OddBody[]>;

type BodyKind = keyof typeof BODIES;

const ENTRIES = Object.entries(BODIES).flatMap(([kind, bodies]) =>
  bodies.map((body: OddBody) => ({ kind, body })),
);

interface Tried {
  readonly replies: ReadonlyMap<string, readonly OperationReply[]>;
  /** Kinds of which some were not sent. */
  readonly left: ReadonlySet<string>;
  /** Why the rest was not sent; null where everything was. */
  readonly ended: string | null;
}

function bodiesCost(config: ServiceConfig): number {
  const isTried = config.safety.unsafeMethods && config.operations.some((each) => isMeant(each, config));
  return isTried ? Math.min(ENTRIES.length, config.safety.operationRequests) : 0;
}

/** In the order in which one of them is chosen: what changes nothing that was there before comes first. */
const METHODS = ['POST', 'PUT', 'PATCH'];

/** One operation is enough: bodies are read in one place. A creation is only asked if its item can be removed. */
const tried = probe<Tried>(
  'operation-bodies',
  {
    needs: [operationCalls],
    // Each body may create something, which is removed again.
    cost: (config) => 2 * bodiesCost(config),
    usualCost: bodiesCost,
    risks: ['change'],
  },
  async (port) => {
    const { config, ask } = port;
    if (!config.safety.unsafeMethods) throw new NotApplicable('safety.unsafeMethods is not set');
    const documented = config.operations.filter((each) => isMeant(each, config));
    if (documented.length === 0)
      throw new NotApplicable(
        'no operation is documented that takes a JSON object and changes nothing but what this run creates',
      );
    if (config.safety.operationRequests < ENTRIES.length)
      throw new Blocked(`odd bodies take ${ENTRIES.length} requests (safety.operationRequests)`);
    const { called, all } = await ask(operationCalls);
    const [operation] = documented
      .filter((each) => called.has(each))
      .sort((a, b) => METHODS.indexOf(a.method) - METHODS.indexOf(b.method));
    if (operation === undefined)
      throw new Blocked(
        'no operation that takes a JSON object is answered as documented, so this would prove nothing',
      );
    return tryBodies(operation, port, all);
  },
);

function isMeant(operation: Operation, config: ServiceConfig): boolean {
  const { method, uncallable, call } = operation;
  if (!METHODS.includes(method) || uncallable !== null || call.body === null) return false;
  if (!isJsonType(call.body.mediaType) || !isJsonObject(call.body.value)) return false;
  return operation.safe || isOfOwn(operation, lifecyclesIn(config));
}

async function tryBodies(
  operation: Operation,
  port: Pick<Port, 'config' | 'http' | 'remains' | 'signal'>,
  before: readonly OperationReply[],
): Promise<Tried> {
  const { config } = port;
  const own = new OwnItems(port, before);
  const request = aboutOwnItem(operation, lifecyclesIn(config));
  const replies = new Map<string, OperationReply[]>();
  const meant = ENTRIES.filter((each) => isRuledOut(each, operation, config));
  let sent = 0;
  try {
    for (const { kind, body } of meant) {
      const order = orderOf(operation, { ...request, body: null }, body[0]);
      const reply = await own.send(order, otherwise(body, operation, order));
      if (reply === null) throw new Blocked('the run could create no item of its own to send it to');
      replies.set(kind, [...(replies.get(kind) ?? []), reply]);
      sent += 1;
    }
    return { replies, left: new Set(), ended: null };
  } catch (error) {
    if (!(error instanceof Blocked)) throw error;
    const left = new Set(meant.slice(sent).map(({ kind }) => kind));
    return { replies, left, ended: error.message };
  }
}

/** Nothing that the documents allow is held to be wrong. */
function isRuledOut(
  { kind, body }: (typeof ENTRIES)[number],
  { call }: Operation,
  config: ServiceConfig,
): boolean {
  if (kind === 'empty' || kind === 'foreign') return call.body?.required ?? false;
  if (kind !== 'other-value') return true;
  const refuses = refusalBy(responseSchemas(config).book, call.body?.schema ?? null);
  return refuses(JSON.parse(String(body[1](''))));
}

function otherwise(
  [, content, { type, fields = [] } = {}]: OddBody,
  { body }: Operation,
  order: Order,
): Pick<Stimulus, 'fields' | 'content'> {
  const mediaType = type === undefined ? body?.mediaType : type;
  return {
    fields: [
      ...order.fields,
      ...fields,
      ...(mediaType == null ? [] : [['Content-Type', mediaType] as const]),
    ],
    content: content(body?.text ?? '{}'),
  };
}

/** What came of the bodies of a kind, and why some of them were not sent. */
export const bodiesOf = Object.fromEntries(
  Object.keys(BODIES).map((kind) => [
    kind,
    risky(
      derived(`operation-bodies-${kind}`, [tried], async ({ ask }): Promise<Selected<OperationReply>> => {
        const { replies, left, ended } = await ask(tried);
        const all = replies.get(kind) ?? [];
        const shortfall =
          ended !== null && left.has(kind) ? ({ end: 'blocked', reason: ended } as const) : null;
        if (all.length === 0 && shortfall === null)
          throw new NotApplicable('the documents do not rule such a body out');
        return { all, shortfall };
      }),
    ),
  ]),
) as Readonly<Record<BodyKind, Probe<Selected<OperationReply>>>>;
