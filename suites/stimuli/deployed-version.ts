import { createHash } from 'node:crypto';
import { hasMembers } from '../../harness/base/json-text.ts';
import { NotApplicable } from '../../harness/base/verdict.ts';
import { type Probe, probe } from '../../harness/engine/session/probe.ts';
import { pointerMembers } from '../../harness/wire/json/shape.ts';
import { sample } from './sample.ts';

/** What the service says of the version that is deployed. */
interface ToldVersion {
  /** A longer text is told by its hash: `sha256:…`; null where there is none. */
  readonly version: string | null;
  /** Completes "… is said by …", or says why it is not. */
  readonly note: string;
}

/** In UTF-16 units. */
const LONGEST = 200;

/** Where the config says that it stands: in a header of the sample, or in the answer to a request of its own. */
export const deployedVersion: Probe<ToldVersion> = probe(
  'deployed-version',
  { needs: [sample] },
  async ({ config, ask, http }) => {
    const place = config.deployedVersion;
    if (place === undefined) throw new NotApplicable('the config does not say where it stands');
    if ('header' in place) {
      const told = (await ask(sample)).response.field(place.header);
      return toldBy(told ?? null, `the header ${place.header}`);
    }
    const { path, pointer } = place;
    const reply = await http.send({
      purpose: 'for the version that is deployed',
      method: 'GET',
      target: () => path,
      withoutSampleFields: true,
    });
    const got = `GET ${path}`;
    if (!reply.served) return { version: null, note: `${got} is answered ${reply.status ?? 'by nothing'}` };
    if (reply.cut) return { version: null, note: `${got} is answered with more than is read` };
    const { text, json } = reply.response;
    return pointer === null ? toldBy(text, got) : toldBy(at(json.value, pointer), `${pointer} of ${got}`);
  },
);

function toldBy(value: unknown, by: string): ToldVersion {
  const isTold = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  const text = isTold ? String(value).trim() : '';
  if (text === '') return { version: null, note: `${by} holds no version` };
  const hash = () => `sha256:${createHash('sha256').update(text).digest('hex')}`;
  return { version: text.length > LONGEST ? hash() : text, note: `as ${by} says` };
}

function at(value: unknown, pointer: string): unknown {
  return pointerMembers(pointer).reduce<unknown>(
    (inner, member) => (hasMembers(inner) && Object.hasOwn(inner, member) ? inner[member] : undefined),
    value,
  );
}
