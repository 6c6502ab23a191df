import { limitMayBeExceeded, settled } from '../../harness/check/requirement.ts';

/** What a check wants that needs the limit to be met. */
export const exceeding = [settled('limits.rate'), limitMayBeExceeded];
