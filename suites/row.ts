import type { check } from '../harness/engine/check/suite.ts';

type RowOptions = Parameters<typeof check>[1];

/** What a row of a table of checks says in words of its own, and what of the rest of a check it may say as well. */
export type RowNotes<Further extends keyof RowOptions = never> = Pick<RowOptions, 'why' | 'change' | Further>;

/** The same with the id of the check. */
export type Row<Further extends keyof RowOptions = never> = RowNotes<Further> & { readonly id: string };
