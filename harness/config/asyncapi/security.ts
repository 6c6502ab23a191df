import type { SecurityScheme } from '../credential/scheme.ts';
import { schemeNamed } from '../credential/schemes.ts';
import type { SourceFiles } from '../document/files.ts';
import type { Remarks } from '../document/remarks.ts';
import { child, children, type DocumentNode, faultAt } from '../document/source.ts';
import { type Configured, described } from '../operation/openapi/security.ts';
import type { DocumentedMessages } from './documented-messages.ts';
import type { MajorVersion } from './outline.ts';

/** The schemes of which each by itself lets a client in; empty where none is named. @throws UsageError at its place. */
export function schemesOf(
  at: DocumentNode,
  files: SourceFiles,
  version: MajorVersion,
): readonly SecurityScheme[] {
  return children(child(at, 'security')).flatMap(([, given]) => {
    if (version === 3) return schemeAt(given, files);
    return children(given).flatMap(([name, named]) => {
      const found = child(child(child(files.root, 'components'), 'securitySchemes'), name);
      if (found.value === undefined)
        throw faultAt(named, 'is not among the securitySchemes of the components', 'define it there');
      return schemeAt(found, files);
    });
  });
}

/** In the words of OpenAPI. */
function schemeAt(given: DocumentNode, files: SourceFiles): SecurityScheme {
  const at = files.dereferenced(given);
  const text = (key: string) => {
    const { value } = child(at, key);
    return typeof value === 'string' ? value : '';
  };
  const flow = child(child(at, 'flows'), 'clientCredentials');
  const { value: tokenUrl } = child(flow, 'tokenUrl');
  // A user and a password, or a key in place of one of them, travel as HTTP carries them: in the handshake.
  const isUser = text('type') === 'userPassword' || text('type') === 'apiKey';
  const type = text('type')
    .replace(/^httpApiKey$/, 'apiKey')
    .replace(/^X509$/, 'mutualTLS');
  return {
    type: isUser ? 'http' : type,
    scheme: isUser ? 'basic' : text('scheme').toLowerCase(),
    in: isUser ? '' : text('in'),
    name: text('name'),
    tokenUrl: typeof tokenUrl === 'string' ? tokenUrl : '',
    openIdConnectUrl: text('openIdConnectUrl'),
  };
}

/** Where the handshake carries the key, if the config carries it elsewhere in other requests. */
export function keyPlaceOf(
  alternatives: readonly SecurityScheme[],
  at: DocumentNode,
  configured: Configured | undefined,
  remarks: Remarks,
): DocumentedMessages['keyPlace'] {
  const scheme = schemeNamed(configured?.scheme ?? '');
  if (alternatives.length === 0 || scheme === undefined) return null;
  if (alternatives.some((demand) => scheme.opens(demand, configured ?? {}))) return null;
  const key = alternatives.find(
    ({ type, in: place, name }) => type === 'apiKey' && /^(?:header|query)$/.test(place) && name !== '',
  );
  if (key !== undefined && /^(?:bearer|header|query)$/.test(scheme.name))
    return { in: key.in === 'query' ? 'query' : 'header', name: key.name };
  const asked = alternatives.map(described).join(', or ');
  remarks.at(child(at, 'security'), `asks for ${asked}`, `the config has the scheme ${scheme.name}`);
  return null;
}
