import type { BadInput, Operation, OperationRequest, Safety } from '../../../harness/config/service.ts';
import { SAFE_METHODS } from '../../../harness/wire/request.ts';

/** What a request to an operation is for. */
export type TrialKind = 'call' | 'no-credential' | 'unknown-method' | BadInput['kind'] | 'lifecycle';

/** One request to an operation. */
export interface Order extends OperationRequest {
  readonly operation: Operation;
  readonly kind: TrialKind;
  readonly method: string;
  /** Completes "GET /v1/resources/{id} …". */
  readonly what: string;
}

/** A request that is not sent, or shows nothing, and why. */
export interface Unexercised {
  readonly operation: Operation;
  readonly kind: TrialKind;
  readonly reason: string;
  /**
   * `unfit`: it cannot be called as it is documented. `unsafe`: the config does not allow it. `capped`: there would
   * have been too many, or they would have taken too long. `left`: not sent, or without a meaning, in this run. `open`:
   * nothing is documented that it could be held to.
   */
  readonly why: 'unfit' | 'unsafe' | 'capped' | 'left' | 'open';
}

export interface OperationPlan {
  readonly orders: readonly Order[];
  readonly unexercised: readonly Unexercised[];
}

/** A well-formed method that nobody has registered: nothing can have a side effect for it. */
const UNKNOWN_METHOD = 'CONFORM';

/** Kinds beside the call itself, in the order in which the requests are shared out. */
export const FURTHER: readonly Exclude<TrialKind, 'call' | 'lifecycle'>[] = [
  'no-credential',
  'wrong-type',
  'missing',
  'out-of-range',
  'surplus',
  'unknown-method',
  'extra',
];

interface Planned {
  readonly operations: readonly Operation[];
  readonly safety: Safety;
  /** The service demands a credential at all. */
  readonly credentialed: boolean;
  /** Requests that its documentation rules out; asked only of operations that get some. */
  readonly badInputsOf: (operation: Operation) => readonly BadInput[];
}

/** The requests to operations: up to half are calls, the rest tries what is called. The cut of the ceiling is listed. */
export function planOperations({ operations, safety, credentialed, badInputsOf }: Planned): OperationPlan {
  const ceiling = safety.operationRequests;
  const unexercised: Unexercised[] = [];
  const callable: Operation[] = [];
  for (const operation of operations) {
    const reason = whyNotCalled(operation, safety);
    if (reason === null) callable.push(operation);
    else unexercised.push({ operation, kind: 'call', ...reason });
  }
  const calls = callable.map((operation) => callOf(operation));
  const first = calls.slice(0, Math.ceil(ceiling / 2));
  const subjects = first.map(({ operation }) => ({ operation, badInputs: badInputsOf(operation) }));
  const wanted = inTurns(subjects, credentialed);
  const further = wanted.slice(0, ceiling - first.length);
  const more = calls.slice(first.length, ceiling - further.length);
  const cut = [...calls.slice(first.length + more.length), ...wanted.slice(further.length)];
  const reason = `the suite is limited to ${ceiling} requests (safety.operationRequests)`;
  return {
    orders: [...first, ...more, ...further],
    unexercised: [
      ...unexercised,
      ...cut.map(({ operation, kind }) => ({ operation, kind, reason, why: 'capped' as const })),
    ],
  };
}

export function isSafe({ method }: Operation): boolean {
  return SAFE_METHODS.has(method);
}

function whyNotCalled(operation: Operation, safety: Safety): Pick<Unexercised, 'reason' | 'why'> | null {
  if (operation.uncallable !== null) return { reason: operation.uncallable, why: 'unfit' };
  if (isSafe(operation) || safety.unsafeMethods) return null;
  return { reason: `${operation.method} is not allowed here (safety.unsafeMethods)`, why: 'unsafe' };
}

function callOf(operation: Operation): Order {
  const { method, path, fields, body } = operation;
  return { operation, kind: 'call', method, path, fields, body, what: 'as documented' };
}

/** Without the fragment by which a document tells operations of one path apart. */
function pathOf({ template }: Operation): string {
  return template.split('#', 1)[0] ?? '';
}

interface TrialSubject {
  readonly operation: Operation;
  readonly badInputs: readonly BadInput[];
}

/** One request of each kind for each operation in turn, so that a ceiling cuts all kinds evenly. */
function inTurns(subjects: readonly TrialSubject[], credentialed: boolean): readonly Order[] {
  const paths = new Set<string>();
  const queues = FURTHER.map((kind) =>
    subjects.flatMap((subject) => trialsOf(subject, kind, credentialed, paths)),
  );
  const longest = Math.max(0, ...queues.map(({ length }) => length));
  return Array.from({ length: longest }, (_, turn) =>
    queues.flatMap((queue) => queue.slice(turn, turn + 1)),
  ).flat();
}

function trialsOf(
  { operation, badInputs }: TrialSubject,
  kind: (typeof FURTHER)[number],
  credentialed: boolean,
  paths: Set<string>,
): readonly Order[] {
  const call = callOf(operation);
  switch (kind) {
    case 'no-credential':
      return credentialed && operation.auth === 'required'
        ? [{ ...call, kind, what: 'without a credential' }]
        : [];
    case 'unknown-method':
      // Once for each path, whatever methods it has.
      if (paths.has(pathOf(operation))) return [];
      paths.add(pathOf(operation));
      return [
        {
          ...call,
          kind,
          method: UNKNOWN_METHOD,
          body: null,
          what: 'with a method that nobody has registered',
        },
      ];
    default:
      return badInputs
        .filter((input) => input.kind === kind)
        .map(({ path, fields, body, what }) => ({ ...call, kind, path, fields, body, what }));
  }
}
