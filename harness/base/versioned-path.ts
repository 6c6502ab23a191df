/** A path in which a version stands: `/api`, `/v1`, `/orders`. */
interface VersionedPath {
  /** Whatever comes before it, of the base URL or of the documented prefix. */
  readonly before: string;
  /** The one segment that names it, with its slash. */
  readonly version: string;
  readonly rest: string;
}

/**
 * Where the version stands in a whole path: at the end of the documented prefix, which may have several segments and
 * may begin in the base URL; without one, in the first segment like `/v1`. Null where there is neither.
 */
export function versionedPath(path: string, prefix: string | null): VersionedPath | null {
  const begins = prefix === null ? -1 : `${path}/`.indexOf(`${prefix}/`);
  const usual = /\/v\d+(?=\/)/.exec(path);
  const ends = begins >= 0 ? begins + (prefix?.length ?? 0) : usual && usual.index + usual[0].length;
  if (ends === null) return null;
  const at = path.lastIndexOf('/', ends - 1);
  return { before: path.slice(0, at), version: path.slice(at, ends), rest: path.slice(ends) };
}

/** What may stand in place of a version. */
export interface OtherVersion {
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
