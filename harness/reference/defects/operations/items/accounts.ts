import { type Defect, REST, tableOf } from '../../../behavior/deviation.ts';
import { ownItems } from '../../../behavior/patches/items.ts';

/** What other accounts can do with the items of one. */
export const ACCOUNT_DEFECTS = tableOf<Defect>(
  { ...REST, setting: 'own searches' },
  {
    'items-open-to-other-accounts': {
      summary: 'asks for a key to read an item, and not whose key it is',
      cause: 'Any account can read the items of others',
      fails: ['operations.item-of-another'],
      patch: ownItems({ open: ['GET'] }),
    },
    'lists-items-of-all-accounts': {
      summary: 'lists the items of all accounts for each of them',
      cause: 'The list has the items of other accounts',
      fails: ['operations.list-of-another'],
      patch: ownItems({ listsAll: true }),
    },
    'other-accounts-change-items': {
      summary: 'changes an item for whoever has any key',
      cause: 'Any account can change the items of others',
      fails: ['operations.other-account-writes'],
      patch: ownItems({ open: ['PATCH'] }),
    },
    'other-accounts-delete-items': {
      summary: 'deletes an item for whoever has any key',
      cause: 'Any account can delete the items of others',
      fails: ['operations.other-account-writes'],
      patch: ownItems({ open: ['DELETE'] }),
    },
    'items-known-by-id-alone': {
      summary: 'looks for an item by its id alone, and tells accounts apart in the list',
      cause: 'Any account can read, change and delete the items of others',
      fails: ['operations.item-of-another', 'operations.other-account-writes'],
      patch: ownItems({ open: ['GET', 'PUT', 'PATCH', 'DELETE'] }),
    },
  },
);
