import { rfc } from '../../harness/engine/check/suite.ts';
import { lived, loss, readBack } from './items.ts';
import { itemOf } from './stimuli/item.ts';

const applied = lived('operations.json-patch-applied', 'patchedRead', {
  title: 'has an item after a JSON patch as the patch says',
  headline: 'A JSON patch that was accepted has no effect: {got}',
  why: 'The client believes that its change is stored.',
  change: 'Carry out each operation of the patch before you answer, or refuse it.',
  grounds: [rfc(6902, '3', 'MUST')],
  restsOn: [readBack],
  wanted: 'the item with the change',
  after: ['patched'],
  shows: ({ patched }) => patched?.status !== 202,
  items: ['patchedRead'],
  got: (reply, life) => loss(reply, life, 'patch'),
});

const taken = lived('operations.json-patch-taken', 'patched', {
  title: 'takes a JSON patch where its document offers it',
  headline: 'A documented JSON patch gets {answer}',
  why: 'Clients that are generated from the document cannot change anything.',
  change: 'Read application/json-patch+json, or remove it from the document.',
  wanted: 'another status than 415',
  after: ['read'],
  got: ({ status }) => (status === 415 ? 'status 415' : null),
});

/** Where the document says that PATCH takes application/json-patch+json. */
export const jsonPatches = [
  taken,
  applied,

  // RFC 6902 §5: a test that is not successful makes the whole patch unsuccessful. RFC 5789 §2.2: 409 or 422 says so.
  lived('operations.json-patch-test', 'patchFailed', {
    title: 'refuses a JSON patch whose test fails',
    headline: 'A JSON patch whose test fails gets {answer}',
    why: 'Clients test the value that they know, so as not to overwrite the change of another.',
    change: 'Compare the value with that of the item, and answer 409 or 422 where it differs.',
    grounds: [rfc(6902, '4.6', 'MUST')],
    restsOn: [applied],
    wanted: 'a 4xx status',
    after: ['patched', 'patchedRead'],
    got: ({ response: { status, statusClass } }) => (statusClass === 4 ? null : `status ${status}`),
  }),

  lived('operations.json-patch-atomic', 'patchFailedRead', {
    title: 'carries out all of a JSON patch or nothing of it',
    headline: 'A JSON patch that was refused has changed the item: {got}',
    why: 'The client corrects its request and sends it again, on data that is already half changed.',
    change: 'Patch a copy, and store it when all operations have succeeded.',
    grounds: [rfc(6902, '5', 'MUST'), rfc(5789, '2', 'MUST')],
    restsOn: [applied],
    wanted: 'the item as it was',
    after: ['patched', 'patchedRead'],
    shows: ({ patchFailed }) => patchFailed?.response.statusClass === 4,
    items: ['patchFailedRead'],
    got(reply, { failedPatch }) {
      const item = itemOf(reply);
      const [name] = Object.keys(failedPatch).filter((each) => item?.[each] === failedPatch[each]);
      return name === undefined ? null : `${JSON.stringify(name)} is ${JSON.stringify(failedPatch[name])}`;
    },
  }),
];
