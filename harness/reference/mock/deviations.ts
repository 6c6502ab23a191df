import { isJsonObject } from '../../base/json-text.ts';
import type { DocumentedAnswer, Operation } from '../../config/service.ts';
import type { HttpAnswer } from '../http/answer.ts';
import { withField, withoutField } from '../http/message.ts';

/** A deliberate difference of a mock from its document. */
export interface MockDeviation {
  readonly name: string;
  /** Completes "The service …". */
  readonly cause: string;
  /** Parts of its behavior that are left out. */
  readonly lacks?: 'creation' | 'removal' | 'change' | 'validation' | 'credential';
  readonly change?: (answer: HttpAnswer, of: MockAnswer) => HttpAnswer;
}

export interface MockAnswer {
  readonly operation: Operation;
  readonly documented: DocumentedAnswer;
  readonly schema: unknown;
  /** Whether the schema refuses a value. */
  readonly refuses: (value: unknown) => boolean;
}

export const MOCK_DEVIATIONS: readonly MockDeviation[] = [
  {
    name: 'other-status',
    cause: 'answers with a status that is not documented',
    change: (answer, { operation }) =>
      operation.answers.some(({ code }) => ['2XX', 'default', '207'].includes(code))
        ? answer
        : { ...answer, status: 207 },
  },
  {
    name: 'missing-member',
    cause: 'leaves out a required member',
    change: inJson((value, refuses) => {
      for (const name of Object.keys(value)) {
        const { [name]: _, ...rest } = value;
        if (refuses(rest)) return rest;
      }
      return value;
    }),
  },
  {
    name: 'other-type',
    cause: 'answers with a member of another type',
    change: inJson((value, refuses) => {
      for (const name of Object.keys(value)) {
        for (const other of [{ surprise: true }, 'surprise', null]) {
          const changed = { ...value, [name]: other };
          if (refuses(changed)) return changed;
        }
      }
      return value;
    }),
  },
  {
    name: 'other-media-type',
    cause: 'answers with a media type that is not documented',
    change: (answer) =>
      answer.body.length === 0 ? answer : withField(answer, 'Content-Type', 'application/x-surprise'),
  },
  {
    name: 'missing-header',
    cause: 'leaves out a required header',
    change: (answer, { documented }) =>
      withoutField(answer, ...documented.headers.filter(({ required }) => required).map(({ name }) => name)),
  },
  { name: 'forgotten-creation', cause: 'does not keep what it creates', lacks: 'creation' },
  { name: 'kept-removal', cause: 'keeps what it removes', lacks: 'removal' },
  { name: 'lost-change', cause: 'does not keep changes', lacks: 'change' },
  { name: 'unchecked-input', cause: 'takes input that its document rules out', lacks: 'validation' },
  { name: 'open-operations', cause: 'asks for no credential', lacks: 'credential' },
];

function inJson(
  change: (value: Readonly<Record<string, unknown>>, refuses: (value: unknown) => boolean) => unknown,
): NonNullable<MockDeviation['change']> {
  return (answer, { refuses, schema }) => {
    if (schema === null || answer.body.length === 0) return answer;
    const value: unknown = JSON.parse(answer.body.toString('utf8'));
    const changed = isJsonObject(value) ? change(value, refuses) : refuses(null) ? null : value;
    return { ...answer, body: Buffer.from(JSON.stringify(changed)) };
  };
}
