import type { Clause, Contract, Standing } from '../../base/clause.ts';
import { shapeFaults } from '../../base/schema/shape-faults.ts';
import { isClauseKey, VOCABULARY } from '../../base/vocabulary.ts';
import { Faults } from '../draft/faults.ts';
import type { Loaded } from '../shape/kinds.ts';
import { loaded } from '../shape/loaded.ts';
import { faultsIn } from '../shape/validation.ts';
import { misnamed, originsOf, plainOf, readLocated } from '../yaml/located.ts';
import { type FaultAt, faultsOf } from '../yaml/origin.ts';
import { CONTRACT } from './contract-schema.ts';

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

type Note = (...fault: Parameters<FaultAt>) => void;

function holdTogether(
  { clauses, source }: Pick<Loaded<typeof CONTRACT>, 'clauses' | 'source'>,
  note: Note,
): void {
  for (const [index, clause] of clauses.entries()) {
    const at = `clauses.${index}`;
    const earlier = clauses.findIndex(({ key }) => key === clause.key);
    if (earlier !== index) {
      note(`${at}.key`, `clause ${earlier + 1} has the key ${clause.key} already`, 'join the two into one');
    }
    holdValue(clause.key, clause.standing, clause.value, at, note);
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

function holdValue(key: string, standing: Standing, value: unknown, at: string, note: Note): void {
  if (standing === 'not-shown') {
    if (value === null) return;
    note(`${at}.value`, 'a clause that is not shown has no value', 'remove it, or correct the standing');
    return;
  }
  if (value === null) {
    note(`${at}.value`, `a clause that is ${standing} needs a value`, 'add `value:`');
    return;
  }
  const [fault] = valueFaults(key)(value);
  if (!fault) return;
  const inside = fault.path.map((step) => `.${step}`).join('');
  const extra = fault.keyword === 'additionalProperties' ? ` (${fault.name})` : '';
  note(
    `${at}.value${inside}`,
    `${key}: the value ${fault.message}${extra}`,
    `write a value that says ${isClauseKey(key) ? VOCABULARY[key].meaning : 'what the clause says'}; \`conform clauses ${key}\` shows how`,
  );
}

const finders = new Map<string, ReturnType<typeof shapeFaults>>();

function valueFaults(key: string): ReturnType<typeof shapeFaults> {
  const find = finders.get(key) ?? shapeFaults(isClauseKey(key) ? VOCABULARY[key].value : {});
  finders.set(key, find);
  return find;
}
