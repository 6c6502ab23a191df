import type { Sample } from '../../contract/clause.ts';
import type { Reply } from '../../evidence/exchange/reply.ts';
import { type Probe, probe } from '../../session.ts';
import { served } from './sample.ts';

/** The documented path below another version prefix, or below none. */
export interface OtherPrefix {
  /** What stands in place of the documented prefix: `/v2`, or '' for none. */
  readonly prefix: string;
  readonly reply: Reply;
}

/** In place of a documented prefix. */
const OTHERS = ['', '/v2', '/v0', '/v01', '/V1'] as const;
/** Before a path that is documented without one. */
const USUAL = ['/v1', '/v2'] as const;

/** One request per other prefix. */
export const otherPrefixes: Probe<readonly OtherPrefix[]> = probe('other-prefixes', async (port) => {
  await port.ask(served);
  const documented = versionPrefixOf(port.documented);
  const found: OtherPrefix[] = [];
  for (const prefix of documented === null ? USUAL : OTHERS) {
    const purpose = prefix === '' ? 'without the version prefix' : `below ${prefix}`;
    const target = ({ path }: Sample) => `${prefix}${path.slice(documented?.length ?? 0)}`;
    found.push({ prefix, reply: await port.http.send({ purpose, target }) });
  }
  return found;
});

/** `/v1` of `/v1/resources`; null when the path begins with no version. */
function versionPrefixOf({ path }: Sample): string | null {
  return /^\/v\d+(?=\/)/.exec(path)?.[0] ?? null;
}
