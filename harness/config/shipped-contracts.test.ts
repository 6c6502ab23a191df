import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Clause, Contract } from '../base/clause.ts';
import { readContract } from './contract.ts';

const CONFIG = fileURLToPath(new URL('../../config', import.meta.url));
const NAMES = ['search', 'messaging', 'realtime'] as const;

const shipped = (name: string) => readContract(join(CONFIG, 'contracts', `${name}.yaml`), name);

/** Heading to the text of its rows. */
type Sections = ReadonlyMap<string, readonly string[]>;

/** Headings to rows: a bullet, a row of a table's body and a paragraph are a row each. */
function rowsOf(markdown: string): Sections {
  const sections = new Map<string, string[]>();
  let rows: string[] = [];
  let inTable = false;
  for (const line of markdown.split('\n').map((text) => text.trim())) {
    const heading = /^#{1,6} (.*)$/.exec(line)?.[1];
    if (heading !== undefined) {
      rows = [];
      sections.set(heading, rows);
    } else if (line.startsWith('|')) {
      if (/^\|[\s:|-]+\|$/.test(line)) inTable = true;
      else if (inTable) rows.push(line);
    } else if (line !== '') {
      rows.push(line);
    }
    if (!line.startsWith('|')) inTable = false;
  }
  return sections;
}

function clausesAt({ clauses }: Contract, section: string, row: number): readonly Clause[] {
  return clauses.filter(({ place }) => place?.section === section && place.row === row);
}

/** What a row cannot be paraphrased without. */
const LITERALS: readonly RegExp[] = [
  /\d+(?= requests)/g,
  /<[A-Z_]+>/g,
  /\{[a-z_]+\}/g,
  /(?<=[ |])\/[\w/]*(?=[ .|])/g,
  /\b[a-z]+\/[a-z]+\b/g,
  /\b(?:Authorization|Content-Type|Bearer)\b/g,
  /\b(?:GET|REST|JSON|SMS)\b/g,
  /\b[A-Z][a-z]+[A-Z][a-z]+?(?=s?\b)/g,
];

const ADVISORY = /\brecommended\b|\bshould\b|^- Clients\b|^- Keys are\b/;

/** Everything a clause says, as one text. */
function sayingOf({ value, names, question }: Clause): string {
  return `${JSON.stringify(value)} ${JSON.stringify(names ?? [])} ${question ?? ''}`;
}

const DOCUMENTS = process.env.CONFORM_DOCUMENTS;

describe.each(NAMES)('the contract %s', (name) => {
  it('has a clause for each row, and none for a row that is not there', async () => {
    const contract = await shipped(name);
    const rows = Object.entries(contract.source.rows ?? {});
    expect(rows.length).toBeGreaterThan(0);
    const uncovered = rows.flatMap(([section, count]) =>
      Array.from({ length: count }, (_, index) => index + 1)
        .filter((row) => clausesAt(contract, section, row).length === 0)
        .map((row) => `${section}, row ${row}`),
    );
    expect(uncovered).toEqual([]);
    const known = new Map(rows);
    const astray = contract.clauses.filter(
      ({ place }) => (place?.row ?? 0) > (known.get(place?.section ?? '') ?? 0),
    );
    expect(astray).toEqual([]);
  });

  it('says what its document says, row by row', async (ctx) => {
    if (DOCUMENTS === undefined) {
      ctx.skip('CONFORM_DOCUMENTS does not name the folder that holds the documents');
      return;
    }
    const contract = await shipped(name);
    const octets = await readFile(join(DOCUMENTS, contract.source.document));
    expect(createHash('sha256').update(octets).digest('hex')).toBe(contract.source.sha256);
    const sections = [...rowsOf(octets.toString('utf8'))];
    expect(Object.fromEntries(sections.map(([section, rows]) => [section, rows.length]))).toEqual(
      contract.source.rows,
    );
    expect(sections[0]?.[0]).toBe(contract.title);
    for (const [section, rows] of sections) {
      for (const [index, text] of rows.entries()) {
        const at = `${section}, row ${index + 1}: ${text}`;
        const clauses = clausesAt(contract, section, index + 1);
        const saying = clauses.map(sayingOf).join(' ');
        const lost = LITERALS.flatMap((literal) => text.match(literal) ?? []).filter(
          (word) => !saying.includes(word),
        );
        expect(lost, at).toEqual([]);
        const standings = new Set(clauses.map(({ standing }) => standing));
        expect(standings.has('not-shown'), at).toBe(/not shown/.test(text));
        expect(standings.has('advised'), at).toBe(ADVISORY.test(text));
      }
    }
  });
});

describe('what the documents leave unsettled', () => {
  it.each(['search', 'messaging'])('%s: header or query is an open question', async (name) => {
    const placement = (await shipped(name)).clauses.find(({ key }) => key === 'auth.placement');
    expect(placement?.value).toEqual(['header', 'query']);
    expect(placement?.question).toBeDefined();
  });

  it('realtime: the bearer sample and the three credentials contradict each other', async () => {
    const { clauses } = await shipped('realtime');
    const of = (wanted: string) => clauses.find(({ key }) => key === wanted);
    expect(of('auth.scheme')?.contradicts).toEqual(['auth.sample']);
    expect(of('auth.sample')?.contradicts).toEqual(['auth.scheme']);
    expect(of('endpoint.sample-nature')?.contradicts).toEqual(['auth.scheme']);
  });

  it('realtime: neither JSON errors nor standard status codes are stated', async () => {
    const { clauses } = await shipped('realtime');
    const stated = clauses.filter(({ standing }) => standing === 'stated').map(({ key }) => key);
    expect(stated.filter((key) => /^(responses|errors|limits|versioning)\./.test(key))).toEqual([]);
  });
});
