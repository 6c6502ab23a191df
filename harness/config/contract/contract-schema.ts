import { CLAUSE_KEYS, type JsonSchema, VOCABULARY } from '../../contract/vocabulary.ts';

const name = {
  type: 'string',
  pattern: '^[a-z0-9][a-z0-9-]{0,62}$',
  'x-expected': 'a name of lower-case letters, digits and hyphens',
} as const;

const line = { type: 'string', minLength: 1, 'x-expected': 'text' } as const;

const row = { type: 'integer', minimum: 1, 'x-expected': 'a whole number, counted from 1' } as const;

const clauseKey = { enum: CLAUSE_KEYS } as const;

/** The frame of a contract file: everything but the values of clauses, which `contract-file.ts` holds to the vocabulary. */
export const CONTRACT_FRAME = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'conform contract',
  description: "What one provider's documents say, clause by clause.",
  type: 'object',
  required: ['contract', 'title', 'source', 'clauses'],
  additionalProperties: false,
  properties: {
    contract: { description: 'Name of the contract; the file carries it too: contracts/NAME.yaml.', ...name },
    title: { description: 'Title of the document.', ...line },
    source: {
      type: 'object',
      required: ['document'],
      additionalProperties: false,
      'x-expected': 'a mapping with document',
      properties: {
        document: { description: 'File name or address of the document.', ...line },
        sha256: {
          description: 'Digest of the document as it was read.',
          type: 'string',
          pattern: '^[0-9a-f]{64}$',
          'x-expected': '64 lower-case hexadecimal digits, in quotes when all are digits',
        },
        rows: {
          description: 'Rows per section: paragraphs, bullets and rows of table bodies.',
          type: 'object',
          additionalProperties: row,
          'x-expected': 'a mapping from heading to number of rows',
        },
      },
    },
    clauses: {
      type: 'array',
      minItems: 1,
      maxItems: 500,
      'x-expected': 'a list of clauses',
      items: {
        type: 'object',
        required: ['key', 'standing', 'place'],
        additionalProperties: false,
        'x-expected': 'a mapping with key, standing and place',
        properties: {
          key: { description: 'What the clause is about; one of the shared vocabulary.', ...clauseKey },
          standing: {
            description: 'stated: it says so. advised: it recommends it. not-shown: it leaves it open.',
            enum: ['stated', 'advised', 'not-shown'],
          },
          value: { description: 'The fact; left out when it is not shown.' },
          place: {
            type: 'object',
            required: ['section', 'row'],
            additionalProperties: false,
            'x-expected': 'a mapping such as { section: Limits, row: 1 }',
            properties: {
              section: { description: 'Heading.', ...line },
              row: { description: 'Paragraph, bullet or table row below it.', ...row },
            },
          },
          names: {
            description: 'What the row names without showing it.',
            type: 'array',
            items: line,
            minItems: 1,
            'x-expected': 'a list of words',
          },
          contradicts: {
            description:
              'Clauses of this contract that it cannot be squared with; neither is judged until the config settles it.',
            type: 'array',
            items: clauseKey,
            minItems: 1,
            uniqueItems: true,
            'x-expected': 'a list of clause keys',
          },
          question: {
            description: 'What it leaves open; it is not judged until the config settles it.',
            ...line,
          },
        },
      },
    },
  },
} as const;

/** The shipped `config/contract.schema.json`: the frame, and the vocabulary's value schemas by clause key. */
export function contractSchema(): JsonSchema {
  const { properties } = CONTRACT_FRAME;
  const { items } = properties.clauses;
  const valueOfKey = Object.entries(VOCABULARY).map(([key, { meaning, value }]) => ({
    if: { properties: { key: { const: key } }, required: ['key', 'value'] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
    then: { properties: { value: { ...value, description: meaning } } },
  }));
  const clauses = { ...properties.clauses, items: { ...items, allOf: valueOfKey } };
  return { ...CONTRACT_FRAME, properties: { ...properties, clauses } };
}
