import { documentedSample, type Sample } from '../../base/clause.ts';
import type { WebhooksConfig } from '../../config/blocks/webhooks.ts';
import { whyKeyless } from '../../config/blocks/websocket.ts';
import type { Operation, ServiceConfig, WebSocketConfig } from '../../config/service.ts';
import type { Service, SocketEndpoint } from '../behavior/behavior.ts';
import type { WebhookSender } from '../behavior/webhooks.ts';
import type { App } from '../credentials/access.ts';
import { type Answer, problem, served } from '../http/answer.ts';
import { splitTarget } from '../http/message.ts';
import type { Route } from '../http/routes.ts';
import { Channels } from './channels.ts';
import { describedItems } from './described-items.ts';
import { conversePusher } from './pusher-connection.ts';
import { echo, sendEvent } from './realtime.ts';

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
  const calls: readonly Call[] = [
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

/** What stands for a service of which nothing is documented; one that is a WebSocket alone serves nothing else. */
const BASE_ADDRESS: Sample = { method: 'GET', path: '/', fields: {}, body: null };

/** A documented request. */
interface Call {
  readonly method: string;
  readonly target: string;
  /** Null where any will do. */
  readonly body: string | null;
  /** No credential is demanded. */
  readonly isOpen: boolean;
  readonly answer: (body: string) => Answer;
}

function callOf({ method, path, body, auth, response }: Operation): Call {
  return {
    method,
    target: path,
    body: body?.text ?? '',
    isOpen: auth !== 'required',
    answer: () => ({ ...served({ ok: true }), status: response.status }),
  };
}

function sampleOf({ method, path }: Sample): Call {
  return { method, target: path, body: null, isOpen: false, answer: () => served({ ok: true }) };
}

function triggerOf({ trigger }: WebhooksConfig, sender: WebhookSender | null): Call {
  return {
    method: trigger.method,
    target: trigger.path,
    body: null,
    isOpen: false,
    answer: (body) => sendEvent(/http:\/\/[^"\s]+/.exec(body)?.[0], sender),
  };
}

function routeOf(path: string, calls: readonly Call[]): Route {
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
          // Parameters that nobody documented are ignored.
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
