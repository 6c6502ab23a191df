import type { Ground } from '../../base/authority.ts';
import { Blocked, type Variation } from '../../base/verdict.ts';
import type { ServiceConfig } from '../../config/service.ts';
import type { Needs, Probe } from '../session/probe.ts';
import type { CheckContext } from './context.ts';
import type { Condition, Need } from './requirement.ts';

/** Dotted. An id never changes; a snapshot pins it. */
export type CheckId = string & { readonly __checkId: unique symbol };

export interface CheckDefinition {
  readonly id: CheckId;
  /** Completes the sentence "the service …". */
  readonly title: string;
  /** The fault in a sentence, with `{got}` or `{answer}` for the result. Observations have none. */
  readonly headline?: string;
  readonly why: string;
  /** The remedy. Observations have none. */
  readonly change?: string;
  readonly grounds: readonly Ground[];
  /** The grounds for a service, if they depend on its config. Default: all. */
  readonly groundsIn?: (config: ServiceConfig) => readonly Ground[];
  /** If one gives a reason, the check is `skipped`. */
  readonly applies: readonly Condition[];
  /** The probes that it may ask for. */
  readonly uses: Needs;
  /** If one gives a reason, the check is `blocked`. */
  readonly needs: readonly Need[];
  /**
   * Checks of its preconditions, the nearest first: if one is violated, a violation of this one is `blocked`, since
   * it is the same fault.
   */
  readonly restsOn: readonly CheckDefinition[];
  /** The same, but only for the same result. */
  readonly repeats: readonly CheckDefinition[];
  /**
   * Probes that wait for an act of the service. After one wait timed out, those of all remaining checks are sent
   * together.
   */
  readonly waits: readonly Probe<unknown>[];
  /** Longest active time in ms, if it is not the default. */
  readonly limitMs?: number;
  readonly observes: boolean;
  /** Key of the recorded observation, as stable as the id; null for none. */
  readonly records: string | null;
  readonly varies?: Variation;
  /** Why a violation is expected; it is `known` and fails nothing. */
  readonly known?: string;
  /** The checks of one service, if they depend on its config (`checkEach`). */
  readonly each?: (config: ServiceConfig) => readonly CheckDefinition[];
  /** Its module and the defects that prove it, if it is the user's own. */
  readonly own?: { readonly file: string; readonly defects: readonly string[] };
  /** Id of the check that represents this one if the service is not known. */
  readonly partOf?: CheckId;
  /** @throws Violation if the evidence does not conform. */
  readonly judge: (context: CheckContext) => Promise<void> | void;
}

export interface Suite {
  readonly name: string;
  readonly title: string;
  readonly checks: readonly CheckDefinition[];
  /** It spends the quota: deferred checks are judged before it, since a window has to pass after it. */
  readonly exhausts?: true;
}

type Common = Pick<CheckDefinition, 'title' | 'why' | 'grounds' | 'limitMs'> &
  Partial<Pick<CheckDefinition, 'groundsIn' | 'applies' | 'needs' | 'restsOn' | 'repeats' | 'waits'>>;

interface CheckOptions<U> extends Common, Required<Pick<CheckDefinition, 'headline' | 'change'>> {
  readonly uses?: U;
  readonly records?: string;
  readonly varies?: Variation;
  readonly judge: (context: CheckContext<NoInfer<U>>) => Promise<void> | void;
}

const PLAIN = {
  applies: [],
  uses: [],
  needs: [],
  restsOn: [],
  repeats: [],
  waits: [],
  observes: false,
  records: null,
};

export function check<const U extends Needs = readonly Probe<unknown>[]>(
  id: string,
  options: CheckOptions<U>,
): CheckDefinition {
  // The context that it is judged in is opened with what it uses.
  const judge = options.judge as CheckDefinition['judge'];
  return { ...PLAIN, ...options, id: id as CheckId, judge };
}

/** A JSON value, and at most a sentence about it. */
interface Observed {
  readonly seen: unknown;
  readonly note: string;
}

interface ObservationOptions extends Common, Partial<Pick<CheckDefinition, 'uses'>> {
  /** Default: its id. */
  readonly records?: string;
  readonly varies?: Variation;
  readonly observe: (context: CheckContext) => Promise<Observed>;
}

/** Declares a question that the documents leave open: never a failure, always recorded. */
export function observation(id: string, { observe, ...options }: ObservationOptions): CheckDefinition {
  const judge = async (context: CheckContext) => {
    const { seen, note } = await observe(context);
    context.observe(seen);
    context.note(note);
  };
  return { ...PLAIN, records: id, ...options, id: id as CheckId, judge, observes: true };
}

export function suite(name: string, title: string, checks: readonly CheckDefinition[]): Suite {
  return { name, title, checks };
}

/** The same checks with further conditions. */
export function given(
  conditions: readonly Condition[],
  checks: readonly CheckDefinition[],
): readonly CheckDefinition[] {
  return checks.map((each) => ({ ...each, applies: [...conditions, ...each.applies] }));
}

/** A part of a service's config with a judgment of its own. */
interface CheckCase {
  /** Stable and unique within a service; appended to the id of the check. */
  readonly key: string;
  readonly title: string;
  /** Why a violation is expected; null if it is not. */
  readonly known: string | null;
}

interface EachOptions<C extends CheckCase, U>
  extends Omit<CheckOptions<U>, 'judge' | 'records' | 'restsOn' | 'repeats' | 'uses'> {
  /** Of one case; none by default. */
  readonly restsOn?: (each: C) => readonly CheckDefinition[];
  readonly uses?: (each: C) => U;
  readonly cases: (config: ServiceConfig) => readonly C[];
  readonly judge: (context: CheckContext<NoInfer<U>>, each: C) => Promise<void> | void;
}

/**
 * Declares a judgment for each case in a service's config. Without any case, or if some may be missing, it also
 * stands for itself, so that it is `skipped` or `blocked` and never absent.
 */
export function checkEach<C extends CheckCase, const U extends readonly Probe<unknown>[]>(
  id: string,
  { cases, judge, uses, restsOn = () => [], ...options }: EachOptions<C, U>,
): CheckDefinition {
  const noCase = () => {
    throw new Blocked('there is nothing of its kind to judge');
  };
  const whole = check(id, { ...options, judge: noCase });
  return {
    ...whole,
    each(config) {
      const known = cases(config).map(
        (item): CheckDefinition => ({
          ...check(`${id}.${item.key}`, {
            ...options,
            title: item.title,
            needs: [],
            ...(uses && { uses: uses(item) }),
            restsOn: restsOn(item),
            judge: (context) => judge(context, item),
          }),
          partOf: whole.id,
          ...(item.known === null ? {} : { known: item.known }),
        }),
      );
      const complete = known.length > 0 && whole.needs.every((missing) => missing(config) === null);
      return complete ? known : [...known, { ...whole, partOf: whole.id }];
    },
  };
}

export function suitesFor(suites: readonly Suite[], config: ServiceConfig): readonly Suite[] {
  return suites.map((each) => ({
    ...each,
    checks: each.checks.flatMap((one) => one.each?.(config) ?? [one]),
  }));
}
