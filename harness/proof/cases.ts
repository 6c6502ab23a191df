import { fileURLToPath } from 'node:url';
import { HarnessError } from '../base/exit.ts';
import { loadServices } from '../config/load.ts';
import type { ReferenceName, ServiceConfig } from '../config/service.ts';
import type { Defect } from '../reference/behavior/deviation.ts';
import { findVariant, listDefects, listVariants } from '../reference/catalogue.ts';
import { CONFORMING, REFUSED_OTHERWISE, SHIPPED, settingNamed } from './settings.ts';

/** One provider that is held against the checks, and what should come of it. Plain data. */
export interface ProofCase {
  readonly service: ReferenceName;
  /** `counterpart`: as a variant that does nothing, and judged for the sake of comparison alone. */
  readonly kind: 'conforming' | 'variant' | 'defect' | 'counterpart';
  /** Name of the defect or the variant, or of several joined with `+`; '' for the service as it is. */
  readonly name: string;
  /** The name of a setting. */
  readonly setting: string;
  /** Ids of the checks that have to notice it. */
  readonly fails: readonly string[];
  /** Ids of the checks that notice it as well. */
  readonly alsoFails: readonly string[];
  /** Ids of the observations that have to record something else than of the service as it is. */
  readonly changes: readonly string[];
  /** Whether its operations are described, and judged. */
  readonly described: boolean;
  /** Whether requests of several kinds come before the limit is met. */
  readonly preceded: boolean;
  /** Whether it has to leave a trace that its counterpart does not. */
  readonly traced: boolean;
}

/** Search stands for the REST services: messaging differs in its rate and its resources alone. */
const SERVICES: readonly ReferenceName[] = ['search', 'realtime'];

/** Alternatives that a service has together, by the names of their cases: each variant is in one of them. */
const COMBINED: Readonly<Partial<Record<ReferenceName, readonly string[]>>> = {
  search: [
    'mounted+plain-json-errors+not-found-before-auth+limiter-token-bucket',
    'prefix-of-several-segments+hides-collections-by-name+lower-case-fields',
    'refuses-403-for-wrong-key+plain-json-errors+not-found-before-auth+404-instead-of-405+limiter-token-bucket',
    'bare-array-body+chunked-body+gzip-when-accepted+json-charset-utf-8+limiter-sliding-counter',
    'api-key-header+error-shape-by-status+x-ratelimit-fields+limiter-sliding-log',
    'query-key+no-quota-fields+limiter-clock-aligned+http-date-retry-after+no-request-id',
    'vendor-json+announces-version+announces-deprecation+ignores-validators+bare-head+limiter-penalty-block',
    'method-before-auth+unknown-method-405+options-405+refuses-size-with-400+demands-user-agent+limiter-queue',
    'ranges-206+not-acceptable-406+expectation-417+lenient-trailing-slash+listed-origin+revalidated-caches+limiter-sliding-counter-own-clock',
    'lower-case-fields+closes-connections+several-challenges+first-credential-wins+counts-known-paths+openai-quota-fields+retry-after-whole-window',
    'refuses-403-for-missing-key+knows-collections-by-name+wildcard-origin+links-beyond-the-interface+paths-in-any-case',
    'cookie-key+plain-json-errors+lower-case-fields+refuses-unknown-clients',
    'compares-decoded-keys+documents-query-key+hides-collections-by-name+page-for-every-path',
    'text-errors+hides-collections-by-name+content-with-a-counter+says-that-it-was-idle+limits-haste-by-bucket',
    'merges-slashes+removes-dot-segments+cuts-matrix-parameters+cuts-fragments+takes-format-suffix+takes-encoded-slashes+links-by-host+takes-backslashes+trims-paths',
    'redirects-by-host+open-page-for-every-path',
    'redirects-to-tls+open-json-for-every-path',
    'redirects-odd-paths+plain-json-errors',
    'refuses-odd-paths+limiter-token-bucket+refusal-without-policy-field',
    'unknown-coding-400+refuses-chunked-content-411+refuses-content-of-get+refuses-old-clients-426+takes-h2c',
    'answers-in-http-1-0+cgi-drops-underscored-fields',
    'http2-alone+plain-json-errors+x-ratelimit-fields',
    'one-stream-at-a-time+refuses-some-streams+narrow-windows-in-http2+websocket-on-streams',
    'goaway-after-some-requests+lower-case-fields',
    'closes-after-chunks+takes-one-member-of-accept+later-refusals-dated',
    'timing-in-trailers+cgi-drops-underscored-fields+later-refusals-in-other-words',
    'tags-and-dates+all-ranges+304-with-length+tells-other-clients-more',
    'normalises-text+refuses-emoji+finds-similar-things+finds-nothing-with-404+stores-text-in-normal-form+refuses-emoji-in-items',
    'dates-alone+behind-a-cache',
    'dates-compared-exactly+expires-in-the-past+whole-for-an-open-range',
    'compresses-without-tags+cuts-long-ranges+expires-at-once',
    'content-of-the-account+plain-json-errors',
    'weak-tag-for-all-accounts+lower-case-fields',
    'weak-tags+ignores-if-match+open-page-for-other-spellings+limits-haste-as-well',
    'tag-of-the-coding+merges-slashes+redirects-from-other-endings',
    'pages-for-browsers+all-codings+speaks-languages+refuses-malformed-accept',
    'refuses-other-languages+violated-policies-untold',
    'open-page-for-other-spellings+lower-case-fields+x-ratelimit-fields+open-page-behind-every-path',
    'cuts-paths-at-encoded-marks+removes-parents-with-parameters+plain-json-errors',
    'answers-preflights+names-resource-metadata+refuses-odd-keys-with-400+refuses-unknown-parameters+ignores-proxy-fields',
    'refuses-foreign-preflights+refuses-body-on-get+refuses-options-of-server+offers-query+allow-in-lines',
    'token-type-in-small-letters+token-errors-in-detail+token-without-lifetime+token-scope-narrowed',
    'token-stored-nowhere+token-with-more-members+token-type-with-charset+token-grant-type-is-invalid-request+token-by-get-is-404',
    'lets-pages-in+pages-foreign-refused+lower-case-fields+preflights-with-content',
    'pages-foreign-named-another+pages-lists-on-several-lines+preflights-without-max-age',
    'pages-foreign-given-methods+pages-vary-by-everything+preflights-never-kept',
    'pages-foreign-empty-origin+pages-unstored+preflights-without-safe-methods',
    'pages-vary-among-others+pages-in-private-networks+preflights-without-methods',
    'pages-timed+pages-foreign-preflights-refused+pages-exposed-where-sent',
    'pages-denied-cookies+preflights-by-wildcards',
    'lets-every-page-in+lets-every-page-in-always+plain-json-errors+x-ratelimit-fields',
    'lets-sub-domains-in+plain-json-errors',
    'lets-pages-save+items-without-etags',
    'deleted-items-are-410+hides-items-with-404+items-without-etags+ignores-id-in-body+pages-linked-in-body',
    'writes-with-etags+removed-members-are-null+unknown-cursor-is-the-end',
    'writes-with-weak-etags+refuses-null-in-changes',
    'sorts-equal-items-anyhow+counts-items-of-the-page+plain-json-errors',
    'sorts-capitals-first+cursor-carries-sort+lower-case-fields',
    'sorts-absent-values-last+counts-with-and-without-filter+items-without-etags',
    'says-no-total+plain-json-errors',
    'reads-from-a-replica+second-key-at-once-is-409+plain-json-errors',
    'lists-from-a-replica+second-key-at-once-waits+failed-key-is-used-up',
    'second-key-at-once-is-422+failed-key-tells-that-it-repeats+items-without-etags',
    'key-comes-once+json-patch-refused-with-409+lower-case-fields',
    'json-patch-refused-with-422+plain-json-errors',
    'json-patches-need-a-permission+items-without-etags',
    'replaces-with-204+places-items-by-whole-url+plain-json-errors',
    'changes-with-204+places-items-by-last-segment+lower-case-fields',
    'json-patches-with-204+places-items-with-a-query+total-in-a-header',
    'deletes-with-200+places-items-by-query+items-without-etags',
    'deletes-with-202+creates-without-location+next-page-in-body-too',
    'items-with-weak-etags+links-more-than-the-next-page+plain-json-errors',
    'newest-items-first+items-link-to-themselves+lower-case-fields',
    'answers-writes-unstored+json-patches-refused-with-400',
    'json-patches-under-a-condition+plain-json-errors',
    'cancels-too-late-with-409+plain-json-errors',
    'cancels-nothing-with-404+lower-case-fields',
    'cancels-with-202+items-without-etags',
    'forgets-cancelled-jobs+plain-json-errors',
    'is-done-before-it-is-cancelled+lower-case-fields',
    'shows-writes-in-time+lower-case-fields',
    'lists-new-items-in-time+plain-json-errors',
    'job-is-gone-after-its-end+job-runs-with-202+plain-json-errors',
    'job-redirects-to-its-result+job-by-operation-location+items-without-etags',
    'job-never-ends+lower-case-fields',
    'job-fails+deleted-items-are-410',
    'location-of-what-is-to-come+plain-json-errors',
    'job-of-another-host+lower-case-fields',
    'hides-items-of-others+deleted-items-are-410',
    'keeps-items-apart-undocumented+plain-json-errors',
    'cursor-carries-filter+items-without-etags',
    'filter-counts-behind-cursor+plain-json-errors',
    'forbids-items-of-others+items-without-etags',
    'deletes-nothing-of-others-with-204+plain-json-errors',
    'spaced-values+plain-json-errors+post-of-unknown-type-415+sends-xml',
    'unreadable-post-400+sends-csv+lower-case-fields',
    'unknown-post-501+sends-json-as-text+plain-json-errors',
    'hidden-post-404+lower-case-fields+dates-alone',
    'takes-undocumented-post+chunked-body',
    'zeros-before-lengths+lower-case-fields',
    'changes-without-a-match-412+sends-streams+refuses-encoded-parents',
    'unknown-changes-501+sends-yaml+opens-a-public-place',
    'changes-of-unknown-type-415+refuses-files-406+redirects-out-of-a-public-place',
    'hidden-changes-404+refuses-expectations-417+list-that-grows',
    'deletes-nothing-with-204+closes-behind-expectations+list-of-the-moment',
    'allow-of-every-path+chunked-body',
    'transport-security-in-other-words+chunked-body',
    'transport-security-of-what-it-serves+plain-json-errors',
    'deletes-again-with-204+refuses-unknown-members-of-items+pages-may-be-empty',
    'names-its-instances+server-of-the-instance+limiter-token-bucket',
    'lists-in-any-order+a-cache-that-fills',
    'starts-cold+takes-nearly-its-time+lower-case-fields',
    'demands-json-type+takes-lenient-json+takes-small-bodies',
    'says-that-a-key-is-revoked+lower-case-fields+bad-requests-without-a-word',
    'longer-limit-by-bucket+plain-json-errors',
    'longer-limit-counts-refusals+lower-case-fields',
    'main-limit-counts-refusals+no-quota-fields',
    'unavailable-when-crowded+names-several-languages+lower-case-fields',
    'signs-answers+plain-json-errors',
    'signs-answers-by-shared-secret+lower-case-fields',
    'signs-answers-several-times+signs-answers+asks-for-signatures',
    'gzip-when-accepted+tells-digests+ranges-206+signs-in-the-older-way',
    'events-end-lines-with-cr+events-in-small-pieces+log-without-last-line-end',
    'events-end-lines-with-crlf+events-without-head+plain-json-errors',
    'events-with-unknown-fields+log-is-empty+lower-case-fields',
    'events-that-are-few+plain-json-errors+streams-counted-apart',
    'events-that-end+lower-case-fields',
    'events-for-no-cache+plain-json-errors',
  ],
  realtime: [
    'bearer-only+plain-json-errors+chunked-body+lower-case-fields+version-refusal-400',
    'ws-takes-key-in-token+ws-pings-first+ws-sends-fragments+ws-closes-without-code',
    'ws-takes-key-in-subprotocol+ws-greets+no-compression+ws-takes-few-connections',
    'standard-webhooks+lower-case-fields',
    'standard-webhooks-by-several-secrets+counts-handshakes',
    'stripe-webhooks+ws-pings-first+limits-endurance-as-well',
    'slack-webhooks+plain-json-errors',
    'slack-webhooks-repeated-at-once+lower-case-fields',
    'message-signed-webhooks+lower-case-fields',
    'message-signed-webhooks-by-key+counts-handshakes',
    'webhook-takes-its-time+webhook-is-a-cloud-event+webhook-signs-by-two-secrets',
    'ws-closes-4401+ws-takes-small-messages+ws-empty-close-for-bad-codes',
    'counts-handshakes+ws-pongs-after-close',
    'ws-destroys-behind-1009+ws-greets',
    'ws-takes-few-fragments+ws-sends-fragments+ws-sends-close-to-half-closed+ws-hangs-up-on-missing-host+ws-bounds-frames',
    'ws-logs-in-by-message+ws-takes-text-only+ws-pongs-after-close+ws-behind-quiet-proxy',
    'ws-takes-no-messages+ws-pings-first',
    'ws-demands-login+ws-pings-first',
    'ws-pings-quiet-connections+ws-greets',
    'ws-ends-quiet-connections+ws-sends-fragments',
    'ws-asks-quiet-connections+ws-asks-before-answers+ws-sends-fragments',
    'ws-ends-asked-connections+ws-pings-first',
    'pusher-closes-on-malformed+pusher-says-all-is-well',
    'pusher-asks-quiet-connections+pusher-asks-before-answers+ws-sends-fragments',
    'pusher-keeps-to-a-short-timeout+ws-pings-first',
    'pusher-sends-clients-away+counts-handshakes',
    'ws-greets-late+ws-sends-fragments',
    'ws-greets-late-and-answers-later+counts-handshakes',
    'ws-tells-of-itself+ws-pings-first',
    'talks-as-documented+ws-sends-fragments',
    'talks-with-more-members+ws-pings-first',
    'talks-between+counts-handshakes',
    'talks-first+ws-sends-fragments',
    'talks-in-binary+ws-pings-first',
    'talks-after-refusal+no-compression',
    'bounds-client-window+ws-pings-first+ws-greets',
    'talks-without-events+counts-handshakes',
    'talks-not-of-misfits+ws-pings-first',
    'talks-no-more-upon-misfits+ws-sends-fragments',
    'ws-speaks-graphql+ws-sends-fragments',
    'ws-speaks-graphql-to-clients+ws-pings-first',
    'ws-key-in-query-only+ws-closes-unmasked-with-1008+counts-handshakes',
  ],
};

const AS_IT_IS = {
  kind: 'conforming',
  name: '',
  fails: [],
  alsoFails: [],
  changes: [],
  described: true,
  preceded: true,
  traced: false,
} as const;

/** All of them: each service as it is, each variant beside its counterpart, some together, each defect. */
export function proofCases(): readonly ProofCase[] {
  const variants = SERVICES.flatMap((service) =>
    listVariants(service).map(({ name }) => variantCase(service, name)),
  );
  const counterparts = variants.map(
    ({ service, setting }) => ({ ...AS_IT_IS, kind: 'counterpart', service, setting }) as const,
  );
  return [
    ...CONFORMING.map(([service, setting]) => ({ ...AS_IT_IS, service, setting })),
    ...variants,
    ...new Map(counterparts.map((each) => [`${each.service} ${each.setting}`, each])).values(),
    ...SERVICES.flatMap((service) =>
      (COMBINED[service] ?? []).map((name) => ({ ...variantCase(service, name), changes: [] })),
    ),
    ...listDefects().map((defect) => defectCase(defect, servicesOf(defect)[0])),
  ];
}

/**
 * Defects of the way in, on the further services that can have them and called in other ways: they trip something else
 * there, which is for the dictionary. Other defects trip the same everywhere.
 */
export function furtherCases(): readonly ProofCase[] {
  const ofAuth = listDefects().filter(({ fails = [] }) => fails.some((id) => id.startsWith('auth.')));
  return ofAuth.flatMap((defect) => {
    const { setting = SHIPPED } = defect;
    const further = servicesOf(defect)
      .slice(1)
      .filter((service) => CONFORMING.some(([has, way]) => has === service && way === setting));
    const ways = REFUSED_OTHERWISE.filter(
      ([service]) => defect.setting === undefined && defect.services.includes(service),
    );
    return [
      ...further.map((service) => defectCase(defect, service)),
      ...ways.map(([service, setting]) => defectCase({ ...defect, setting }, service)),
    ];
  });
}

function servicesOf({ name, services }: Defect): readonly [ReferenceName, ...ReferenceName[]] {
  const [first, ...further] = services.filter((each) => SERVICES.includes(each));
  if (first === undefined) throw new HarnessError(`${name} is of no service that is proven`);
  return [first, ...further];
}

function defectCase(
  { name, setting = SHIPPED, fails = [], alsoFails = {}, changes = [] }: Defect,
  service: ReferenceName,
): ProofCase {
  return {
    service,
    kind: 'defect',
    name,
    setting,
    fails,
    alsoFails: Object.keys(alsoFails),
    changes,
    described: true,
    preceded: false,
    traced: false,
  };
}

/** Of one variant, or of several joined with `+`: under the setting of the first of them that has its own. */
function variantCase(service: ReferenceName, name: string): ProofCase {
  const parts = name.split('+').map((part) => findVariant(part, service));
  return {
    service,
    kind: 'variant',
    name,
    setting: parts.find(({ setting }) => setting !== undefined)?.setting ?? SHIPPED,
    fails: [],
    alsoFails: [],
    changes: parts.flatMap(({ changes = [] }) => changes),
    described: !parts.some(({ undescribed }) => undescribed),
    preceded: parts.some(({ countsByKind }) => countsByKind),
    traced: !parts.every(({ unseen }) => unseen),
  };
}

/** Configs of the reference providers by service, as they are shipped, and that of search with its operations. */
export interface Configs {
  readonly shipped: ReadonlyMap<string, ServiceConfig>;
  readonly described: ServiceConfig;
  /** The same with what its clients create and remove themselves. */
  readonly stored: ServiceConfig;
  /** The realtime service with an AsyncAPI document. */
  readonly talk: ServiceConfig;
  /** The same with its streams. */
  readonly streamed: ServiceConfig;
}

/** Facts of a config with other operations. */
const OF_OPERATIONS = ['endpoint.other-operations', 'events.streams'];

export async function proofConfigs(): Promise<Configs> {
  const { services } = await loadServices({ configDir: folder('../../config'), env: {} });
  // In the tree, like the shipped one: messages name its place, and that is the same wherever the tree lies.
  const own = await loadServices({ configDir: folder('config'), env: {} });
  const named = (name: string) => own.services.find(({ config }) => config.service === name)?.config;
  const [described, stored, talk, streamed] = ['search', 'saved-searches', 'talk', 'changes'].map(named);
  if (!described || !stored || !talk || !streamed)
    throw new HarnessError('no config with documents for the proof');
  return {
    shipped: new Map(services.map(({ config }) => [config.service, config])),
    described,
    stored,
    talk,
    streamed,
  };
}

function folder(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}

/** The config of a case, before its setting; with the operations of search where the case is about them. */
export function configOf({ service, described, setting }: ProofCase, configs: Configs): ServiceConfig {
  const shipped = configs.shipped.get(service);
  if (shipped === undefined) throw new HarnessError(`no config for the reference provider ${service}`);
  if (settingNamed(setting).talks) return withMessages(shipped, configs.talk);
  if (!described || service !== configs.described.service) return shipped;
  const { operations, definitions, facts } = configs[settingNamed(setting).operations ?? 'described'];
  const own = Object.entries(facts).filter(([key]) => OF_OPERATIONS.includes(key));
  return {
    ...shipped,
    operations,
    ...(definitions === undefined ? {} : { definitions }),
    facts: { ...shipped.facts, ...Object.fromEntries(own) },
  };
}

const MESSAGES = 'websocket.messages';

function withMessages(shipped: ServiceConfig, { websocket, facts }: ServiceConfig): ServiceConfig {
  const fact = facts[MESSAGES];
  return { ...shipped, websocket, facts: { ...shipped.facts, ...(fact && { [MESSAGES]: fact }) } };
}
