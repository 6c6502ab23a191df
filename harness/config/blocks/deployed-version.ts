import type { Draft } from '../draft/draft.ts';
import { mapping, text } from '../shape/kinds.ts';
import type { Loaded } from '../shape/loaded.ts';
import { ownPath, token } from '../shape/text-forms.ts';

export const DEPLOYED_VERSION = mapping(
  'Where the service says which version of it is deployed: in a header of its responses, or at a path. The history calls a check flaky only while this stays the same. Default: the image of a container, else the version that headers name.',
  {
    expected: 'a mapping such as { header: X-Build } or { path: /version, pointer: /build/commit }',
    nullable: true,
    def: 'deployedVersion',
    // An environment that has it in another place has it in that one alone.
    replaces: (_, above) => 'header' in above || 'path' in above,
  },
  {
    header: text('Name of a header in the response to the documented request.', {
      read: token('cannot be the name of a header', 'use letters, digits and hyphens'),
    }),
    path: text('Path below the base URL. A run requests it once, by GET and with the credential.', {
      expected: 'a path such as /version',
      read: ownPath,
    }),
    pointer: text(
      'Where the version is in the JSON of that path: a JSON Pointer (RFC 6901). Default: the whole text is the version.',
      { pattern: '^(/([^~]|~[01])*)?$', expected: 'a JSON Pointer such as /build/commit' },
    ),
  },
);

/** Where the version stands; `pointer` null: the whole text of the response is the version. */
export type DeployedVersion =
  | { readonly header: string }
  | { readonly path: string; readonly pointer: string | null };

/** @throws UsageError unless it names one place. */
export function buildDeployedVersion(
  { faultAt }: Draft,
  written: Loaded<typeof DEPLOYED_VERSION> | undefined,
): DeployedVersion | null {
  if (!written) return null;
  const { header, path, pointer } = written;
  if (header !== undefined && path !== undefined)
    throw faultAt('deployedVersion', 'names both a header and a path', 'keep one of the two');
  if (path !== undefined) return { path, pointer: pointer ?? null };
  if (header === undefined)
    throw faultAt('deployedVersion', 'names neither a header nor a path', 'add one of the two');
  if (pointer === undefined) return { header };
  const remedy = 'write `path:` in place of `header:`';
  throw faultAt('deployedVersion.pointer', 'points into no response', remedy);
}
