import { createHash } from 'node:crypto';
import { findClause, type Sample } from '../../../harness/base/clause.ts';
import { hasMembers } from '../../../harness/base/json-text.ts';
import { NotApplicable } from '../../../harness/base/verdict.ts';
import { derived, probe } from '../../../harness/engine/session/probe.ts';
import type { Reply } from '../../../harness/wire/exchange/reply.ts';
import { pointerMembers } from '../../../harness/wire/json/shape.ts';
import { pathOf } from '../../../harness/wire/request.ts';
import { sample, served } from '../../stimuli/sample.ts';

/** What the service says of the version that is deployed. */
interface ReportedVersion {
  /** A longer text is reported by its hash: `sha256:…`; null where there is none. */
  readonly version: string | null;
  /** Completes "… is said by …", or says why it is not. */
  readonly note: string;
}

/** In UTF-16 units. */
const LONGEST = 200;

/** Where the config says that it stands: in a header of the sample, or in the answer to a request of its own. */
export const deployedVersion = probe<ReportedVersion>(
  'deployed-version',
  { needs: [sample] },
  async ({ config, ask, http }) => {
    const place = config.deployedVersion;
    if (place === undefined) throw new NotApplicable('the config does not say where it stands');
    if ('header' in place) {
      const value = (await ask(sample)).response.field(place.header);
      return reportedBy(value, `the header ${place.header}`);
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
    return pointer === null
      ? reportedBy(text, got)
      : reportedBy(at(json.value, pointer), `${pointer} of ${got}`);
  },
);

function reportedBy(value: unknown, by: string): ReportedVersion {
  const isText = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  const text = isText ? String(value).trim() : '';
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

/** The documented path below another version, or below none. */
export interface OtherPrefix extends OtherVersion {
  readonly reply: Reply;
}

/** Before a path that is documented without one. */
const USUAL = ['/v1', '/v2'] as const;

/** Where the documented path has its version, as it is sent: the base URL may have a path of its own. */
const versioned = derived('versioned-path', [served], async ({ ask, config, documented }) => {
  const { pathname } = new URL((await ask(served)).exchange.request.url);
  const mount = pathname.slice(0, -pathOf(documented.path).length);
  const prefix = config.facts[PREFIX]?.value ?? findClause(config.contract, PREFIX)?.value;
  return { mount, at: versionedPath(pathname, typeof prefix === 'string' ? prefix : null) };
});

const PREFIX = 'versioning.prefix';

/** The path that everything of the documented version is below; null where none is documented. */
export const versionBase = derived('version-base', [versioned], async ({ ask }) => {
  const { at } = await ask(versioned);
  return at && `${at.before}${at.version}`;
});

/** One request per version that is not documented. Above the base URL nothing may be asked for: then there are none. */
export const otherPrefixes = probe<readonly OtherPrefix[]>(
  'other-prefixes',
  { needs: [versioned], cost: 5 },
  async ({ ask, http, config, documented }) => {
    const { mount, at } = await ask(versioned);
    const found: OtherPrefix[] = [];
    const others: readonly OtherVersion[] =
      at === null ? USUAL.map((segment) => ({ segment, kind: 'version' })) : otherVersions(at.version);
    if (at !== null && at.before.length < mount.length) return found;
    for (const other of others) {
      const { segment } = other;
      const purpose = segment === '' ? 'without the version prefix' : `below ${segment}`;
      const target = ({ path }: Pick<Sample, 'path'>) =>
        at === null ? `${segment}${path}` : `${at.before.slice(mount.length)}${segment}${at.rest}`;
      const path = pathOf(target(documented));
      if (config.operations.some(({ call }) => pathOf(call.template) === path)) continue;
      found.push({ ...other, reply: await http.send({ purpose, target }) });
    }
    return found;
  },
);

/** A path in which a version stands: `/api`, `/v1`, `/orders`. */
interface VersionedPath {
  /** Whatever comes before it, of the base URL or of the documented prefix. */
  readonly before: string;
  /** The one segment that names it, with its slash. */
  readonly version: string;
  readonly rest: string;
}

/** The version in a whole path: the end of the documented prefix, or a first segment like `/v1`; null if there is neither. */
export function versionedPath(path: string, prefix: string | null): VersionedPath | null {
  const isBelow = prefix !== null && `${path}/`.includes(`${prefix}/`);
  const base = isBelow ? prefix : /\/v\d+(?=\/)/.exec(path)?.[0];
  if (base === undefined) return null;
  const ends = `${path}/`.indexOf(`${base}/`) + base.length;
  const at = path.lastIndexOf('/', ends - 1);
  return { before: path.slice(0, at), version: path.slice(at, ends), rest: path.slice(ends) };
}

/** What may stand in place of a version. */
interface OtherVersion {
  /** `/v2`, or '' for none. */
  readonly segment: string;
  /** `spelling`: the same number, written in another way. */
  readonly kind: 'none' | 'spelling' | 'version';
}

/** In place of `/v1`: none, those beside it, and itself in other spellings. Of a version without a number only none. */
export function otherVersions(version: string): readonly OtherVersion[] {
  const number = /^\/v(\d+)$/i.exec(version)?.[1];
  const none: OtherVersion = { segment: '', kind: 'none' };
  if (number === undefined) return [none];
  const beside = [Number(number) + 1, Number(number) - 1].filter((each) => each >= 0);
  return [
    none,
    ...beside.map((each): OtherVersion => ({ segment: `/v${each}`, kind: 'version' })),
    { segment: `/v0${number}`, kind: 'spelling' },
    { segment: version.startsWith('/V') ? `/v${number}` : `/V${number}`, kind: 'spelling' },
  ];
}
