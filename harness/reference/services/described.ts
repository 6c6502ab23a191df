import { documentedSample, type Sample } from '../../base/clause.ts';
import type { JsonObject } from '../../base/json-text.ts';
import type { WebhooksConfig } from '../../config/blocks/webhooks.ts';
import { whyKeyless } from '../../config/blocks/websocket.ts';
import { type Lifecycle, lifecyclesOf } from '../../config/operation/lifecycle.ts';
import type { Operation, ServiceConfig, WebSocketConfig } from '../../config/service.ts';
import { SchemaBook } from '../../wire/json/schema.ts';
import type { Service, SocketEndpoint } from '../behavior/behavior.ts';
import { entityTagOf } from '../behavior/preconditions.ts';
import type { WebhookSender } from '../behavior/webhooks.ts';
import type { App } from '../credentials.ts';
import { bare, type HttpAnswer, problem, served } from '../http/answer.ts';
import { fieldValue, objectIn, type ReceivedRequest, splitTarget } from '../http/message.ts';
import type { Route, RouteCall } from '../http/routes.ts';
import { Channels } from './channels.ts';
import { conversePusher, echo, sendEvent } from './realtime.ts';

/**
 * A service that conforms to what a config says: it takes the documented sample and each operation as it is
 * documented, speaks over its WebSocket, and refuses everything else.
 */
export function describedService(
  config: ServiceConfig,
  app: App | null,
  sender: WebhookSender | null,
): Service {
  const { service, contract, operations, websocket, webhooks } = config;
  const sample = documentedSample(contract) ?? (websocket === null ? BASE_ADDRESS : null);
  const calls: readonly DescribedCall[] = [
    ...operations.map(callOf),
    ...(sample ? [sampleOf(sample)] : []),
    ...(webhooks ? [triggerOf(webhooks, sender)] : []),
  ];
  const byPath = Map.groupBy(calls, ({ target }) => splitTarget(target).path);
  return {
    name: service,
    routes: joined([...describedItems(config), ...[...byPath].map(([path, those]) => routeOf(path, those))]),
    sockets: websocket === null ? [] : [endpointOf(websocket, app)],
  };
}

/** The sample of a service without documents; a service with a WebSocket alone serves nothing else. */
const BASE_ADDRESS: Sample = { method: 'GET', path: '/', fields: {}, body: null };

/** A documented request. */
interface DescribedCall {
  readonly method: string;
  readonly target: string;
  /** Null where any will do. */
  readonly body: string | null;
  /** No credential is demanded. */
  readonly isOpen: boolean;
  readonly answer: (body: string) => HttpAnswer;
}

function callOf({ method, path, body, auth, response }: Operation): DescribedCall {
  return {
    method,
    target: path,
    body: body?.text ?? '',
    isOpen: auth !== 'required',
    answer: () => ({ ...served({ ok: true }), status: response.status }),
  };
}

function sampleOf({ method, path }: Sample): DescribedCall {
  return { method, target: path, body: null, isOpen: false, answer: () => served({ ok: true }) };
}

function triggerOf({ trigger }: WebhooksConfig, sender: WebhookSender | null): DescribedCall {
  return {
    method: trigger.method,
    target: trigger.path,
    body: null,
    isOpen: false,
    answer: (body) => sendEvent(/http:\/\/[^"\s]+/.exec(body)?.[0], sender),
  };
}

function routeOf(path: string, calls: readonly DescribedCall[]): Route {
  const methods = Map.groupBy(calls, ({ method }) => method);
  return {
    template: path.split('/').map(decoded).join('/'),
    credential: calls.every(({ isOpen }) => isOpen) ? 'none' : 'any',
    methods: Object.fromEntries(
      [...methods].map(([method, those]) => [
        method,
        ({ request: { target, body } }) => {
          const text = body.toString('utf8');
          const alike = those.filter((each) => (each.body ?? text) === text);
          // Undocumented parameters are ignored.
          const call =
            alike.find((each) => each.target === target) ?? alike.find((each) => !each.target.includes('?'));
          return call?.answer(text) ?? problem('invalid-content');
        },
      ]),
    ),
  };
}

/** Of routes to one path the first knows its methods best. */
function joined(routes: readonly Route[]): readonly Route[] {
  const byTemplate = Map.groupBy(routes, ({ template }) => template);
  return [...byTemplate.values()].flatMap((alike) => {
    const [first] = alike;
    const methods = Object.fromEntries(alike.toReversed().flatMap((route) => Object.entries(route.methods)));
    return first === undefined ? [] : [{ ...first, methods }];
  });
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function endpointOf(websocket: WebSocketConfig, app: App | null): SocketEndpoint {
  const { url, dialect, echo: echoes, credential } = websocket;
  const { path } = splitTarget(url);
  const channels = new Channels();
  return {
    template: path,
    // Who carries his key elsewhere in handshakes is let in without a look at it.
    credential: whyKeyless(websocket) === null && credential === undefined,
    converse(socket, request) {
      if (dialect === 'pusher') {
        conversePusher(socket, request, path.split('/').at(-1) ?? '', { app, channels });
      } else if (echoes) {
        echo(socket);
      }
    },
  };
}

/** The items that the operations of a config create, change and remove: held as they are documented, with ETags. */
export function describedItems({ operations, definitions = {} }: ServiceConfig): readonly Route[] {
  const book = new SchemaBook(definitions);
  return lifecyclesOf(operations, definitions).flatMap((each) => routesOf(each, book));
}

function routesOf(
  { create, read, update, replace, remove, list, idMember, readable }: Lifecycle,
  book: SchemaBook,
): readonly Route[] {
  const items = new Map<string, JsonObject>();
  const byKey = new Map<string, string>();
  const path = splitTarget(create.path).path;
  let created = 0;

  const itemOf = (id: string, members: JsonObject): JsonObject => {
    const value = readable[idMember]?.type === 'integer' ? Number(id) : id;
    const item = { ...members, [idMember]: value };
    items.set(id, item);
    return item;
  };
  const changing =
    (operation: Operation, change: (item: JsonObject, members: JsonObject) => JsonObject) =>
    ({ request, parameters: { id = '' } }: RouteCall): HttpAnswer => {
      const item = items.get(id);
      if (item === undefined) return problem('not-found');
      const wanted = fieldValue(request, 'if-match');
      if (wanted !== undefined && wanted !== entityTagOf(served(item).body)) {
        return problem('precondition-failed');
      }
      const members = membersIn(request, operation, book);
      return members === null
        ? problem('invalid-content')
        : answered(operation, itemOf(id, change(item, members)));
    };

  return [
    {
      template: path,
      credential: 'any',
      methods: {
        POST: ({ request }) => {
          const members = membersIn(request, create, book);
          if (members === null) return problem('invalid-content');
          const key = fieldValue(request, 'idempotency-key') ?? '';
          created += 1;
          const id = byKey.get(key) ?? String(created);
          if (key !== '') byKey.set(key, id);
          return answered(create, itemOf(id, members), [['Location', `${path}/${id}`]]);
        },
        ...(list && { GET: () => answered(list, [...items.values()]) }),
      },
    },
    {
      template: `${path}/:id`,
      credential: 'any',
      methods: {
        GET: ({ parameters: { id = '' } }) => {
          const item = items.get(id);
          return item === undefined ? problem('not-found') : answered(read, item);
        },
        DELETE: ({ parameters: { id = '' } }) => {
          if (!items.delete(id)) return problem('not-found');
          return bare('served', remove.response.status);
        },
        ...(update && { PATCH: changing(update, (item, members) => ({ ...item, ...members })) }),
        ...(replace && { PUT: changing(replace, (_, members) => members) }),
      },
    },
  ];
}

function answered(
  { response: { status } }: Operation,
  content: unknown,
  fields: HttpAnswer['fields'] = [],
): HttpAnswer {
  return { ...served(content, fields), status };
}

/** null where the content is not what the operation takes. */
function membersIn(request: ReceivedRequest, { call }: Operation, book: SchemaBook): JsonObject | null {
  const members = objectIn(request);
  if (members === null || call.body?.schema === undefined || call.body.schema === null) return members;
  return book.compile(call.body.schema)(members) === null ? members : null;
}
