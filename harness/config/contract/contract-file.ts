import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Clause, ClauseValue, Contract, Standing } from '../../contract/clause.ts';
import { isClauseKey, VOCABULARY } from '../../contract/vocabulary.ts';
import { Faults } from '../draft/faults.ts';
import { compileSchema, schemaFaults } from '../shape/validation.ts';
import { type LocatedMap, originsOf, plainOf, readLocated } from '../yaml/located.ts';
import { type FaultAt, faultsOf } from '../yaml/origin.ts';
import { CONTRACT_FRAME } from './contract-schema.ts';

/** A contract file as its schema admits it. */
interface ContractFile {
  readonly contract: string;
  readonly title: string;
  readonly source: Contract['source'];
  readonly clauses: readonly {
    readonly key: string;
    readonly standing: Standing;
    readonly value?: ClauseValue;
    readonly place: Clause['place'];
    readonly names?: readonly string[];
    readonly contradicts?: readonly string[];
    readonly question?: string;
  }[];
}

const fitsFrame = compileSchema<ContractFile>(CONTRACT_FRAME);

/** Shapes of our own, which need not be held against the schema of schemas: that costs a start most of its time. */
const ajv = new Ajv2020({
  strict: true,
  allowUnionTypes: true,
  strictTypes: false,
  strictRequired: false,
  meta: false,
  validateSchema: false,
});
const valueSchemas = new Map<string, ValidateFunction>();

/** @throws UsageError for an unknown, duplicate or ill-shaped clause, and a contradiction with nothing. */
export async function readContract(path: string, name: string): Promise<Contract> {
  return asContract(await readLocated(path), name);
}

function asContract(tree: LocatedMap, name: string): Contract {
  const plain = plainOf(tree);
  const faults = new Faults();
  if (!fitsFrame(plain)) {
    faults.add(...schemaFaults(fitsFrame.errors ?? [], tree));
    throw faults.error();
  }
  const faultAt = faultsOf(originsOf(tree));
  const note = (...fault: Parameters<FaultAt>) => faults.add(faultAt(...fault));
  if (plain.contract !== name) {
    note('contract', 'is not the name of this file', `name it ${JSON.stringify(name)}, or rename the file`);
  }
  holdTogether(plain, note);
  faults.hold();
  const { title, source } = plain;
  const clauses = plain.clauses.map((clause) => ({ ...clause, value: clause.value ?? null }));
  return { name, title, source, clauses };
}

type Note = (...fault: Parameters<FaultAt>) => void;

function holdTogether({ clauses, source }: ContractFile, note: Note): void {
  for (const [index, clause] of clauses.entries()) {
    const at = `clauses.${index}`;
    const earlier = clauses.findIndex(({ key }) => key === clause.key);
    if (earlier !== index) {
      note(`${at}.key`, `clause ${earlier + 1} has the key ${clause.key} already`, 'join the two into one');
    }
    holdValue(clause.key, clause.standing, clause.value ?? null, at, note);
    for (const [which, other] of (clause.contradicts ?? []).entries()) {
      if (other === clause.key || !clauses.some(({ key }) => key === other)) {
        const problem =
          other === clause.key ? 'a clause contradicts itself' : `this contract has no clause ${other}`;
        note(`${at}.contradicts.${which}`, problem, 'name another clause of this contract');
      }
    }
    const { section, row } = clause.place;
    const rows = source.rows;
    if (rows && !(Object.hasOwn(rows, section) && row <= (rows[section] ?? 0))) {
      note(
        `${at}.place`,
        `source.rows has no row ${row} in ${JSON.stringify(section)}`,
        'correct one of the two',
      );
    }
  }
}

function holdValue(key: string, standing: Standing, value: ClauseValue, at: string, note: Note): void {
  if (standing === 'not-shown') {
    if (value === null) return;
    note(`${at}.value`, 'a clause that is not shown has no value', 'remove it, or correct the standing');
    return;
  }
  if (value === null) {
    note(`${at}.value`, `a clause that is ${standing} needs a value`, 'add `value:`');
    return;
  }
  const fits = valueSchema(key);
  if (fits(value)) return;
  const [error] = fits.errors ?? [];
  const inside = (error?.instancePath ?? '').replaceAll('/', '.');
  const extra =
    error?.keyword === 'additionalProperties' ? ` (${String(error.params.additionalProperty)})` : '';
  note(
    `${at}.value${inside}`,
    `${key}: the value ${error?.message ?? 'has the wrong shape'}${extra}`,
    `write a value that says ${isClauseKey(key) ? VOCABULARY[key].meaning : 'what the clause says'}; see contract.schema.json for its shape`,
  );
}

function valueSchema(key: string): ValidateFunction {
  const known = valueSchemas.get(key);
  if (known) return known;
  const compiled = ajv.compile(isClauseKey(key) ? VOCABULARY[key].value : {});
  valueSchemas.set(key, compiled);
  return compiled;
}
