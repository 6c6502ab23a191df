import { tableOf, type Variant } from '../../behavior/deviation.ts';
import { ownItems } from '../../behavior/patches/items.ts';

/** Other ways to keep the items of one account from others. */
export const ACCOUNT_VARIANTS = tableOf<Variant>(
  { services: ['search'], setting: 'own searches' },
  {
    'hides-items-of-others': {
      summary: 'says of the items of other accounts that they are not there',
      patch: ownItems(),
    },
    'keeps-items-apart-undocumented': {
      setting: 'saved searches',
      summary: 'hides the items of other accounts, and no document says so',
      changes: ['operations.items-of-others'],
      patch: ownItems(),
    },
    'forbids-items-of-others': {
      summary: 'says 403 for the items of other accounts',
      patch: ownItems({ refusal: 'forbidden' }),
    },
    'deletes-nothing-of-others-with-204': {
      summary: 'says 204 to the deletion of an item of another account, and keeps it',
      patch: ownItems({ refusal: 'already gone' }),
    },
  },
);
