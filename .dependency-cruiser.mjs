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

/** Within a room: each folder imports only from those before it, and never from what stands beside them. */
const STOREYS = [
  {
    room: 'harness/config/',
    folders: [
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
  { room: 'harness/transport/', folders: ['pace', 'reader', 'socket', 'http', 'websocket'] },
  { room: 'harness/session/', folders: ['turn', 'websocket', 'http', 'pact'] },
  { room: 'harness/probe/', folders: ['request', 'quota', 'operation', 'websocket'] },
  {
    room: 'harness/provider/reference/',
    folders: ['http', 'quota', 'websocket', 'credentials', 'conduct', 'services', 'variants', 'defects'],
  },
];

const storeyRules = STOREYS.flatMap(({ room, folders }) =>
  folders.map((folder, height) => ({
    name: `storey-${room.replaceAll('/', '-')}${folder}`,
    comment: 'Two folders that need each other are one, or hide a third below both.',
    severity: 'error',
    from: { path: `^${room}${folder}/`, pathNot: TESTS },
    to: {
      path: [...folders.slice(height + 1).map((other) => `^${room}${other}/`), `^${room}[^/]+$`],
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
