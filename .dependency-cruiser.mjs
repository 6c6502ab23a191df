/**
 * The floors of the house, lowest first: a room imports only from rooms below it, so that the way of the data stays one
 * way (contract + service -> plan -> record -> checks -> findings -> results -> reports).
 */
const ROOMS = [
  { room: 'harness/base/', holds: 'exit codes, authority, clauses, verdicts' },
  {
    room: 'harness/wire/',
    holds: 'HTTP, WebSocket, raw octets; evidence, redaction, the quota model, the clock',
  },
  { room: 'harness/config/', holds: 'from files to a service: shapes, secrets, credentials, documents' },
  { room: 'harness/report/', holds: 'results, findings, causes, memory of earlier runs, formats' },
  { room: 'harness/providers/', holds: 'container, command, socket, URL; the pact verifier' },
  { room: 'harness/reference/', holds: 'the embedded services with their defects and variants' },
  { room: 'harness/engine/', holds: 'plan, send, record, judge; the parts of a check; workers' },
  { room: 'suites/', holds: 'rules and their stimuli' },
  { room: 'harness/proof/', holds: 'every defect and variant against every check' },
  { room: 'harness/cli/', holds: 'commands; the package' },
];

/** Tests may reach up: they drive a room through the rooms above it. */
const TESTS = '\\.test\\.ts$|/fixtures/';

/** It asks for one stimulus by name. */
const ASKS_STIMULI = '^harness/engine/provider/first-answer\\.ts$';

const floorRules = ROOMS.slice(0, -1).map(({ room, holds }, height) => ({
  name: `floor-${height}-${room.replaceAll(/[^a-z-]/g, '')}`,
  comment: `${holds}: a room knows nothing of the rooms above it; move what both need one floor down.`,
  severity: 'error',
  from: { path: `^${room}`, pathNot: [TESTS, '^suites/tests/', ASKS_STIMULI] },
  to: { path: ROOMS.slice(height + 1).map((above) => `^${above.room}`) },
}));

/**
 * Within a room: each folder, and each file that is named among them, imports only from those before it. The other files
 * that stand beside them are above them all.
 */
const STOREYS = [
  {
    room: 'harness/wire/',
    parts: [
      'octets',
      'json',
      'record',
      'exchange.ts',
      'request.ts',
      'redaction',
      'conversation.ts',
      'evidence.ts',
      'fields',
      'quota',
      'exchange',
      'conversation',
      'forms',
      'limit',
      'pace',
      'reader',
      'socket',
      'http',
      'websocket',
    ],
  },
  {
    room: 'harness/config/',
    parts: [
      'yaml',
      'shape',
      'document',
      'draft',
      'contract',
      'kept',
      'provider',
      'operation',
      'pact',
      'blocks',
    ],
  },
  {
    room: 'harness/report/',
    parts: ['results', 'diagnosis', 'format.ts', 'whole-file.ts', 'memory', 'terminal', 'html'],
  },
  {
    room: 'harness/reference/',
    parts: ['http', 'quota', 'websocket', 'credentials.ts', 'behavior', 'services', 'variants', 'defects'],
  },
];

const pathOf = (room, part) =>
  `^${room}${part.endsWith('.ts') ? `${part.replaceAll('.', '\\.')}$` : `${part}/`}`;

const storeyRules = STOREYS.flatMap(({ room, parts }) =>
  parts.map((part, height) => ({
    name: `storey-${room.replaceAll('/', '-')}${part}`,
    comment: 'Two folders that need each other are one, or hide a third below both.',
    severity: 'error',
    from: { path: pathOf(room, part), pathNot: TESTS },
    to: {
      path: [...parts.slice(height + 1).map((other) => pathOf(room, other)), `^${room}[^/]+$`],
      pathNot: parts.slice(0, height + 1).map((below) => pathOf(room, below)),
    },
  })),
);

export default {
  forbidden: [
    ...floorRules,
    ...storeyRules,
    {
      name: 'suite-surface',
      comment:
        'A rule is written with what harness/engine/check/suite.ts and the stimuli export and nothing deeper: parsing and state belong to evidence and stimuli, and the suites of users stand on the same surface.',
      severity: 'error',
      from: { path: '^suites/', pathNot: [TESTS, '^suites/tests/', '/stimuli/'] },
      to: { path: '^harness/', pathNot: ['^harness/engine/check/suite\\.ts$'] },
    },
    {
      name: 'stimuli-know-no-rules',
      comment:
        'A stimulus serves every rule: it imports other stimuli and the engine, never a rule. Tests may.',
      severity: 'error',
      from: { path: '^suites/.*/?stimuli/', pathNot: TESTS },
      to: { path: '^suites/', pathNot: '/stimuli/' },
    },
    {
      name: 'no-fixtures',
      comment: 'What lies in fixtures is for tests alone; what others need as well has a place of its own.',
      severity: 'error',
      from: { path: '^(harness|suites)/', pathNot: [TESTS, '^suites/tests/'] },
      to: { path: '/fixtures/' },
    },
    {
      name: 'no-circular',
      comment: 'Two files that need each other are one idea, or hide a third.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'same-properties',
      comment: 'What seeds the properties is said once: harness/base/fixtures/properties.ts.',
      severity: 'error',
      from: { path: '^(harness|suites)/', pathNot: '^harness/base/fixtures/properties\\.ts$' },
      to: { path: 'node_modules/fast-check' },
    },
    {
      name: 'no-dev-dependency',
      comment: 'What ships may not need what only development installs.',
      severity: 'error',
      from: { path: '^(harness|suites)/', pathNot: [TESTS, '^harness/cli/(?:package|scripts)/'] },
      // Optional peers: asked for by name when a run needs one and it is not installed.
      to: {
        dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'],
        pathNot: 'node_modules/(?:@types|@redis/client|@pact-foundation/pact-core|testcontainers|vitest)/',
      },
    },
    {
      name: 'tests-are-leaves',
      comment: 'Nobody imports a test.',
      severity: 'error',
      from: {},
      to: { path: '\\.test\\.ts$' },
    },
    {
      name: 'resolvable',
      comment: 'An import that resolves to nothing fails at run time.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    parser: 'swc',
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
};
