import { CLAUSE_KEYS, VOCABULARY } from '../../base/vocabulary.ts';
import { jsonSchemaOf } from '../shape/json-schema.ts';
import { choice, json, list, mapping, name, named, needed, text, whole } from '../shape/kinds.ts';

const row = (description: string) =>
  whole(description, { minimum: 1, maximum: 100_000, expected: 'a whole number, counted from 1' });

const clauseKey = (description: string) => choice(description, CLAUSE_KEYS, { def: 'clauseKey' });

const CLAUSE = mapping(
  '',
  { expected: 'a mapping with key, standing and place' },
  {
    key: needed(clauseKey('What the clause is about: a key that `conform clauses` lists.')),
    standing: needed(
      choice('stated: the document says so. advised: it recommends it. not-shown: it leaves it open.', [
        'stated',
        'advised',
        'not-shown',
      ]),
    ),
    value: json('What the document says; left out when it is not shown.', { default: null }),
    place: needed(
      mapping(
        '',
        { expected: 'a mapping such as { section: Limits, row: 1 }' },
        { section: needed(text('Heading.')), row: needed(row('Paragraph, bullet or table row below it.')) },
      ),
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

/** A contract file: everything but the values of clauses, which `contract-file.ts` holds to the vocabulary. */
export const CONTRACT = contractOf(CLAUSE);

/** The shipped `config/contract.schema.json`, with the vocabulary's value schemas by clause key. */
export function contractSchema(): object {
  const valueOfKey = Object.entries(VOCABULARY).map(([key, { meaning, value }]) => ({
    if: { properties: { key: { const: key } }, required: ['key', 'value'] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
    then: { properties: { value: { ...value, description: meaning } } },
  }));
  return jsonSchemaOf('conform contract', contractOf({ ...CLAUSE, allOf: valueOfKey } as typeof CLAUSE));
}
