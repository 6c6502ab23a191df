import {
  type CheckDefinition,
  check,
  clause,
  credentialDemanded,
  practice,
} from '../../harness/engine/check/suite.ts';
import type { Notes } from '../row.ts';
import { missingCredential } from './bad-credentials.ts';

/** A way to the documented resource on which nobody may forget to ask for the credential. */
export interface Guarded extends Notes<'headline'> {
  /** Completes "asks for a credential …". */
  readonly where: string;
}

/** auth.scheme: the credential is demanded of every request, however it comes. */
export const guarded = (
  id: string,
  { where, ...notes }: Guarded & Pick<CheckDefinition, 'uses' | 'judge'>,
): CheckDefinition =>
  check(id, {
    ...notes,
    title: `asks for a credential ${where}`,
    grounds: [clause('auth.scheme'), practice('OWASP API2:2023')],
    applies: [credentialDemanded],
    restsOn: [missingCredential],
  });
