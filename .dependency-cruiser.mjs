/**
 * The floors of the house: a room imports only from floors below it, so that the way of the data stays one way
 * (contract + service -> session -> probe -> evidence -> check -> outcome -> results -> reports).
 */
const FLOORS = [
  {
    floor: 'exit codes, verdicts, what was thrown, what a JSON text holds, what listens on loopback',
    rooms: ['harness/base/'],
  },
  { floor: 'contract and evidence', rooms: ['harness/contract/', 'harness/evidence/'] },
  { floor: 'credential', rooms: ['harness/credential/'] },
  { floor: 'config and report', rooms: ['harness/config/', 'harness/report/'] },
  {
    floor: 'transport and diagnosis',
    rooms: ['harness/transport/', 'harness/diagnosis/'],
  },
  {
    floor: 'provider, pact and memory',
    rooms: ['harness/provider/', 'harness/pact/', 'harness/memory/'],
  },
  { floor: 'session', rooms: ['harness/session/'] },
  { floor: 'check and probe', rooms: ['harness/check/', 'harness/probe/'] },
  { floor: 'suites and run', rooms: ['suites/', 'harness/run/', 'harness/proof/'] },
  { floor: 'command line', rooms: ['harness/cli/'] },
];

/** Tests may reach up: they drive a room through the rooms above it. */
const TESTS = '\\.test\\.ts$|/fixtures/';

const floorRules = FLOORS.flatMap(({ floor, rooms }, height) => {
  const above = FLOORS.slice(height + 1).flatMap((upper) => upper.rooms);
  return rooms.map((room) => {
    const neighbours = rooms.filter((other) => other !== room);
    return {
      name: `floor-${height}-${room.replaceAll(/[^a-z-]/g, '')}`,
      comment: `${floor}: a room knows nothing of the rooms above it or beside it; move what both need one floor down.`,
      severity: 'error',
      from: { path: `^${room}`, pathNot: TESTS },
      to: { path: [...above, ...neighbours].map((other) => `^${other}`) },
    };
  });
}).filter(({ to }) => to.path.length > 0);

/**
 * Within a room: each folder, and each file that is named among them, imports only from those before it. The other files
 * that stand beside them are above them all.
 */
const STOREYS = [
  {
    room: 'harness/evidence/',
    parts: [
      'octets',
      'json',
      'record',
      'exchange.ts',
      'burst.ts',
      'redaction',
      'conversation.ts',
      'evidence.ts',
      'fields',
      'quota',
      'exchange',
      'conversation',
      'forms',
      'limit',
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
  { room: 'harness/report/', parts: ['results', 'terminal', 'in-pieces.ts', 'format.ts', 'html'] },
  { room: 'harness/transport/', parts: ['pace', 'reader', 'socket', 'http', 'websocket'] },
  { room: 'harness/session/', parts: ['turn', 'websocket', 'http', 'pact'] },
  { room: 'harness/probe/', parts: ['request', 'quota', 'operation', 'websocket'] },
  {
    room: 'harness/provider/',
    parts: [
      'provider.ts',
      'log-capture.ts',
      'readiness.ts',
      'process-group.ts',
      'runtime',
      'process',
      'container',
      'reference',
    ],
  },
  {
    room: 'harness/provider/reference/',
    parts: ['http', 'quota', 'websocket', 'credentials', 'conduct', 'services', 'variants', 'defects'],
  },
  {
    room: 'harness/run/',
    parts: [
      'sessions.ts',
      'turns',
      'selection',
      'announcement.ts',
      'pact',
      'simulation',
      'judging',
      'provider',
      'rehearsal',
      'engine',
      'request.ts',
      'ending',
    ],
  },
  {
    room: 'suites/',
    parts: [
      'row.ts',
      'steady.ts',
      'messages.ts',
      'versioning.suite.ts',
      'status',
      'json.suite.ts',
      'framing',
      'auth',
      'limits',
      'headers',
      'negotiation',
      'paths',
      'operations',
      'websocket',
      'caching',
    ],
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
        'A suite is written with what harness/check/suite.ts and the probes export and nothing deeper: parsing and state belong to evidence and probes, and the suites of users stand on the same surface.',
      severity: 'error',
      from: { path: '^suites/', pathNot: [TESTS, '^suites/tests/'] },
      to: { path: '^harness/', pathNot: ['^harness/check/suite\\.ts$', '^harness/probe/'] },
    },
    {
      name: 'no-fixtures',
      comment: 'What lies in fixtures is for tests alone; what others need as well has a place of its own.',
      severity: 'error',
      // What is measured by hand shares how it is measured with the benchmarks that lie in fixtures.
      from: { path: '^(harness|suites)/', pathNot: [TESTS, '^harness/cli/scripts/benchmark-'] },
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
      from: { path: '^(harness|suites)/', pathNot: [TESTS, '^harness/package/'] },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], pathNot: 'node_modules/@types/' },
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
