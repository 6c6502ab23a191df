import { visible } from '../../../wire/octets/visible.ts';
import { type At, child, faultAt } from '../../document/at.ts';

const VERSIONS = ['2.0', '3.0', '3.1', '3.2'] as const;

/** Of Swagger 2.0, else of OpenAPI. */
export type Version = (typeof VERSIONS)[number];

/** @throws UsageError for what is no OpenAPI document, and for a version that is not read. */
export function versionOf(root: At): Version {
  const swagger = child(root, 'swagger');
  const named = swagger.value === undefined ? child(root, 'openapi') : swagger;
  if (named.value === undefined)
    throw faultAt(root, 'is no OpenAPI document', 'name a document with `openapi: 3.0.x`, 3.1.x or 3.2.x');
  const text = typeof named.value === 'number' ? named.value.toFixed(1) : named.value;
  const version = VERSIONS.find(
    (each) => text === each || (typeof text === 'string' && text.startsWith(`${each}.`)),
  );
  if (version !== undefined && (version === '2.0') === (named === swagger)) return version;
  const shown = visible(typeof text === 'string' ? text : JSON.stringify(text), 60);
  throw faultAt(
    named,
    named === swagger ? `Swagger ${shown} is not read` : `version ${shown} is not read`,
    'write it in Swagger 2.0 or OpenAPI 3.0, 3.1 or 3.2',
  );
}
