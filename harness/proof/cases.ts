import type { ReferenceName, ServiceConfig } from '../config/service.ts';
import { HarnessError } from '../exit.ts';
import { findVariant, listDefects, listVariants } from '../provider/reference/catalogue.ts';
import { CONFORMING, SHIPPED } from './settings.ts';

/** One provider that is held against every check, and what should come of it. */
export interface ProofCase {
  readonly service: ReferenceName;
  readonly kind: 'conforming' | 'variant' | 'defect';
  /** Name of the defect, or of the variant or several joined with `+`; '' for the service as it is. */
  readonly name: string;
  /** The name of a setting. */
  readonly setting: string;
  /** Ids of the checks that have to notice it. */
  readonly trips: readonly string[];
  /** Ids of the observations that have to record something else than of the service as it is. */
  readonly shows: readonly string[];
}

/** Configs of the reference providers by service, as they are shipped. */
export type Configs = ReadonlyMap<string, ServiceConfig>;

/** Search stands for the REST services: messaging differs in its rate and its resources alone. */
const SERVICES: readonly ReferenceName[] = ['search', 'realtime'];

/** Alternatives that services have together. */
const COMBINED: readonly (readonly [ReferenceName, string])[] = [
  ['search', 'refuses-403-for-wrong-key+plain-json-errors+not-found-before-auth+404-instead-of-405'],
  ['search', 'bare-array-body+chunked-body+gzip-when-accepted+json-charset-utf-8'],
  ['search', 'api-key-header+error-shape-by-status+x-ratelimit-fields+limiter-sliding-log'],
  ['search', 'query-key+no-quota-fields+limiter-clock-aligned+http-date-retry-after+no-request-id'],
  ['search', 'vendor-json+announces-version+announces-deprecation+ignores-validators+bare-head'],
  ['search', 'method-before-auth+unknown-method-405+options-405+refuses-size-with-400+demands-user-agent'],
  ['search', 'ranges-206+not-acceptable-406+expectation-417+lenient-trailing-slash+listed-origin'],
  [
    'search',
    'lower-case-fields+closes-connections+several-challenges+first-credential-wins+counts-known-paths',
  ],
  ['realtime', 'bearer-only+plain-json-errors+chunked-body+lower-case-fields'],
];

/** All of them: each service as it is, each variant, some together, each defect. */
export function proofCases(): readonly ProofCase[] {
  return [
    ...CONFORMING.map(
      ([service, setting]): ProofCase => ({
        service,
        kind: 'conforming',
        name: '',
        setting,
        trips: [],
        shows: [],
      }),
    ),
    ...SERVICES.flatMap((service) => listVariants(service).map(({ name }) => variantCase(service, name))),
    ...COMBINED.map(([service, name]) => ({ ...variantCase(service, name), shows: [] })),
    ...listDefects().map(({ name, services, setting = SHIPPED, trips = [], shows = [] }): ProofCase => {
      const service = services.find((each) => SERVICES.includes(each));
      if (service === undefined) throw new HarnessError(`${name} is of no service that is proven`);
      return { service, kind: 'defect', name, setting, trips, shows };
    }),
  ];
}

/** Of one variant, or of several joined with `+`: under the setting of the first of them that has its own. */
function variantCase(service: ReferenceName, name: string): ProofCase {
  const parts = name.split('+').map((part) => findVariant(part, service));
  return {
    service,
    kind: 'variant',
    name,
    setting: parts.find(({ setting }) => setting !== undefined)?.setting ?? SHIPPED,
    trips: [],
    shows: parts.flatMap(({ shows = [] }) => shows),
  };
}
