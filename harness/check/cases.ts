import type { ServiceConfig } from '../config/service.ts';
import { Blocked } from '../verdict.ts';
import { type CheckDefinition, type CheckId, check, type Suite } from './check.ts';
import type { CheckContext } from './context.ts';

/** One thing of a service's config that is judged by itself. */
export interface CheckCase {
  /** Stable, and unique among the cases of a service; it goes behind the id of the check. */
  readonly key: string;
  /** Completes the sentence "the service …". */
  readonly title: string;
  /** Why a violation is known beforehand; null when it is not. */
  readonly known: string | null;
}

/**
 * Declares a judgment that is made once for each of some things that only a service's config names. It stands for
 * itself, under its own id, where there is no case, and where something is missing to know them all: so that what
 * cannot be judged is `skipped` or `blocked`, and never just absent.
 */
export function checkEach<C extends CheckCase>(
  id: string,
  options: Parameters<typeof check>[1] & { readonly cases: (config: ServiceConfig) => readonly C[] },
  judge: (context: CheckContext, each: C) => Promise<void> | void,
): CheckDefinition {
  const { cases, ...common } = options;
  const whole = check(id, common, () => {
    throw new Blocked('no case of it is known');
  });
  return {
    ...whole,
    each(config) {
      const known = cases(config).map(
        (item): CheckDefinition => ({
          ...whole,
          id: `${id}.${item.key}` as CheckId,
          title: item.title,
          partOf: whole.id,
          needs: [],
          ...(item.known === null ? {} : { known: item.known }),
          judge: (context) => judge(context, item),
        }),
      );
      const complete = known.length > 0 && whole.needs.every(({ missing }) => missing(config) === null);
      return complete ? known : [...known, { ...whole, partOf: whole.id }];
    },
  };
}

/** The suites as they are judged for one service. */
export function suitesFor(suites: readonly Suite[], config: ServiceConfig): readonly Suite[] {
  return suites.map((suite) => ({
    ...suite,
    checks: suite.checks.flatMap((each) => each.each?.(config) ?? [each]),
  }));
}
