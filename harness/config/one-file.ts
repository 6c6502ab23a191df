import { basename } from 'node:path';
import type { Clause, Contract } from '../base/clause.ts';
import { formatPlace } from '../base/exit.ts';
import { ACCEPTED, KNOWN } from './baseline.ts';
import { CLAUSE, clauseForEditors, holdTogether } from './contract.ts';
import type { Draft } from './draft/draft.ts';
import { Consequence, Faults } from './draft/faults.ts';
import { factsOfDocument } from './operation/operations.ts';
import type { ProviderConfig } from './provider/provider.ts';
import { BLOCKS, environmentsWith } from './service.ts';
import { jsonSchemaOf } from './shape/json-schema.ts';
import { list, mapping, name, needed } from './shape/kinds.ts';
import { loaded, shapeWithin } from './shape/loaded.ts';
import { faultsIn } from './shape/validation.ts';
import { type LocatedMap, located, originsOf, plainOf, withEntry, withoutKeys } from './yaml/located.ts';
import { faultsOf } from './yaml/origin.ts';

/** The lists of a service, which have files of their own in a config folder. */
const LISTS = [KNOWN, ACCEPTED];

const clausesOf = (clause: typeof CLAUSE) =>
  list(
    'What the documents of the service say beyond its OpenAPI document, or in place of it.',
    { minItems: 1, maxItems: 500, expected: 'a list of clauses' },
    clause,
  );

const fileOf = (clause: typeof CLAUSE) =>
  mapping(
    'One service in one file: where it runs, how a client gets in, what conform may do to it, and what its documents say.',
    { required: ['service'] },
    {
      service: needed(name('Name of the service.')),
      ...BLOCKS,
      clauses: clausesOf(clause),
      ...Object.fromEntries(LISTS.map(({ folder, shape }) => [folder, shapeWithin(shape, folder)])),
      environments: environmentsWith({}),
    },
  );

/** The shipped `config/conform.schema.json`. */
export function oneFileSchema(): object {
  return jsonSchemaOf('config', fileOf(clauseForEditors()));
}

const CLAUSES = clausesOf(CLAUSE);
const fileFaults = faultsIn(fileOf(CLAUSE));

/** The part of `conform.yaml` that a service file in a config folder has. */
export function serviceIn(file: LocatedMap, service: string, faults: Faults): LocatedMap {
  const lists = LISTS.map(({ folder }) => folder);
  // Reading the lists reports their faults.
  faults.add(...fileFaults(withoutKeys(file, ...lists)));
  return withEntry(withoutKeys(file, ...lists, 'clauses'), 'contract', located(service, file.origin));
}

/** The clauses of `conform.yaml`, and those of its OpenAPI document with other keys. @throws UsageErrors. */
export async function contractIn(
  file: LocatedMap,
  draft: Draft,
  blocks: Parameters<typeof factsOfDocument>[1],
  provider: () => ProviderConfig,
): Promise<Contract> {
  if (draft.faults.concern('clauses')) throw new Consequence();
  const { openapi } = blocks;
  const facts = await factsOfDocument(draft, blocks, provider());
  const own = ownClauses(file);
  const taken = new Set(own.map(({ key }) => key));
  const shown = openapi === undefined ? '' : draft.shownBeside('openapi', openapi);
  const documented = (facts?.clauses ?? [])
    .filter(({ key }) => !taken.has(key))
    .map(({ key, value, row }): Clause => {
      return { key, standing: 'stated', value, place: null, line: `${shown}:${row}` };
    });
  const source = { document: basename(openapi ?? fileOfTree(file)) };
  const clauses = [...own, ...documented];
  const faults = new Faults();
  const faultAt = faultsOf(originsOf(file));
  holdTogether({ source, clauses: clauses as never }, (...fault) => faults.add(faultAt(...fault)));
  faults.hold();
  return { name: draft.service, title: facts?.title ?? draft.service, source, clauses };
}

function fileOfTree({ origin }: LocatedMap): string {
  return origin.kind === 'file' ? origin.place.file : '';
}

/** With the line of each. */
function ownClauses(file: LocatedMap): readonly Clause[] {
  const tree = file.entries.get('clauses')?.value;
  if (tree === undefined) return [];
  const origins = originsOf(file);
  const faults = new Faults();
  const notes = { faultAt: faultsOf(origins), faults };
  const clauses = loaded(CLAUSES, plainOf(tree), notes, 'clauses');
  faults.hold();
  return clauses.map((clause, index) => {
    const origin = origins.get(`clauses.${index}.key`);
    const { file: name, line } = origin?.kind === 'file' ? origin.place : { file: fileOfTree(file) };
    // The vocabulary is held to below.
    return { ...(clause as Clause), line: formatPlace({ file: name, ...(line !== undefined && { line }) }) };
  });
}
