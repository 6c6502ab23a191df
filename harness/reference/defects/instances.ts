import type { JsonObject } from '../../base/json-text.ts';
import { imfFixdate } from '../behavior/clock.ts';
import { type Defect, EVERY, REST, tableOf } from '../behavior/deviation.ts';
import { lastInARow, oneFinishedIn, oneIn, whenCrowded } from '../behavior/patches/instances.ts';
import { problem } from '../http/answer.ts';
import {
  asProblem,
  dropped,
  failed,
  having,
  holding,
  lacking,
  refusedWith,
  replacedBy,
  withJson,
  withMembers,
  withText,
} from '../http/answer-changes.ts';
import { withField } from '../http/message.ts';

/** Faults that come and go: one of several instances behind the address has them. */

const INSTANCES = 7;
const FEW_INSTANCES = 3;
const TWO_INSTANCES = 2;
const MANY = 9;
const CROWD = 8;
const FIVE_MINUTES_MS = 300_000;

/** Without its last entry. */
const shorter = (content: JsonObject): JsonObject => ({
  ...content,
  resources: Array.isArray(content.resources) ? content.resources.slice(0, -1) : content.resources,
});

export const INSTANCE_DEFECTS = tableOf<Defect>(EVERY, {
  'instance-fails': {
    cause: 'One in several of the same requests is answered {status:500}, a server error',
    fails: ['status.stable'],
    patch: oneIn(INSTANCES, failed),
  },
  'fails-in-bursts': {
    services: REST.services,
    cause: 'Of many requests in a row one now and then is answered {status:500}, a server error',
    fails: ['limits.failures'],
    patch: lastInARow(MANY, failed),
  },
  'fails-when-crowded': {
    services: REST.services,
    cause: 'Of many requests that come together some are answered {status:500}, a server error',
    fails: ['limits.failures'],
    patch: whenCrowded(CROWD, failed),
  },
  'unavailable-in-bursts': {
    services: REST.services,
    cause:
      'Of many requests in a row one now and then is answered {status:503}, though the quota is not spent',
    fails: ['limits.failures'],
    patch: lastInARow(MANY, (answer) => asProblem(503)(failed(answer))),
  },
  'instance-without-key': {
    cause: 'One in several of the same requests is answered {status:401}, with the right key',
    fails: ['status.stable'],
    alsoFails: { 'auth.challenge-parameters': 'its refusal has a challenge of its own' },
    patch: oneIn(INSTANCES, (answer) => ({
      ...replacedBy(answer, problem('wrong-credential', [['WWW-Authenticate', 'Bearer']])),
      responseKind: 'served',
    })),
  },
  'instance-of-old-routes': {
    cause: 'One in several of the same requests is answered {status:404}',
    fails: ['status.stable'],
    patch: oneIn(INSTANCES, refusedWith('not-found')),
  },
  'instance-ends-connections': {
    cause: 'One in several of the same requests gets no response',
    fails: ['status.stable'],
    patch: oneFinishedIn(FEW_INSTANCES, dropped),
  },
  'instance-labels-text': {
    cause: 'One in several of the same requests is answered as {media type:text/plain}',
    fails: ['status.stable'],
    alsoFails: { 'json.success-media-type': 'the odd one is among those that are judged for it' },
    patch: oneIn(FEW_INSTANCES, having('Content-Type', 'text/plain')),
  },
  'instance-of-old-shape': {
    services: REST.services,
    cause: 'One in several of the same requests is answered without some of the members',
    fails: ['json.shape-stable'],
    patch: oneIn(INSTANCES, (answer) =>
      withMembers(withField(answer, 'ETag', '"of-old"'), { total: undefined }),
    ),
  },
  'instance-of-other-data': {
    services: REST.services,
    cause: 'A list has one entry less in every other answer',
    fails: ['json.count-stable'],
    patch: oneIn(TWO_INSTANCES, (answer) => withJson(withField(answer, 'ETag', '"of-other"'), shorter)),
  },
  'instance-truncates': {
    cause: 'One in several of the same requests is answered with JSON that breaks off',
    fails: ['json.shape-stable'],
    alsoFails: {
      'json.syntax': 'JSON that breaks off is malformed',
      'caching.etag-changes': 'what is left of it has the tag of the whole',
    },
    patch: oneIn(INSTANCES, (answer) => withText(answer, (text) => text.slice(0, text.length / 2))),
  },
  'instance-sends-nothing': {
    cause: 'One in several of the same requests is answered {status:200} with an empty body',
    fails: ['json.shape-stable'],
    alsoFails: { 'caching.etag-changes': 'the empty body has the tag of the whole' },
    patch: oneIn(INSTANCES, holding('')),
  },
  'etag-of-one-instance': {
    cause: 'The same content gets another ETag from each instance',
    fails: ['caching.etag-stable'],
    patch: oneIn(FEW_INSTANCES, having('ETag', '"instance-3"')),
  },
  'instance-clock-behind': {
    cause: 'One in several of the same requests is answered with a Date that is minutes off',
    fails: ['caching.one-clock'],
    patch: oneFinishedIn(INSTANCES, (answer, _, { clock }) =>
      withField(answer, 'Date', imfFixdate(clock.now() - FIVE_MINUTES_MS)),
    ),
  },
  'instance-without-cache-control': {
    cause: 'One in several of the same requests is answered without Cache-Control',
    fails: ['headers.steady'],
    patch: oneFinishedIn(INSTANCES, lacking('Cache-Control')),
  },
});
