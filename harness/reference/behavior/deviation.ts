import type { ReferenceName } from '../../config/service.ts';
import type { Patch } from './patches/patch.ts';

/** Something that a reference provider does otherwise, and what the proof shows of it. */
interface NamedPatch {
  /** Kebab-case, named for what it does; its key in a table. */
  readonly name: string;
  /** Those that can have it; a defect is proven on the first. */
  readonly services: readonly ReferenceName[];
  /** Name of the setting of the proof under which it is seen, where it is not under the shipped config. */
  readonly setting?: string;
  /** What the service does otherwise, in one sentence. */
  readonly summary: string;
  /** Ids of the observations that record something else of it. */
  readonly changes?: readonly string[];
  readonly patch: Patch;
}

/** A named, deliberate fault, used to prove that checks can fail. */
export interface Defect extends NamedPatch {
  /** What is wrong with a service that has it, as a report says it: one sentence, with places for values. */
  readonly cause: string;
  /** Ids of the checks that it proves: each fails or warns of it, for its own reason. */
  readonly fails?: readonly string[];
  /** Ids of the further checks that fail of it, each with the reason. */
  readonly alsoFails?: Readonly<Record<string, string>>;
}

/** Another behavior that conforms just as well; no check may complain about it. */
export interface Variant extends NamedPatch {
  /** It lists its resources otherwise than the document of the operations says, which is then left out. */
  readonly undescribed?: true;
  /** Whether a request counts depends on what it asks for: some of several kinds come before the limit is met. */
  readonly countsByKind?: true;
  /** Why it leaves no trace in the proof; what it does is held by a test of its own then. */
  readonly unseen?: string;
}

type Services = Pick<NamedPatch, 'services'>;

export const SEARCH: Services = { services: ['search'] };
export const REST: Services = { services: ['search', 'messaging'] };
export const REALTIME: Services = { services: ['realtime'] };
export const EVERY: Services = { services: [...REST.services, ...REALTIME.services] };

/** What holds of a table whose deviations are seen under one setting alone. */
export const under = (setting: string, { services }: Services = REST) => ({ services, setting });

type DeviationRow<D extends NamedPatch> = Omit<D, 'name' | 'services'> & Partial<Services>;

/** A table of deviations by their names; `shared`: what holds of every row that does not say otherwise. */
export function tableOf<D extends NamedPatch>(
  shared: Services & Partial<Pick<Defect, 'setting' | 'fails'>>,
  rows: Readonly<Record<string, DeviationRow<D>>>,
): readonly (DeviationRow<D> & Pick<D, 'name' | 'services'>)[] {
  return Object.entries(rows).map(([name, row]) => ({ name, ...shared, ...row }));
}
