import type { ReferenceName } from '../../config/service.ts';
import type { Patch } from './patches/patch.ts';

/** A named change of the reference provider, with its effect in the proof. */
interface NamedPatch {
  /** Kebab-case, named for what it does; its key in a table. */
  readonly name: string;
  /** The services that can have it; a defect is proven on the first. */
  readonly services: readonly ReferenceName[];
  /** Name of the setting of the proof that shows it; absent if the shipped config does. */
  readonly setting?: string;
  /** Ids of the observations that it changes. */
  readonly changes?: readonly string[];
  readonly patch: Patch;
}

/** A named, deliberate fault, used to prove that checks can fail. */
export interface Defect extends NamedPatch {
  /** The fault of a service that has it, as a report says it: one sentence, with places for values. */
  readonly cause: string;
  /** Ids of the checks that it proves: each fails or warns of it, for its own reason. */
  readonly fails?: readonly string[];
  /** Ids of the further checks that fail of it, each with the reason. */
  readonly alsoFails?: Readonly<Record<string, string>>;
}

/** Another conforming behavior; no check may fail of it. */
export interface Variant extends NamedPatch {
  /** The change of the service, in one sentence. */
  readonly summary: string;
  /** Its list differs from the document of the operations, which is then left out. */
  readonly undescribed?: true;
  /** Whether a request counts depends on its target: requests of several kinds come before the limit is met. */
  readonly countsByKind?: true;
  /** Why it leaves no trace in the proof; a separate test then covers its effect. */
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
