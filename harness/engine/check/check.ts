import type { Ground } from '../../base/authority.ts';
import type { Variation } from '../../base/verdict.ts';
import { Blocked } from '../../base/verdict.ts';
import type { ServiceConfig } from '../../config/service.ts';
import type { Needs, Probe } from '../session/probe.ts';
import type { CheckContext } from './context.ts';
import type { Condition, Need } from './requirement.ts';

/** Dotted and stable: an id never changes (pinned by a snapshot). */
export type CheckId = string & { readonly __checkId: unique symbol };

export interface CheckDefinition {
  readonly id: CheckId;
  /** Completes the sentence "the service …". */
  readonly title: string;
  /** What is wrong where it is violated, with the place of what came, `{got}` or `{answer}`. Observations have none. */
  readonly headline?: string;
  /** Why it matters to a client. */
  readonly why: string;
  /** What to change in the service where it is violated. Observations have none. */
  readonly change?: string;
  readonly grounds: readonly Ground[];
  /** Those of them that hold for a service, where they depend on its config; all when left out. */
  readonly groundsIn?: (config: ServiceConfig) => readonly Ground[];
  /** When the check makes no sense for a service it is `skipped`, with the reason. */
  readonly applies: readonly Condition[];
  /** The probes that it may ask for. */
  readonly uses: Needs;
  /** What must be there to exercise it; missing means `blocked`, with the reason. */
  readonly needs: readonly Need[];
  /**
   * What it takes for granted, the nearest first: where one of these is violated, a violation of this one is no finding
   * of its own but the same fault seen again, and it is `blocked`.
   */
  readonly restsOn: readonly CheckDefinition[];
  /** The same, as far as what came instead is the very same there: whatever else came is a finding of its own. */
  readonly repeats: readonly CheckDefinition[];
  /**
   * Probes that wait for what the service must do. Where it was waited for in vain, those of all checks that are left are
   * asked at the same time.
   */
  readonly waits: readonly Probe<unknown>[];
  /** Longest active time in ms, where it is not that of every check. */
  readonly limitMs?: number;
  /** It judges nothing: never a failure. */
  readonly observes: boolean;
  /** Key of the observation that it records, as stable as the id; null when it records none. */
  readonly records: string | null;
  /** How the value that it records may differ from day to day; not at all when left out. */
  readonly varies?: Variation;
  /** Why it is known beforehand that it may be violated; such a violation is `known` and fails nothing. */
  readonly known?: string;
  /** The checks that it stands for in one service, where they depend on the service's config (`checkEach`). */
  readonly each?: (config: ServiceConfig) => readonly CheckDefinition[];
  /** Id of the check that stands for this one where the service is not known. */
  readonly partOf?: CheckId;
  /** Returns when the evidence conforms and throws a `Violation` when it does not. */
  readonly judge: (context: CheckContext) => Promise<void> | void;
}

export interface Suite {
  readonly name: string;
  readonly title: string;
  readonly checks: readonly CheckDefinition[];
  /** It uses up the quota: what was put off is judged before it, for behind it a window would have to pass. */
  readonly exhausts?: true;
}

type Common = Pick<CheckDefinition, 'title' | 'why' | 'grounds' | 'limitMs'> &
  Partial<Pick<CheckDefinition, 'groundsIn' | 'applies' | 'needs' | 'restsOn' | 'repeats' | 'waits'>>;

interface CheckOptions<U> extends Common, Required<Pick<CheckDefinition, 'headline' | 'change'>> {
  readonly uses?: U;
  /** Key of what it records with `observe`, besides judging. */
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

/** Declares one judgment. */
export function check<const U extends Needs = readonly Probe<unknown>[]>(
  id: string,
  options: CheckOptions<U>,
): CheckDefinition {
  // The context that it is judged in is opened with what it uses.
  const judge = options.judge as CheckDefinition['judge'];
  return { ...PLAIN, ...options, id: id as CheckId, judge };
}

/** What an observation has seen: a JSON value, and a sentence or less on it. */
interface Seen {
  readonly seen: unknown;
  readonly note: string;
}

interface ObservationOptions extends Common, Partial<Pick<CheckDefinition, 'uses'>> {
  /** Key under which it records what it sees. Default: its id. */
  readonly records?: string;
  readonly varies?: Variation;
  readonly observe: (context: CheckContext) => Promise<Seen>;
}

/** Declares something to find out where the documents are silent: never a failure, always recorded. */
export function observation(id: string, { observe, ...options }: ObservationOptions): CheckDefinition {
  const judge = async (context: CheckContext) => {
    const { seen, note } = await observe(context);
    context.observe(seen);
    context.note(note);
  };
  return { ...PLAIN, records: id, ...options, id: id as CheckId, judge, observes: true };
}

/** A file of checks, judged in the order written. */
export function suite(name: string, title: string, checks: readonly CheckDefinition[]): Suite {
  return { name, title, checks };
}

/** The same checks, each applying only where these conditions hold as well. */
export function given(
  conditions: readonly Condition[],
  checks: readonly CheckDefinition[],
): readonly CheckDefinition[] {
  return checks.map((each) => ({ ...each, applies: [...conditions, ...each.applies] }));
}

/** One thing of a service's config that is judged by itself. */
interface CheckCase {
  /** Stable, and unique among the cases of a service; it goes behind the id of the check. */
  readonly key: string;
  /** Completes the sentence "the service …". */
  readonly title: string;
  /** Why a violation is known beforehand; null when it is not. */
  readonly known: string | null;
}

interface EachOptions<C extends CheckCase, U>
  extends Omit<CheckOptions<U>, 'judge' | 'records' | 'restsOn' | 'repeats' | 'uses'> {
  /** Of one case; on nothing when left out. */
  readonly restsOn?: (each: C) => readonly CheckDefinition[];
  /** The probes that one case may ask for. */
  readonly uses?: (each: C) => U;
  readonly cases: (config: ServiceConfig) => readonly C[];
  readonly judge: (context: CheckContext<NoInfer<U>>, each: C) => Promise<void> | void;
}

/**
 * Declares a judgment that is made once for each of some things that only a service's config names. It stands for
 * itself, under its own id, where there is no case, and where something is missing to know them all: so that what
 * cannot be judged is `skipped` or `blocked`, and never just absent.
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

/** The suites as they are judged for one service. */
export function suitesFor(suites: readonly Suite[], config: ServiceConfig): readonly Suite[] {
  return suites.map((each) => ({
    ...each,
    checks: each.checks.flatMap((one) => one.each?.(config) ?? [one]),
  }));
}
