import type { Suite } from '../check/check.ts';
import { standingOf } from '../check/judge.ts';
import type { ReferenceName, ServiceConfig } from '../config/service.ts';
import { listDefects, listVariants } from '../provider/reference/catalogue.ts';
import { SETTINGS, type Setting, settingFor } from './settings.ts';

export interface ProofCase {
  readonly service: ReferenceName;
  readonly kind: 'conforming' | 'variant' | 'defect';
  /** Name of the defect, or of the variant or several joined with `+`; '' for the service as it is. */
  readonly name: string;
  readonly setting: Setting;
}

/** Configs of the reference providers by service, as they are shipped. */
export type Configs = ReadonlyMap<string, ServiceConfig>;

/** Search stands for the REST services: messaging differs in its rate and its resources alone. */
const SERVICES: readonly ReferenceName[] = ['search', 'realtime'];

/** The service as it is, once for each way of calling it. */
const CONFORMING: readonly (readonly [ReferenceName, Setting])[] = [
  ['search', 'bearer'],
  ['search', 'header'],
  ['search', 'query'],
  ['search', 'basic'],
  ['search', 'open'],
  ['realtime', 'bearer'],
  ['realtime', 'signed'],
  ['realtime', 'pusher'],
  ['realtime', 'own'],
  ['realtime', 'signed socket'],
  ['realtime', 'idle'],
  ['realtime', 'origin'],
];

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

/** The cases that the suites call for: each service as it is, each variant, some together, each defect. */
export function proofCases(suites: readonly Suite[], configs: Configs): readonly ProofCase[] {
  const variants = SERVICES.flatMap((service) =>
    listVariants(service).map(({ name }) => [service, name] as const),
  );
  return [
    ...CONFORMING.map(
      ([service, setting]): ProofCase => ({ service, kind: 'conforming', name: '', setting }),
    ),
    ...[...variants, ...COMBINED].map(
      ([service, name]): ProofCase => ({ service, kind: 'variant', name, setting: settingFor(name) }),
    ),
    ...listDefects().map(({ name, services }): ProofCase => {
      const able = SERVICES.filter((service) => services.includes(service));
      const service = able.find((each) => judgedOn(each, name, suites, configs)) ?? able[0] ?? 'search';
      return { service, kind: 'defect', name, setting: settingFor(name) };
    }),
  ];
}

/** Every check that names the defect is judged there, and not only observed. */
function judgedOn(
  service: ReferenceName,
  defect: string,
  suites: readonly Suite[],
  configs: Configs,
): boolean {
  const shipped = configs.get(service);
  const setting = settingFor(defect);
  if (shipped === undefined || !fits(service, setting)) return false;
  const config = SETTINGS[setting](shipped);
  return suites
    .flatMap(({ checks }) => checks)
    .filter(({ provenBy }) => provenBy.includes(defect))
    .every((check) => {
      const { level, reasonNot } = standingOf(check, config);
      return level !== 'NONE' && reasonNot === null;
    });
}

/** Applications and WebSockets are of the realtime service alone. */
function fits(service: ReferenceName, setting: Setting): boolean {
  return service === 'realtime' || REST_SETTINGS.has(setting);
}

const REST_SETTINGS: ReadonlySet<Setting> = new Set(['bearer', 'header', 'query', 'basic', 'open']);
