import { hasMembers } from '../../../base/json-text.ts';
import type { Scheme, SecurityScheme } from '../../credential/scheme.ts';
import { type CredentialsBlock, SCHEMES, schemeNamed } from '../../credential/schemes.ts';
import type { SourceFiles } from '../../document/files.ts';
import type { Remarks } from '../../document/remarks.ts';
import { child, children, type DocumentNode, faultAt } from '../../document/source.ts';

const NOT_DEFINED = 'is not among the securitySchemes of the components';

/** What an operation demands, held against the one credential that the service config has. */
export type Demand =
  /** `unmet`: why the configured credential does not open it; null when it does. */
  { readonly auth: 'required'; readonly unmet: string | null } | { readonly auth: 'optional' | 'none' };

/** What the service config has that opens operations. */
export interface Configured extends Pick<CredentialsBlock, 'scheme' | 'name' | 'take' | 'send'> {
  /** Names of the headers that go with every request, in lower case. */
  readonly headers?: readonly string[];
  /** Names of the cookies that go with every request. */
  readonly cookies?: readonly string[];
  readonly certificate?: boolean;
}

/** Reads `security` of operations (OpenAPI 3.1 §4.8.30): alternatives, each of which may need several schemes. */
export class OpenApiSecurity {
  readonly #files: SourceFiles;
  readonly #remarks: Remarks;
  readonly #configured: Configured;
  readonly #scheme: Scheme | undefined;
  readonly #speaks: boolean;

  constructor(
    { files, remarks }: { readonly files: SourceFiles; readonly remarks: Remarks },
    configured: Configured = {},
    operations: readonly DocumentNode[],
  ) {
    this.#files = files;
    this.#remarks = remarks;
    this.#configured = configured;
    this.#scheme = schemeNamed(configured.scheme ?? '');
    // A document that says nothing of security at all leaves the matter to the config.
    this.#speaks = [files.root, ...operations].some((at) => Array.isArray(child(at, 'security').value));
  }

  demandOf(operation: DocumentNode): Demand {
    if (!this.#speaks) return this.#scheme?.open ? { auth: 'none' } : { auth: 'required', unmet: null };
    const security = securityOf(this.#files, operation);
    // Many documents name the scheme at some operations, and forget it at others that demand it.
    if (security.value === undefined) return { auth: this.#scheme?.open ? 'none' : 'optional' };
    if (!Array.isArray(security.value))
      throw faultAt(security, 'is not a list', 'write a list of requirements');
    const alternatives = children(security).map(([, at]) => at);
    if (alternatives.length === 0) return { auth: 'none' };
    if (alternatives.some(({ value }) => hasMembers(value) && Object.keys(value).length === 0))
      return { auth: 'optional' };
    // A document that defines no scheme leaves the matter to the config as well.
    if (schemesOf(this.#files).value === undefined) {
      const [, named = security] = children(alternatives[0] ?? security)[0] ?? [];
      this.#remarks.at(named, NOT_DEFINED, 'the credential of the config is used');
      return { auth: 'required', unmet: null };
    }
    // A check that sends no credential, or a wrong one, still sends these.
    if (alternatives.some((at) => this.#needed(at).every((demand) => this.#isThereAnyway(demand))))
      return { auth: 'optional' };
    const unmet = alternatives.map((at) => this.#whyUnmet(at));
    return { auth: 'required', unmet: unmet.includes(null) ? null : this.#refusal(unmet) };
  }

  #refusal(unmet: readonly (string | null)[]): string {
    const { scheme, name } = this.#configured;
    const has = name === undefined ? `the scheme ${scheme ?? 'none'}` : `the scheme ${scheme} (${name})`;
    return `demands ${unmet.join(', or ')}, and the config has ${has}`;
  }

  #needed(requirement: DocumentNode): readonly SecurityScheme[] {
    return children(requirement).map(([name, at]) => demanded(this.#files, name, at));
  }

  #whyUnmet(requirement: DocumentNode): string | null {
    const needed = this.#needed(requirement);
    const opened = needed.filter((demand) => this.#scheme?.opens(demand, this.#configured));
    const foreign = needed.filter(
      (demand) =>
        !opened.includes(demand) &&
        !this.#isThereAnyway(demand) &&
        !opened.some((each) => isSame(each, demand)),
    );
    return foreign.length === 0 ? null : foreign.map(described).join(' with ');
  }

  /** Beside the credential. */
  #isThereAnyway(demand: SecurityScheme): boolean {
    const { headers = [], cookies = [], certificate = false } = this.#configured;
    if (SCHEMES.some(({ byCertificate, opens }) => byCertificate && opens(demand, {})))
      return certificate && !this.#scheme?.byCertificate;
    const { type, in: place, name } = demand;
    if (type !== 'apiKey') return false;
    return place === 'cookie'
      ? cookies.includes(name)
      : place === 'header' && headers.includes(name.toLowerCase());
  }
}

/** The alternatives that an operation offers, each with the security schemes that it needs. */
function offersOf(
  files: SourceFiles,
  operation: DocumentNode,
): readonly (readonly (readonly [name: string, at: DocumentNode])[])[] {
  return children(securityOf(files, operation)).map(([, alternative]) => children(alternative));
}

function securityOf(files: SourceFiles, operation: DocumentNode): DocumentNode {
  const own = child(operation, 'security');
  return own.value === undefined ? child(files.root, 'security') : own;
}

/** The security schemes of the first alternative that needs any; none where there is none. */
export function firstDemand(files: SourceFiles, operation: DocumentNode): readonly SecurityScheme[] {
  const needed = offersOf(files, operation).find((schemes) => schemes.length > 0) ?? [];
  return needed.map(([name, at]) => demanded(files, name, at));
}

/** An operation that names schemes, and may be called without any. */
export function isOptional(files: SourceFiles, operation: DocumentNode): boolean {
  const needed = offersOf(files, operation).map(({ length }) => length);
  return needed.includes(0) && needed.some((length) => length > 0);
}

/** Documents that are kept in many files refer to the whole of them, too. */
function schemesOf(files: SourceFiles): DocumentNode {
  const swagger = child(files.root, 'securityDefinitions');
  const schemes =
    swagger.value === undefined
      ? child(files.dereferenced(child(files.root, 'components')), 'securitySchemes')
      : swagger;
  return files.dereferenced(schemes);
}

function demanded(files: SourceFiles, name: string, at: DocumentNode): SecurityScheme {
  const found = child(schemesOf(files), name);
  if (found.value === undefined) throw faultAt(at, NOT_DEFINED, 'define it there');
  const scheme = files.dereferenced(found);
  const text = (key: string) => {
    const { value } = child(scheme, key);
    return typeof value === 'string' ? value : '';
  };
  // Swagger 2.0 has one scheme of HTTP, and of OAuth 2 one flow in each scheme.
  const isBasic = text('type') === 'basic';
  // Where it has no scheme of HTTP for bearer tokens, some write the scheme into the name: `Authorization: Bearer`.
  const isBearer = text('type') === 'apiKey' && /^authorization\s*:\s*bearer$/i.test(text('name'));
  const flow = text('flow') === 'application' ? scheme : child(child(scheme, 'flows'), 'clientCredentials');
  const { value: tokenUrl } = child(flow, 'tokenUrl');
  return {
    type: isBasic || isBearer ? 'http' : text('type'),
    scheme: isBasic ? 'basic' : isBearer ? 'bearer' : text('scheme').toLowerCase(),
    in: text('in'),
    name: text('name'),
    tokenUrl: typeof tokenUrl === 'string' ? tokenUrl : '',
    openIdConnectUrl: text('openIdConnectUrl'),
  };
}

/** Some documents describe one Authorization header as a key and as a scheme of HTTP. */
function isSame(one: SecurityScheme, other: SecurityScheme): boolean {
  const isKey = ({ type, name }: SecurityScheme) => type === 'apiKey' && /^authorization$/i.test(name);
  return (isKey(one) && other.type === 'http') || (one.type === 'http' && isKey(other));
}

/** `a key in the query "token"` */
export function described({ type, scheme, in: place, name }: SecurityScheme): string {
  if (type === 'apiKey') return `a key in the ${place} ${JSON.stringify(name)}`;
  return type === 'http' ? `the HTTP scheme ${scheme}` : `the scheme ${type || '(no type)'}`;
}
