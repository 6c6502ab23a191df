import { type ClauseValue, findClause } from '../base/clause.ts';
import type { ClauseKey } from '../base/vocabulary.ts';
import type { ServiceConfig } from './service.ts';

/** What is known to decide about a service, its contract included. */
type Documented = Pick<ServiceConfig, 'contract' | 'facts'>;

/** The value of a clause, or of the fact that the config fills in; null when neither shows it. */
export function documentedValue({ contract, facts }: Documented, key: ClauseKey): ClauseValue {
  return facts[key]?.value ?? findClause(contract, key)?.value ?? null;
}

/** Who has no credential is served as well, and the documents say so. */
export function isCredentialOptional(config: Documented): boolean {
  return documentedValue(config, 'auth.optional') === true;
}
