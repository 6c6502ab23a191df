import {
  clause,
  given,
  observation,
  ownedByAccount,
  practice,
  secondKey,
  unsafeMethods,
} from '../../harness/engine/check/suite.ts';
import { secondKeyServed } from '../auth/bad-credentials.ts';
import { changeSince, lived, whyNoList } from './items.ts';
import { othersUntouched } from './lifecycle.ts';
import { isSameItem, itemOf } from './stimuli/item.ts';
import { type Life, lives } from './stimuli/lifecycle.ts';
import { listOf } from './stimuli/list.ts';

const grounds = [clause('resources.owner'), practice('OWASP API1:2023')];

/** The twin, which its own account has just read. */
function isTwin(item: unknown, { lifecycle, twinAfter }: Life): boolean {
  const own = twinAfter && itemOf(twinAfter);
  return own ? isSameItem(own, item, lifecycle) : false;
}

/** Nothing but the id, which another account may have given as well, would tell the items of two accounts apart. */
const isTold = ({ lifecycle, change }: Life): boolean =>
  Object.keys(change).some((name) => name in lifecycle.readable);

/** What one account has created, for another one. */
export const otherAccounts = [
  ...given(
    [unsafeMethods, secondKey, ownedByAccount],
    [
      lived('operations.item-of-another', 'othersRead', {
        title: 'shows an item to no other account',
        headline: 'Another account can read an item: {got}',
        why: 'Customers read the data of others. They only need the id.',
        change:
          'Look an item up by its id and by the account of the key, and answer 404 where there is none.',
        grounds,
        restsOn: [secondKeyServed],
        wanted: 'status 403 or 404',
        after: ['twinAfter'],
        shows: isTold,
        items: ['twinAfter', 'othersRead'],
        got: (reply, life) => (isTwin(itemOf(reply), life) ? `status ${reply.status} with the item` : null),
      }),
      lived('operations.list-of-another', 'othersList', {
        title: 'lists an item for no other account',
        headline: 'Another account finds an item in its list: {got}',
        why: 'Customers read the data of others without even looking for it.',
        change: 'Restrict the list to the items of the account whose key comes with the request.',
        grounds,
        restsOn: [secondKeyServed],
        wanted: 'a list without it',
        after: ['twinAfter', 'othersList'],
        shows: isTold,
        items: ['twinAfter'],
        unread: whyNoList,
        got(reply, life) {
          const list = listOf(reply) ?? [];
          return list.some((item) => isTwin(item, life)) ? `it among ${list.length}` : null;
        },
      }),
      lived('operations.other-account-writes', 'twinLeft', {
        title: 'lets no other account change or delete an item',
        headline: 'Another account can change or delete an item: {got}',
        why: 'Customers destroy the data of others. They only need the id.',
        change: 'Look an item up by its id and by the account of the key before you change or delete it.',
        grounds,
        restsOn: [secondKeyServed, othersUntouched],
        wanted: 'the item as it was',
        after: ['twinAfter'],
        items: ['twinAfter', 'twinLeft'],
        got: (reply, life) => changeSince(reply, life, 'twinAfter'),
      }),
    ],
  ),

  observation('operations.items-of-others', {
    title: 'shows an item to other accounts, or hides it',
    why: 'It decides whether customers who share a service see the data of each other.',
    grounds: [clause('resources.owner')],
    applies: [unsafeMethods, secondKey],
    uses: [lives],
    async observe({ probe, notApplicable }) {
      const asked = (await probe(lives)).filter(
        (life) => life.twinAfter?.served && life.othersRead?.answered && isTold(life),
      );
      if (asked.length === 0) notApplicable('no item was there that another account could be shown');
      const shown = asked.filter((life) => life.othersRead && isTwin(itemOf(life.othersRead), life));
      const seen = shown.length === 0 ? 'hidden' : shown.length === asked.length ? 'shown' : 'some shown';
      return {
        seen,
        note: `${seen} (${asked.map(({ othersRead }) => `status ${othersRead?.status}`).join(', ')})`,
      };
    },
  }),
];
