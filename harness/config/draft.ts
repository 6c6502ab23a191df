import { dirname, resolve } from 'node:path';
import { SECRET_KEYS } from '../credential/schemes.ts';
import type { ServiceFile } from './service-file.ts';
import { type Located, type LocatedMap, originsOf } from './yaml/located.ts';
import { type FaultAt, faultsOf, type Origin } from './yaml/origin.ts';
import { interpolate, type ReferenceScope } from './yaml/reference.ts';

/** One service on its way from file to config: overlaid, its references read, its meaning not yet checked. */
export interface Draft {
  readonly blocks: ServiceFile;
  /** Grows while defaults are filled in. */
  readonly origins: Map<string, Origin>;
  readonly faultAt: FaultAt;
  readonly scope: ReferenceScope;
}

/** Texts that stay as written until `credentials.ts` turns them into secrets. */
const SECRET_TEXTS: ReadonlySet<string> = new Set([
  ...SECRET_KEYS.map((key) => `credentials.${key}`),
  'pacts.broker.token',
  'pacts.broker.password',
  'webhooks.signature.secret',
]);

/** The same for what a provider is given; and for texts of a command, in which `${PORT}` is no reference. */
const PROVIDER_TEXTS =
  /^provider\.(container\.(companions\.[^.]+\.)?(env|secrets)|command\.(env|run|url))(\.|$)/;

/** A shell reads it, and has `${…}` of its own. */
const STATE_COMMAND = 'pacts.states.command';

/** `${WEBHOOK_URL}` in it is known when the receiver listens. */
const TRIGGER = /^webhooks\.trigger\./;

/** Schemas are data of their own: what looks like a reference in a pattern is none. */
const OPAQUE =
  /^(operations\.\d+\.(response|parameters\.\d+)\.schema|websocket\.(exchange\.\d+\.expect|messages\.[^.]+))(\.|$)/;

/** @throws UsageError when a reference cannot be read, or reads something that the schema refuses. */
export async function draftService(
  tree: LocatedMap,
  file: string,
  options: { readonly env: NodeJS.ProcessEnv; readonly execTimeoutMs: number },
  hold: (tree: LocatedMap) => ServiceFile,
): Promise<Draft> {
  const scope: ReferenceScope = { ...options, folder: dirname(resolve(file)) };
  const faultAt = faultsOf(originsOf(tree));

  const read = async (node: Located, key: string): Promise<Located> => {
    if (
      key === STATE_COMMAND ||
      TRIGGER.test(key) ||
      SECRET_TEXTS.has(key) ||
      PROVIDER_TEXTS.test(key) ||
      (OPAQUE.test(key) && node.kind !== 'scalar')
    )
      return node;
    switch (node.kind) {
      case 'map':
        return readMap(node, key);
      case 'list': {
        const items: Located[] = [];
        for (const [index, item] of node.items.entries()) items.push(await read(item, `${key}.${index}`));
        return { ...node, items };
      }
      case 'scalar': {
        if (typeof node.value !== 'string') return node;
        const fault = (problem: string, remedy: string) => faultAt(key, problem, remedy);
        const { text, references } = await interpolate(node.value, scope, fault);
        if (references.length === 0 || node.origin.kind !== 'file') return node;
        return { ...node, value: text, origin: { ...node.origin, reference: references.join(', ') } };
      }
    }
  };
  const readMap = async (node: LocatedMap, key: string): Promise<LocatedMap> => {
    const entries = new Map(node.entries);
    for (const [name, entry] of node.entries) {
      entries.set(name, { ...entry, value: await read(entry.value, key === '' ? name : `${key}.${name}`) });
    }
    return { ...node, entries };
  };

  const whole = await readMap(tree, '');
  return { blocks: hold(whole), origins: originsOf(whole), faultAt, scope };
}
