import type { JsonObject } from '../../base/json-text.ts';
import { type Answer, problem, served } from '../http/answer.ts';
import { objectIn, queryParameters, type ReceivedRequest } from '../http/message.ts';
import type { Route, RouteCall } from '../http/routes.ts';
import { type Channels, channelKind, isChannelName } from './channels.ts';

/** Octets of an event's data. */
const DATA_LIMIT = 10_240;
const CHANNELS_PER_EVENT = 100;

/** The channels an event goes to; null when that part of the content is not valid. */
function targetsOf(content: JsonObject): readonly string[] | null {
  const targets: unknown = content.channels ?? [content.channel];
  if (!Array.isArray(targets) || targets.length === 0 || targets.length > CHANNELS_PER_EVENT) return null;
  return targets.every(isChannelName) ? targets : null;
}

function publish(request: ReceivedRequest, channels: Channels): Answer {
  const content = objectIn(request);
  if (content === null) return problem('invalid-content');
  const targets = targetsOf(content);
  const { name, data, socket_id: except } = content;
  if (targets === null || typeof name !== 'string' || name === '' || typeof data !== 'string') {
    return problem('invalid-content');
  }
  if (Buffer.byteLength(data) > DATA_LIMIT) return problem('content-too-large');
  for (const channel of targets) {
    channels.publish({ event: name, channel, data }, typeof except === 'string' ? except : null);
  }
  return served({});
}

function listChannels(request: ReceivedRequest, channels: Channels): Answer {
  const parameters = queryParameters(request.query);
  const prefix = parameters.get('filter_by_prefix') ?? '';
  const counted = (parameters.get('info') ?? '').split(',').includes('user_count');
  const names = channels.occupied().filter((name) => name.startsWith(prefix));
  const about = (name: string): object =>
    counted && channelKind(name) === 'presence' ? { user_count: channels.members(name).length } : {};
  return served({ channels: Object.fromEntries(names.map((name) => [name, about(name)])) });
}

/** The HTTP API of one application: publish an event, list the occupied channels; signed requests only. */
export function pusherApi(appId: string, channels: Channels): readonly Route[] {
  const ofThisApp =
    (operation: (request: ReceivedRequest, channels: Channels) => Answer) =>
    ({ request, parameters }: RouteCall): Answer =>
      parameters.id === appId ? operation(request, channels) : problem('not-found');
  return [
    { template: '/apps/:id/events', credential: 'signature', methods: { POST: ofThisApp(publish) } },
    { template: '/apps/:id/channels', credential: 'signature', methods: { GET: ofThisApp(listChannels) } },
  ];
}
