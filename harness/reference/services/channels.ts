/** A connected client as the channels see it. */
interface Subscriber {
  readonly socketId: string;
  readonly send: (event: PusherEvent) => void;
}

export interface PusherEvent {
  readonly event: string;
  readonly channel?: string;
  readonly data?: unknown;
}

/** Who a subscriber of a presence channel is. */
export interface Member {
  readonly userId: string;
  readonly userInfo: unknown;
}

interface Subscription {
  readonly subscriber: Subscriber;
  readonly member: Member | null;
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

/** The channels of one application; a channel lives while somebody subscribes to it. */
export class Channels {
  readonly #channels = new Map<string, Map<string, Subscription>>();

  /** False when this connection already subscribes. */
  subscribe(channel: string, subscriber: Subscriber, member: Member | null): boolean {
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
  publish(event: PusherEvent & { readonly channel: string }, exceptSocketId: string | null): void {
    for (const { subscriber } of this.#channels.get(event.channel)?.values() ?? []) {
      if (subscriber.socketId !== exceptSocketId) subscriber.send(event);
    }
  }

  /** Distinct members of a presence channel. */
  members(channel: string): readonly Member[] {
    const members = new Map<string, Member>();
    for (const { member } of this.#channels.get(channel)?.values() ?? []) {
      if (member !== null) members.set(member.userId, member);
    }
    return [...members.values()];
  }

  /** Names of the channels that somebody subscribes to, in alphabetical order. */
  occupied(): readonly string[] {
    return [...this.#channels.keys()].sort();
  }

  #isPresent(channel: string, userId: string): boolean {
    return this.members(channel).some((member) => member.userId === userId);
  }
}
