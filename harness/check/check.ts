import type { ServiceConfig } from '../config/service.ts';
import type { Ground } from '../contract/ground.ts';
import type { CheckContext } from './context.ts';
import type { Condition, Need } from './requirement.ts';

/** Dotted and stable: renaming one is a breaking change (pinned by a snapshot). */
export type CheckId = string & { readonly __checkId: unique symbol };

export interface CheckDefinition {
  readonly id: CheckId;
  /** Completes the sentence "the service …". */
  readonly title: string;
  readonly grounds: readonly Ground[];
  /** When the check makes no sense for a service it is `skipped`, with the reason. */
  readonly applies: readonly Condition[];
  /** What must be there to exercise it; missing means `blocked`, with the reason. */
  readonly needs: readonly Need[];
  /** Longest active time in ms, where it is not that of every check. */
  readonly limitMs?: number;
  /** It records what is seen and judges nothing. */
  readonly observes: boolean;
  /** Why it is known beforehand that it may be violated; such a violation is `known` and fails nothing. */
  readonly known?: string;
  /** The checks that it stands for in one service, where they depend on the service's config (`cases.ts`). */
  readonly each?: (config: ServiceConfig) => readonly CheckDefinition[];
  /** Id of the check that stands for this one where the service is not known. */
  readonly partOf?: CheckId;
  readonly judge: (context: CheckContext) => Promise<void> | void;
}

export interface Suite {
  readonly name: string;
  readonly title: string;
  readonly checks: readonly CheckDefinition[];
}

interface CheckOptions {
  readonly title: string;
  readonly grounds: readonly Ground[];
  readonly applies?: readonly Condition[];
  readonly needs?: readonly Need[];
  /** Longest active time in ms, for a check that asks much. */
  readonly limitMs?: number;
  /** Unused: a defect says itself which checks it trips. */
  readonly provenBy?: readonly string[];
  readonly shownBy?: readonly string[];
}

/** Declares one judgment. `judge` returns when the evidence conforms and throws a `Violation` when it does not. */
export function check(id: string, options: CheckOptions, judge: CheckDefinition['judge']): CheckDefinition {
  return define(id, options, judge);
}

/** Declares something to find out where the documents are silent: never a failure, always recorded. */
export function observation(
  id: string,
  options: CheckOptions,
  observe: CheckDefinition['judge'],
): CheckDefinition {
  return { ...define(id, options, observe), observes: true };
}

function define(id: string, options: CheckOptions, judge: CheckDefinition['judge']): CheckDefinition {
  return {
    id: id as CheckId,
    title: options.title,
    grounds: options.grounds,
    applies: options.applies ?? [],
    needs: options.needs ?? [],
    observes: false,
    ...(options.limitMs === undefined ? {} : { limitMs: options.limitMs }),
    judge,
  };
}

/** A file of checks, judged in the order written. */
export function suite(name: string, title: string, checks: readonly CheckDefinition[]): Suite {
  return { name, title, checks };
}
