import type { CredentialsBlock } from '../credential/schemes.ts';
import type { ReferenceName } from './service.ts';

/** A service file as its schema admits it: shapes are right, meanings are not checked yet. */
export interface ServiceFile {
  readonly service: string;
  readonly contract: string;
  readonly provider?: ProviderBlock;
  readonly credentials?: CredentialsBlock;
  readonly plan?: { readonly name?: string; readonly requests?: number; readonly window?: string } | null;
  readonly operations?: readonly OperationBlock[] | null;
  readonly openapi?: string | null;
  readonly websocket?: WebSocketBlock | null;
  readonly webhooks?: WebhooksBlock | null;
  readonly tls?: { readonly ca?: string } | null;
  readonly pacts?: PactsBlock | null;
  readonly safety?: {
    readonly exceedRateLimit?: boolean;
    readonly unsafeMethods?: boolean;
    readonly findSizeLimits?: boolean;
    readonly maxRequests?: number;
    readonly maxConnections?: number;
    readonly operationRequests?: number;
    readonly plainHttp?: boolean;
  };
  readonly timeouts?: { readonly connect?: string; readonly response?: string };
}

export interface ProviderBlock {
  readonly reference?: ReferenceName;
  readonly defects?: readonly string[];
  readonly variant?: string;
  readonly url?: string;
  readonly container?: ContainerBlock;
  readonly command?: CommandBlock;
}

type Scalars = Readonly<Record<string, string | number | boolean | null>>;
type Texts = Readonly<Record<string, string | null>>;

export interface ReadyBlock {
  readonly http?: string;
  readonly status?: number;
  readonly log?: string;
  readonly times?: number;
  readonly health?: true;
}

/** The keys of a companion, which are also keys of the provider's own container. */
export interface CompanionBlock {
  readonly image?: string | null;
  readonly build?: string | BuildBlock | null;
  readonly port?: number;
  readonly env?: Scalars;
  readonly secrets?: Texts;
  readonly files?: Texts;
  readonly command?: readonly string[] | null;
  readonly ready?: ReadyBlock | null;
  readonly timeout?: string;
  readonly limits?: { readonly memory?: string; readonly cpus?: number };
  readonly capabilities?: readonly string[];
}

export interface BuildBlock {
  readonly context?: string;
  readonly dockerfile?: string;
  readonly target?: string;
  readonly args?: Texts;
}

export interface ContainerBlock extends CompanionBlock {
  readonly path?: string;
  readonly aliases?: readonly string[];
  readonly companions?: Readonly<Record<string, CompanionBlock | null>>;
  readonly freshForEachSuite?: boolean;
}

export interface CommandBlock {
  readonly run?: string | readonly string[];
  readonly cwd?: string;
  readonly env?: Scalars;
  readonly url?: string;
  readonly ready?: ReadyBlock | null;
  readonly timeout?: string;
  readonly freshForEachSuite?: boolean;
}

export interface OperationBlock {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, Scalar | readonly Scalar[]>>;
  readonly fields?: Readonly<Record<string, Scalar>>;
  readonly body?: { readonly json?: unknown; readonly text?: string; readonly type?: string } | null;
  readonly parameters?: readonly ParameterBlock[];
  readonly response?: { readonly status?: number; readonly type?: string; readonly schema?: string | object };
  readonly auth?: boolean;
}

type Scalar = string | number | boolean;

export interface ParameterBlock {
  readonly name: string;
  readonly in: 'query' | 'header';
  readonly required?: boolean;
  readonly schema?: object;
}

export interface WebSocketBlock {
  readonly url?: string;
  readonly dialect?: string;
  readonly echo?: boolean;
  readonly exchange?: readonly { readonly send: unknown; readonly expect: string | object }[] | null;
  readonly messages?: Readonly<Record<string, string | object>> | null;
  readonly origin?: string;
  readonly subprotocols?: readonly string[];
  readonly credential?: {
    readonly in: 'header' | 'query' | 'subprotocol' | 'none';
    readonly name?: string;
    readonly prefix?: string;
    readonly encoding?: 'base64url' | 'plain';
  } | null;
  readonly refusalCode?: number;
  readonly keepsIdle?: string;
}

export interface WebhooksBlock {
  readonly listen?: string;
  readonly url?: string;
  readonly trigger?: { readonly method?: string; readonly path: string; readonly body?: unknown };
  readonly signature?: {
    readonly header: string;
    readonly scheme?: string;
    readonly prefix?: string;
    readonly secret?: string;
  } | null;
  readonly within?: string;
}

export interface PactsBlock {
  readonly provider?: string;
  readonly files?: readonly string[];
  readonly broker?: BrokerBlock | null;
  readonly states?: { readonly url?: string; readonly command?: string } | null;
  readonly messages?: string;
}

export interface BrokerBlock {
  readonly url?: string;
  readonly token?: string;
  readonly username?: string;
  readonly password?: string;
  readonly selectors?: readonly Readonly<Record<string, string | boolean>>[];
  readonly pending?: boolean;
  readonly wipSince?: string;
  readonly branch?: string;
}
