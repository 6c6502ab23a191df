import { isDeepStrictEqual } from 'node:util';
import type { Definitions, SchemaBook } from '../../../wire/json/schema.ts';
import { type Call, facetsOf, type Input, type InputTrial, type Operation, requestOfCall } from './call.ts';
import { type ConstraintValue, ConstraintValues, typeRank } from './constraint-values.ts';
import { Examples } from './example.ts';
import { changeFor } from './input-change.ts';
import { memberCounts, missingMembers, surplusMembers, UNKNOWN_NAME } from './member-trials.ts';
import {
  named,
  placesInBody,
  placesOfInput,
  quoted,
  type Replaceable,
  rankOf,
  type TrialScope,
  withBody,
  withInput,
} from './replaceable.ts';

export interface InputTrials {
  readonly trials: readonly InputTrial[];
  /** Why some values in the body are not tried, each reason once. */
  readonly untried: readonly string[];
}

/** Requests that try each documented constraint of a call, outside and inside. Parameters come before the body. */
export function inputTrialsOf(
  { call, place }: Pick<Operation, 'call' | 'place'>,
  definitions: Definitions,
  book: SchemaBook,
): InputTrials {
  const examples = new Examples(definitions, book);
  const scope: TrialScope = { call, place, definitions, book, examples };
  const inputs = [...call.inputs].sort((a, b) => rankOf(a) - rankOf(b));
  const parameters = inputs
    .filter(({ form }) => form !== 'json')
    .flatMap((input) => placesOfInput(input, scope));
  const { members, untried } = placesInBody(scope);
  const byType = [...members].sort((a, b) => typeRank(a.facets) - typeRank(b.facets));
  const all = [...parameters, ...members];
  const tried = <R extends Replaceable>(
    places: readonly R[],
    valuesOf: (values: ConstraintValues, place: R) => Iterable<ConstraintValue>,
  ) => trialsIn(places, place, valuesOf);
  const trials = [
    ...hostileValues(scope),
    ...tried([...parameters, ...byType].filter(hasOtherTypes), (values) => values.ofOtherType()),
    ...missingInputs(scope, inputs),
    ...missingMembers(scope, members),
    ...tried(all, (values) => values.outside()),
    ...memberCounts(scope, members, 'outside'),
    ...surplusMembers(scope, members),
    ...tried(all, (values) => values.inside()),
    ...memberCounts(scope, members, 'inside'),
    ...tried(
      all.filter((each) => ['query', 'body'].includes(each.tried.in)),
      (values, each) => values.unusualTexts(each.tried.name),
    ),
    ...namedExamples(scope),
    ...extraInputs(call),
  ];
  return { trials, untried };
}

function hasOtherTypes({ isText, facets }: Replaceable): boolean {
  return !isText || NOT_TEXT.has(facets.type);
}

/** Types whose values can be distinguished from other text in a URL or a field. */
const NOT_TEXT: ReadonlySet<string | null> = new Set(['integer', 'number', 'boolean']);

function trialsIn<R extends Replaceable>(
  places: readonly R[],
  documentedAt: string,
  valuesOf: (values: ConstraintValues, place: R) => Iterable<ConstraintValue>,
): readonly InputTrial[] {
  return places.flatMap((place) => {
    const { tried, facets, shown, refuses, book, isText } = place;
    const inBody = tried.in === 'body' ? ' in the body' : '';
    const values = new ConstraintValues(facets, shown, book);
    return [...valuesOf(values, place)].flatMap(({ kind, keyword, side, value, wanted }): InputTrial[] => {
      if (isText && !hasText(value)) return [];
      // Formats are annotations: schemas do not refuse their misuse.
      if (kind !== 'format' && refuses(value) !== (side === 'outside')) return [];
      const what = `with ${place.words} = ${shownAs(value)} (${wanted})${inBody}`;
      const limit = facets.keywords[keyword];
      const sent = side === 'inside' ? ` = ${shownAs(value)}` : '';
      const words = `${place.words}${sent}${inBody}`;
      const change = changeFor(kind, { words, place: documentedAt, keyword, limit });
      return [{ kind, what, tries: { ...tried, keyword, side }, change, ...place.with(value) }];
    });
  });
}

/** In a URL, a field or a form no list is the same as an empty one, and null is a text. */
function hasText(value: unknown): boolean {
  return value !== null && !(Array.isArray(value) && value.length === 0);
}

/** What a path has to carry without a failure, whatever it names. */
const HOSTILE: readonly (readonly [words: string, value: string])[] = [
  ['quotes', `conform'";--`],
  ['percent signs', '100%25%'],
  ['NUL', 'conform\0'],
  ['300 characters', 'a'.repeat(300)],
  ['a number too large', '9'.repeat(25)],
];

/** Only where it can change nothing. */
function hostileValues({ call, place }: TrialScope): readonly InputTrial[] {
  if (call.method !== 'GET') return [];
  return call.inputs
    .filter((input) => input.in === 'path')
    .flatMap((input) =>
      HOSTILE.map(([words, value]) => ({
        kind: 'hostile' as const,
        what: `with ${named(input)} = ${shownAs(value)} (${words})`,
        tries: { in: input.in, name: input.name, keyword: 'type', side: 'outside' as const },
        change: changeFor('hostile', { words: named(input), place }),
        ...withInput(call, input, value),
      })),
    );
}

function* missingInputs(
  { call, place, definitions }: TrialScope,
  inputs: readonly Input[],
): Generator<InputTrial> {
  for (const input of inputs) {
    // A path without its parameter is another path; a parameter with a default may be left out.
    const hasDefault = 'default' in facetsOf(input.schema, definitions).keywords;
    if (!input.required || input.in === 'path' || hasDefault) continue;
    const tries = { in: input.in, name: input.name, keyword: 'required', side: 'outside' } as const;
    const change = changeFor('missing', { words: named(input), place });
    const request = withInput(call, input, undefined);
    yield { kind: 'missing', what: `without ${named(input)}`, tries, change, ...request };
  }
}

/** Each named example that the call itself does not send. */
function namedExamples({ call, place }: TrialScope): readonly InputTrial[] {
  const side = 'inside';
  const ofInputs = call.inputs.flatMap((input) =>
    (input.examples ?? [])
      .filter(({ value }) => !isDeepStrictEqual(value, input.value))
      .map(({ name, value }) => ({
        kind: 'example' as const,
        what: `with ${named(input)} = ${shownAs(value)} (the example ${quoted(name)})`,
        tries: { in: input.in, name: input.name, keyword: 'examples', side } as const,
        change: changeFor('example', { words: named(input), example: quoted(name), place }),
        ...withInput(call, input, value),
      })),
  );
  const { examples = [], value: sent } = call.body ?? {};
  const ofBody = examples
    .filter(({ value }) => !isDeepStrictEqual(value, sent))
    .map(({ name, value }) => ({
      kind: 'example' as const,
      what: `with the example ${quoted(name)} as body`,
      tries: { in: 'body', name: '', keyword: 'examples', side } as const,
      change: changeFor('example', { words: 'the body', example: quoted(name), place }),
      ...withBody(call, value),
    }));
  return [...ofInputs, ...ofBody];
}

/** Only where it can change nothing: the call is carried out when the unknown parameter is ignored. */
function extraInputs(call: Call): readonly InputTrial[] {
  if (call.method !== 'GET') return [];
  const place = { name: UNKNOWN_NAME, in: 'query', form: 'repeated' } as const;
  const extra: Input = { ...place, required: false, schema: null, value: '1' };
  const request = requestOfCall({ ...call, inputs: [...call.inputs, extra] });
  return [{ kind: 'extra', what: `with the unknown ${named(extra)}`, tries: null, change: null, ...request }];
}

function shownAs(value: unknown): string {
  const text = JSON.stringify(value);
  if (text.length <= 40) return text;
  const length = typeof value === 'string' ? value.length : text.length;
  return `${text.slice(0, 30)}… (${length} characters)`;
}
