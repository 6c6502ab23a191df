import type { LoadedService } from '../../config/load.ts';
import { faultsOf } from '../../config/yaml/origin.ts';
import { UsageError } from '../../exit.ts';

/**
 * Holds the defects and variants that configs name against those that there are, before anything is started.
 *
 * @throws UsageError with the place of the name.
 */
export async function holdReferenceNames(services: readonly LoadedService[]): Promise<void> {
  for (const { config, origins } of services) {
    const { provider } = config;
    if (provider.kind !== 'reference') continue;
    const { name, defects, variant } = provider;
    if (defects.length === 0 && variant === null) continue;
    // Only who names one needs to know them all.
    const { findDefect, findVariant } = await import('../../provider/reference/catalogue.ts');
    const at = (key: string, find: () => unknown) => {
      try {
        find();
      } catch (error) {
        if (!(error instanceof UsageError)) throw error;
        throw faultsOf(origins)(key, error.problem, error.remedy ?? '');
      }
    };
    for (const [index, defect] of defects.entries()) {
      at(`provider.defects.${index}`, () => findDefect(defect, name));
    }
    for (const each of variant?.split('+') ?? []) at('provider.variant', () => findVariant(each, name));
  }
}
