import type { JsonObject } from '../../base/json-text.ts';
import { type HttpAnswer, problem, served } from '../http/answer.ts';
import { objectIn, queryParameters, type ReceivedRequest } from '../http/message.ts';
import type { Route, RouteCall } from '../http/routes.ts';

interface Subscriber {
  readonly socketId: string;
  readonly send: (event: ChannelEvent) => void;
}

export interface ChannelEvent {
  readonly event: string;
  readonly channel?: string;
  readonly data?: unknown;
}

/** Who a subscriber of a presence channel is. */
export interface ChannelMember {
  readonly userId: string;
  readonly userInfo: unknown;
}

interface Subscription {
  readonly subscriber: Subscriber;
  readonly member: ChannelMember | null;
}

type ChannelKind = 'public' | 'private' | 'presence';

const CHANNEL_NAME = /^[A-Za-z0-9_\-=@,.;]{1,200}$/;

export function isChannelName(name: unknown): name is string {
  return typeof name === 'string' && CHANNEL_NAME.test(name);
}

export function channelKind(name: string): ChannelKind {
  if (name.startsWith('private-')) return 'private';
  return name.startsWith('presence-') ? 'presence' : 'public';
}

/** The channels of one application; a channel lives while it has subscribers. */
export class Channels {
  readonly #channels = new Map<string, Map<string, Subscription>>();

  /** False when this connection already subscribes. */
  subscribe(channel: string, subscriber: Subscriber, member: ChannelMember | null): boolean {
    const subscriptions = this.#channels.get(channel) ?? new Map<string, Subscription>();
    if (subscriptions.has(subscriber.socketId)) return false;
    const newcomer = member !== null && !this.#isPresent(channel, member.userId);
    subscriptions.set(subscriber.socketId, { subscriber, member });
    this.#channels.set(channel, subscriptions);
    if (newcomer) {
      const data = JSON.stringify({ user_id: member.userId, user_info: member.userInfo });
      this.publish({ event: 'pusher_internal:member_added', channel, data }, subscriber.socketId);
    }
    return true;
  }

  unsubscribe(channel: string, socketId: string): void {
    const subscriptions = this.#channels.get(channel);
    const left = subscriptions?.get(socketId);
    if (subscriptions === undefined || left === undefined) return;
    subscriptions.delete(socketId);
    if (subscriptions.size === 0) this.#channels.delete(channel);
    if (left.member !== null && !this.#isPresent(channel, left.member.userId)) {
      const data = JSON.stringify({ user_id: left.member.userId });
      this.publish({ event: 'pusher_internal:member_removed', channel, data }, socketId);
    }
  }

  /** Sends an event to all subscribers of its channel but one. */
  publish(event: ChannelEvent & { readonly channel: string }, exceptSocketId: string | null): void {
    for (const { subscriber } of this.#channels.get(event.channel)?.values() ?? []) {
      if (subscriber.socketId !== exceptSocketId) subscriber.send(event);
    }
  }

  members(channel: string): readonly ChannelMember[] {
    const members = new Map<string, ChannelMember>();
    for (const { member } of this.#channels.get(channel)?.values() ?? []) {
      if (member !== null) members.set(member.userId, member);
    }
    return [...members.values()];
  }

  /** Names of the channels with subscribers, in alphabetical order. */
  occupied(): readonly string[] {
    return [...this.#channels.keys()].sort();
  }

  #isPresent(channel: string, userId: string): boolean {
    return this.members(channel).some((member) => member.userId === userId);
  }
}

/** Octets of an event's data. */
const DATA_LIMIT = 10_240;
const CHANNELS_PER_EVENT = 100;

/** The channels an event goes to; null when that part of the content is not valid. */
function targetsOf(content: JsonObject): readonly string[] | null {
  const targets: unknown = content.channels ?? [content.channel];
  if (!Array.isArray(targets) || targets.length === 0 || targets.length > CHANNELS_PER_EVENT) return null;
  return targets.every(isChannelName) ? targets : null;
}

function publish(request: ReceivedRequest, channels: Channels): HttpAnswer {
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

function listChannels(request: ReceivedRequest, channels: Channels): HttpAnswer {
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
    (operation: (request: ReceivedRequest, channels: Channels) => HttpAnswer) =>
    ({ request, parameters }: RouteCall): HttpAnswer =>
      parameters.id === appId ? operation(request, channels) : problem('not-found');
  return [
    { template: '/apps/:id/events', credential: 'signature', methods: { POST: ofThisApp(publish) } },
    { template: '/apps/:id/channels', credential: 'signature', methods: { GET: ofThisApp(listChannels) } },
  ];
}
