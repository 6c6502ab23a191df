import { describe, it } from 'vitest';
import { type BadConfig, expectFault, GOOD_SERVICE } from './fixtures/config-folder.ts';

/** The good service with one more block. */
const and = (block: string) => GOOD_SERVICE + block;

const LIMITS: readonly BadConfig[] = [
  {
    what: 'a plan without a window',
    service: and('plan: §{ requests: 5 }\n'),
    key: 'plan.window',
    problem: 'is missing',
    remedy: '60s',
  },
  {
    what: 'a plan without requests',
    service: and('plan: §{ window: 5s }\n'),
    key: 'plan.requests',
    problem: 'is missing',
    remedy: 'requests',
  },
  {
    what: 'a window without a unit',
    service: and('plan: { requests: 5, window: §60 }\n'),
    key: 'plan.window',
    problem: 'must be text, not a number',
    remedy: '60s, 5m or 250ms',
  },
  {
    what: 'a window in an unknown unit',
    service: and('plan: { requests: 5, window: §1 fortnight }\n'),
    key: 'plan.window',
    problem: 'has the wrong form',
    remedy: '60s, 5m or 250ms',
  },
  {
    what: 'a window of zero',
    service: and('plan: { requests: 5, window: §0s }\n'),
    key: 'plan.window',
    problem: 'is zero',
    remedy: '1ms',
  },
  {
    what: 'a negative window',
    service: and('plan: { requests: 5, window: §-5s }\n'),
    key: 'plan.window',
    problem: 'has the wrong form',
    remedy: '60s',
  },
  {
    what: 'a window of days',
    service: and('plan: { requests: 5, window: §48h }\n'),
    key: 'plan.window',
    problem: 'too long',
    remedy: '1440m',
  },
  {
    what: 'a window that a variable spoils',
    service: and(`plan: { requests: 5, window: §"\${env:WINDOW}" }\n`),
    options: { env: { WINDOW: 'soon' } },
    key: 'plan.window',
    problem: 'has the wrong form',
    remedy: '60s',
  },
  {
    what: 'a plan of no requests',
    service: and('plan: { requests: §0, window: 60s }\n'),
    key: 'plan.requests',
    problem: 'must be at least 1',
    remedy: 'at least 1',
  },
  {
    what: 'a plan of half a request',
    service: and('plan: { requests: §0.5, window: 60s }\n'),
    key: 'plan.requests',
    problem: 'must be a whole number, not a fraction',
    remedy: 'whole number',
  },
  {
    what: 'a ceiling below the burst that is allowed',
    service: and(
      'plan: { requests: 100, window: 60s }\nsafety: { exceedRateLimit: true, maxRequests: §150 }\n',
    ),
    key: 'safety.maxRequests',
    problem: '150 requests cannot exceed a limit of 100',
    remedy: 'at least 220',
  },
  {
    what: 'a time-out of zero',
    service: and('timeouts: { response: §0ms }\n'),
    key: 'timeouts.response',
    problem: 'is zero',
    remedy: '1ms',
  },
  {
    what: 'a time-out of hours',
    service: and('timeouts: { connect: §1h }\n'),
    key: 'timeouts.connect',
    problem: 'too long',
    remedy: '10m',
  },
];

const operation = (text: string) => and(`operations:\n  - ${text}\n`);

const CALLS: readonly BadConfig[] = [
  {
    what: 'a path without a slash',
    service: operation('{ id: a, method: GET, path: §v1/orders }'),
    key: 'operations.0.path',
    problem: 'does not begin with /',
    remedy: 'below the base address',
  },
  {
    what: 'a path to another host',
    service: operation('{ id: a, method: GET, path: §//other.example/ }'),
    key: 'operations.0.path',
    problem: 'another host',
    remedy: 'one slash',
  },
  {
    what: 'a path with a placeholder',
    service: operation("{ id: a, method: GET, path: §'/orders/{id}' }"),
    key: 'operations.0.path',
    problem: 'placeholder',
    remedy: 'existing resource',
  },
  {
    what: 'a path with a broken percent-encoding',
    service: operation('{ id: a, method: GET, path: §/100% }'),
    key: 'operations.0.path',
    problem: '%',
    remedy: '%25',
  },
  {
    what: 'a method in small letters',
    service: operation('{ id: a, method: §get, path: /a }'),
    key: 'operations.0.method',
    problem: '"get" is not known',
    remedy: 'did you mean GET',
  },
  {
    what: 'an operation without a path',
    service: operation('§{ id: a, method: GET }'),
    key: 'operations.0.path',
    problem: 'is missing',
    remedy: 'add `path:`',
  },
  {
    what: 'a duplicate operation',
    service: operation('{ id: a, method: GET, path: /a }\n  - { id: §a, method: GET, path: /b }'),
    key: 'operations.1.id',
    problem: 'operation 1 has the id "a" already',
    remedy: 'its own',
  },
  {
    what: 'a schema file that is missing',
    service: operation('{ id: a, method: GET, path: /a, response: { schema: §schemas/a.json } }'),
    key: 'operations.0.response.schema',
    problem: 'there is no such file',
    remedy: 'relative to this file',
  },
  {
    what: 'a schema file that is not JSON',
    service: operation('{ id: a, method: GET, path: /a, response: { schema: §a.json } }'),
    files: { 'services/a.json': '{"type": object}' },
    key: 'operations.0.response.schema',
    problem: 'is not JSON',
    remedy: 'one JSON text',
  },
  {
    what: 'a schema file that is no JSON Schema',
    service: operation('{ id: a, method: GET, path: /a, response: { schema: §a.json } }'),
    files: { 'services/a.json': '{"type": "thing"}' },
    key: 'operations.0.response.schema',
    problem: 'is not a JSON Schema',
    remedy: 'correct the schema',
  },
  {
    what: 'a schema that points outside itself',
    service: operation(
      '{ id: a, method: GET, path: /a, response: { schema: §{ $ref: "https://a.example/b" } } }',
    ),
    key: 'operations.0.response.schema',
    problem: 'is not a JSON Schema',
    remedy: 'correct the schema',
  },
  {
    what: 'a websocket address that is none',
    service: and('websocket: { url: §ws }\n'),
    key: 'websocket.url',
    problem: 'no WebSocket address',
    remedy: '/ws',
  },
  {
    what: 'a websocket address over http',
    service: and("websocket: { url: §'https://orders.example/ws' }\n"),
    key: 'websocket.url',
    problem: 'no WebSocket address',
    remedy: 'wss',
  },
  {
    what: 'a websocket fragment',
    service: and('websocket: { url: §/ws#a }\n'),
    key: 'websocket.url',
    problem: 'fragment',
    remedy: 'leave it out',
  },
  {
    what: 'a websocket without address',
    service: and('websocket: §{ echo: true }\n'),
    key: 'websocket.url',
    problem: 'is missing',
    remedy: '/ws',
  },
  {
    what: 'an unknown dialect',
    service: and('websocket: { url: /ws, dialect: §pushr }\n'),
    key: 'websocket.dialect',
    problem: '"pushr" is not known',
    remedy: 'did you mean pusher?',
  },
  {
    what: 'an origin with a path',
    service: and("websocket: { url: /ws, origin: §'https://app.example/' }\n"),
    key: 'websocket.origin',
    problem: 'is not an origin',
    remedy: 'https://app.example',
  },
  {
    what: 'a subprotocol that is no token',
    service: and('websocket: { url: /ws, subprotocols: [§"a b"] }\n'),
    key: 'websocket.subprotocols.0',
    problem: 'is not a token',
    remedy: 'letters',
  },
];

describe('a service config with a value that cannot be', () => {
  it.each([...LIMITS, ...CALLS])('is refused: $what', expectFault);
});
