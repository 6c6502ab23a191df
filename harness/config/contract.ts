import { join } from 'node:path';
import type { Clause, Contract, Standing } from '../base/clause.ts';
import { type Place, UsageError } from '../base/exit.ts';
import { shapeFaults } from '../base/schema/shape-faults.ts';
import { CLAUSE_KEYS, isClauseKey, VOCABULARY } from '../base/vocabulary.ts';
import { Faults } from './draft/faults.ts';
import { jsonSchemaOf } from './shape/json-schema.ts';
import { choice, json, list, mapping, name, named, needed, text, whole } from './shape/kinds.ts';
import { type Loaded, loaded } from './shape/loaded.ts';
import { faultsIn } from './shape/validation.ts';
import { misnamed, originsOf, plainOf, readLocated } from './yaml/located.ts';
import { type FaultAt, faultsOf } from './yaml/origin.ts';
import { namedFiles } from './yaml/read-text.ts';

const row = (description: string) =>
  whole(description, { minimum: 1, maximum: 100_000, expected: 'a whole number, counted from 1' });

const STANDINGS = ['stated', 'advised', 'not-shown'] as const satisfies readonly Standing[];

const clauseKey = (description: string) => choice(description, CLAUSE_KEYS, { def: 'clauseKey' });

export const CLAUSE = mapping(
  '',
  { expected: 'a mapping with key and standing' },
  {
    key: needed(clauseKey('What the clause is about: a key that `conform clauses` lists.')),
    standing: needed(
      choice(
        'stated: the document says so. advised: it recommends it. not-shown: it leaves it open.',
        STANDINGS,
      ),
    ),
    value: json('What the document says; left out when it is not shown.', { default: null }),
    place: mapping(
      'Where the document says so; reports quote it.',
      { expected: 'a mapping such as { section: Limits, row: 1 }', default: null },
      { section: needed(text('Heading.')), row: needed(row('Paragraph, bullet or table row below it.')) },
    ),
    names: list(
      'What the row mentions but does not show.',
      { minItems: 1, expected: 'a list of words' },
      text('One word or name.'),
    ),
    contradicts: list(
      'Clauses of this contract that say the opposite. None of them is judged until the service config says what holds.',
      { minItems: 1, uniqueItems: true, expected: 'a list of clause keys' },
      clauseKey(''),
    ),
    question: text('What the clause leaves open. It is not judged until the service config answers that.'),
  },
);

/** A contract file whose clauses are of this shape. */
const contractOf = (clause: typeof CLAUSE) =>
  mapping(
    "What one provider's documents say, clause by clause.",
    { required: ['contract', 'title', 'source', 'clauses'] },
    {
      contract: needed(name('Name of the contract. The file has the same name: contracts/NAME.yaml.')),
      title: needed(text('Title of the document.')),
      source: needed(
        mapping(
          '',
          { required: ['document'], expected: 'a mapping with document' },
          {
            document: needed(text('File name or address of the document.')),
            sha256: text('SHA-256 of the document as it was read.', {
              pattern: '^[0-9a-f]{64}$',
              expected: '64 lower-case hexadecimal digits, in quotes when all are digits',
            }),
            rows: named(
              'Rows per section: paragraphs, bullets and rows of table bodies.',
              { expected: 'a mapping from heading to number of rows' },
              row(''),
            ),
          },
        ),
      ),
      clauses: needed(list('', { minItems: 1, maxItems: 500, expected: 'a list of clauses' }, clause)),
    },
  );

/** A contract file: everything but the values of clauses, which `holdValue` holds to the vocabulary. */
export const CONTRACT = contractOf(CLAUSE);

/** A clause with the vocabulary's value schemas by its key, for editors. */
export function clauseForEditors(): typeof CLAUSE {
  const valueOfKey = Object.entries(VOCABULARY).map(([key, { meaning, value }]) => ({
    if: { properties: { key: { const: key } }, required: ['key', 'value'] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
    then: { properties: { value: { ...value, description: meaning } } },
  }));
  return { ...CLAUSE, allOf: valueOfKey } as typeof CLAUSE;
}

/** The shipped `config/contract.schema.json`. */
export function contractSchema(): object {
  return jsonSchemaOf('contract', contractOf(clauseForEditors()));
}

const frameFaults = faultsIn(CONTRACT);

/** @throws UsageError for an unknown, duplicate or ill-shaped clause, and a contradiction with nothing. */
export async function readContract(path: string, name: string): Promise<Contract> {
  const tree = await readLocated(path);
  const faults = new Faults();
  faults.add(...frameFaults(tree));
  faults.hold();
  const faultAt = faultsOf(originsOf(tree));
  const { title, source, clauses } = loaded(CONTRACT, plainOf(tree), { faultAt, faults });
  faults.add(...misnamed(tree, 'contract', name));
  holdTogether({ source, clauses }, (...fault) => faults.add(faultAt(...fault)));
  faults.hold();
  // What a clause may say is held to the vocabulary.
  return { name, title, source, clauses: clauses as readonly Clause[] };
}

interface LoadedContract {
  readonly clauses: readonly Loaded<typeof CLAUSE>[];
  readonly source: Contract['source'];
}
type AddFault = (...fault: Parameters<FaultAt>) => void;

/** Notes what the schema cannot refuse: a second clause with a key, a value that does not fit it, a place that is not there. */
export function holdTogether({ clauses, source }: LoadedContract, note: AddFault): void {
  for (const [index, clause] of clauses.entries()) {
    const at = `clauses.${index}`;
    const earlier = clauses.findIndex(({ key }) => key === clause.key);
    if (earlier !== index) {
      note(`${at}.key`, `clause ${earlier + 1} has the key ${clause.key} already`, 'join the two into one');
    }
    holdValue(clause.key, clause.standing, clause.value, at, note);
    for (const [which, other] of (clause.contradicts ?? []).entries()) {
      const isItself = other === clause.key;
      if (!isItself && clauses.some(({ key }) => key === other)) continue;
      const problem = isItself ? 'a clause contradicts itself' : `this contract has no clause ${other}`;
      note(`${at}.contradicts.${which}`, problem, 'name another clause of this contract');
    }
    const { rows } = source;
    if (rows && !clause.place)
      note(at, 'has no place', 'add `place: { section: …, row: … }`, as source.rows counts them');
    if (!rows || !clause.place) continue;
    const { section, row } = clause.place;
    if (!(Object.hasOwn(rows, section) && row <= (rows[section] ?? 0))) {
      const problem = `source.rows has no row ${row} in ${JSON.stringify(section)}`;
      note(`${at}.place`, problem, 'correct one of the two');
    }
  }
}

function holdValue(key: string, standing: Standing, value: unknown, at: string, note: AddFault): void {
  if (standing === 'not-shown') {
    const remedy = 'remove it, or correct the standing';
    if (value !== null) note(`${at}.value`, 'a clause that is not shown has no value', remedy);
    return;
  }
  if (value === null) note(`${at}.value`, `a clause that is ${standing} needs a value`, 'add `value:`');
  const [fault] = value === null ? [] : valueFaults(key)(value);
  if (!fault) return;
  const inside = fault.path.map((step) => `.${step}`).join('');
  const extra = fault.keyword === 'additionalProperties' ? ` (${fault.name})` : '';
  const meaning = isClauseKey(key) ? VOCABULARY[key].meaning : 'what the clause says';
  const remedy = `write a value that says ${meaning}; \`conform clauses ${key}\` shows how`;
  note(`${at}.value${inside}`, `${key}: the value ${fault.message}${extra}`, remedy);
}

const finders = new Map<string, ReturnType<typeof shapeFaults>>();

function valueFaults(key: string): ReturnType<typeof shapeFaults> {
  const find = finders.get(key) ?? shapeFaults(isClauseKey(key) ? VOCABULARY[key].value : {});
  finders.set(key, find);
  return find;
}

/** Places of the clauses of a contract, by key; none of a shipped or an unreadable contract. */
export async function clausePlaces(configDir: string, contract: string): Promise<ReadonlyMap<string, Place>> {
  try {
    const path = (await namedFiles(join(configDir, 'contracts'))).get(contract);
    if (path === undefined) return new Map();
    const tree = await readLocated(path);
    const { clauses = [] } = plainOf(tree) as { readonly clauses?: readonly { readonly key?: unknown }[] };
    const origins = originsOf(tree);
    return new Map(
      clauses.flatMap(({ key }, index) => {
        const origin = origins.get(`clauses.${index}.key`);
        return origin?.kind === 'file' ? [[String(key), origin.place] as const] : [];
      }),
    );
  } catch (error) {
    if (error instanceof UsageError) return new Map();
    throw error;
  }
}
