import type { check } from '../harness/engine/check/suite.ts';

type RowOptions = Parameters<typeof check>[1];

/** The words of a row in a table of checks, and other options of a check that it may have. */
export type Notes<Further extends keyof RowOptions = never> = Pick<RowOptions, 'why' | 'change' | Further>;

/** The same with the id of the check. */
export type Row<Further extends keyof RowOptions = never> = Notes<Further> & { readonly id: string };
