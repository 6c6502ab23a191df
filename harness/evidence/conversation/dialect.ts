/** Protocols above WebSocket that can be told by the first message of the server. */
const GREETINGS: readonly { readonly dialect: string; readonly pattern: RegExp }[] = [
  { dialect: 'engine.io', pattern: /^0\{.*"sid"/ },
  { dialect: 'pusher', pattern: /"event"\s*:\s*"pusher:connection_established"/ },
  { dialect: 'sockjs', pattern: /^o$/ },
  { dialect: 'action cable', pattern: /^\{"type":"welcome"/ },
  { dialect: 'meteor ddp', pattern: /^\{"server_id":/ },
  { dialect: 'discord gateway', pattern: /^\{.{0,200}"op":\s*10\b/ },
];

/** The dialect that a server's first message belongs to; null when it is none of those known. */
export function dialectOf(greeting: string): string | null {
  return GREETINGS.find(({ pattern }) => pattern.test(greeting))?.dialect ?? null;
}
