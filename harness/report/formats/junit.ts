import { stripVTControlCharacters } from 'node:util';
import { withShortValues } from '../../base/text.ts';
import type { Outcome } from '../../base/verdict.ts';
import { DEFAULT_CHOICES, type JunitWarnings, type ReportFormat } from '../format.ts';
import { type CauseEntry, causeEntries, checksByService, firstOf, problemOf } from '../results/causes.ts';
import type { CheckResult } from '../results/check-result.ts';
import { findingAsText, VALUE_CAP } from '../results/evidence/evidence-view.ts';
import { basisInWords } from '../results/operation-coverage.ts';
import {
  BY_OPERATION,
  type OperationOutcome,
  operationOutcomes,
  outcomeInWords,
} from '../results/operation-outcome.ts';
import type { Results, RunResult, ServiceResult } from '../results/results.ts';
import { leftOutOf, listFaults, serviceConditions } from '../results/run-verdict.ts';
import { counted, isBlockedByOutage, isExplained, waitedMs } from '../results/tally.ts';
import { ageInWords, newsInWords } from '../results/words/news.ts';
import { cut, plainLine, plainText } from '../results/words/plain.ts';
import { valueInWords } from '../results/words/words.ts';

/** JUnit XML in a strict profile for every CI server. Cases have the ids of checks, which never change. */
export interface JunitReport {
  /** All of them in one `testsuites` document, which Jenkins' `junit-10.xsd` allows. */
  readonly merged: string;
  /** Each in a document of its own, which Surefire's schema allows as well; by `search.auth`. */
  readonly suites: ReadonlyMap<string, string>;
}

/** What a case turned into; the order of children is the one that Surefire's schema demands. */
type CaseVerdict = 'passed' | 'failure' | 'skipped' | 'error';

interface Rules {
  readonly results: Results;
  readonly strict: boolean;
  readonly warnings: JunitWarnings;
}

const WARNINGS = { skipped: 'skipped', failure: 'failure', pass: 'passed' } as const;

/** Outcome to JUnit. A check that could not be exercised is never green where the contract or a standard demands it. */
const VERDICTS: Readonly<Record<Outcome, (check: Pick<CheckResult, 'level'>, rules: Rules) => CaseVerdict>> =
  {
    pass: () => 'passed',
    fail: () => 'failure',
    warning: (_, { strict, warnings }) => (strict ? 'failure' : WARNINGS[warnings]),
    observed: () => 'passed',
    known: () => 'skipped',
    skipped: () => 'skipped',
    blocked: ({ level }) => (level === 'MUST' ? 'error' : 'skipped'),
    error: () => 'error',
  };

const SCHEMA_TIME_DIGITS = 3;
/** Number of causes that a service gets: CI servers count elements. */
const CAUSES = 50;

export const junit: ReportFormat = {
  name: 'junit',
  files: [
    { path: 'junit.xml', holds: 'JUnit XML, all services in one file', readers: 'CI servers' },
    {
      path: 'junit/SERVICE.xml',
      holds: 'JUnit XML, one suite of one service each: `junit/search.auth.xml`',
      readers: "CI servers that limit the size of a file, or hold it to Surefire's schema",
    },
  ],
  render(results, { junitWarnings }) {
    const { merged, suites } = renderJunit(results, junitWarnings);
    return { 'junit.xml': merged, 'junit/SERVICE.xml': suites };
  },
};

/** JUnit XML: all suites in one document, and each in one of its own. */
export function renderJunit(results: Results, warnings = DEFAULT_CHOICES.junitWarnings): JunitReport {
  const entries = causeEntries(results);
  const rules = { results, strict: results.run.strict, warnings };
  const at = results.run.startedAt.replace(/(?:\.\d+)?Z$/, '');
  // Of those of many services not all elements lie in memory together.
  const written = (suite: Element) => ({
    attributes: suite.attributes,
    alone: inDocument(renderElement(suite)),
    // Surefire's schema knows no such attribute.
    amongOthers: renderElement({ ...suite, attributes: { ...suite.attributes, timestamp: at } }, INDENT),
  });
  const context = { run: results.run, entries, rules };
  const all = results.services.flatMap((service) => suitesOf(service, context).map(written));
  const suites = all.length > 0 ? all : [written(suiteWithout(results.run))];
  const root = { name: 'testsuites', attributes: { name: 'conform', ...sums(suites) } };
  return {
    merged: inDocument(withinTag(root, suites.map(({ amongOthers }) => amongOthers).join('\n'))),
    suites: new Map(suites.map(({ attributes, alone }) => [String(attributes.name), alone])),
  };
}

interface SuiteContext {
  readonly run: RunResult;
  readonly entries: readonly CauseEntry[];
  readonly rules: Rules;
}

/** A suite of JUnit for each suite of the service, and one for what hangs on none of its checks. */
function suitesOf(service: ServiceResult, { run, entries, rules }: SuiteContext): readonly Element[] {
  const own = `${service.service}.run`;
  const stops = [
    ...runStops(own, run),
    ...serviceConditions(service).map((message, index) => red(own, `inconclusive ${index + 1}`, message)),
    ...listFaults(service).map(({ of, message }) => red(own, of, message, 'list')),
    ...newsOf(service, rules.results),
  ];
  const common = propertiesOf(service, run);
  // What does not apply is no case: a reader of a dashboard cannot do anything about it.
  const applying = service.checks.filter(({ outcome }) => outcome !== 'skipped');
  const suites = [...Map.groupBy(applying, ({ suite: name }) => name)].map(([name, checks]) => {
    const cases = checks.map((check) => caseOf(check, service, rules));
    const causes = causesIn(service, entries, new Set(checks.map(({ id }) => id)));
    const properties = { ...causes, ...common, waited: seconds(waitedMs(checks)) };
    return suite(`${service.service}.${name}`, cases, properties);
  });
  return [
    ...suites,
    ...operationSuite(service, { rules, common }),
    ...(stops.length === 0 ? [] : [suite(own, stops, common)]),
  ];
}

/** A case for each documented operation, called by its method and path template; none if no operation is documented. */
function operationSuite(
  service: ServiceResult,
  { rules, common }: { readonly rules: Rules; readonly common: SuiteProperties },
): readonly Element[] {
  const name = `${service.service}.${BY_OPERATION}`;
  const cases = operationOutcomes(service).map((each) => operationCase(each, name, rules));
  return cases.length === 0 ? [] : [suite(name, cases, common)];
}

/** Its time is that of the checks, which have cases of their own. */
function operationCase(operation: OperationOutcome, classname: string, rules: Rules): Element {
  const attributes = { name: plainLine(operation.operation), classname, time: seconds(0) };
  const verdict = VERDICTS[operation.outcome]({ level: 'MUST' }, rules);
  const message = outcomeInWords(operation);
  if (verdict === 'passed' && message === '') return { name: 'testcase', attributes };
  const text = [
    `documented in ${plainLine(operation.place)}`,
    ...operation.findings.map(({ check, outcome, got }) =>
      plainText(`${outcome} ${check.id}: ${got ?? check.title}`),
    ),
  ].join('\n');
  const child =
    verdict === 'skipped'
      ? { name: 'skipped', attributes: { message: `${operation.outcome}: ${message}` } }
      : verdict === 'passed'
        ? { name: 'system-out', attributes: {}, text }
        : { name: verdict, attributes: { message, type: 'operation' }, text };
  return { name: 'testcase', attributes, children: [child] };
}

/** A case that passes, with what differs from the runs before, and the known failures that end soon. */
function newsOf(service: ServiceResult, results: Results): readonly Element[] {
  const lines = newsInWords({ ...results, services: [service] });
  if (lines.length === 0) return [];
  const text = lines.map((line) => plainLine(line)).join('\n');
  const attributes = { name: 'since the run before', classname: `${service.service}.run`, time: seconds(0) };
  return [{ name: 'testcase', attributes, children: [{ name: 'system-out', attributes: {}, text }] }];
}

function propertiesOf(service: ServiceResult, run: RunResult): SuiteProperties {
  const basis = basisInWords([service]);
  const leftOut = leftOutOf({ services: [service], isSelection: run.selection !== undefined });
  return {
    contract: service.contract,
    environment: service.environment ?? 'none',
    provider: [service.provider.kind, service.provider.url, service.provider.image].filter(Boolean).join(' '),
    ...(service.provider.proxy ? { proxy: service.provider.proxy } : {}),
    ...(service.cautions ? { cautions: service.cautions.join('; ') } : {}),
    ...(basis === null ? {} : { basis }),
    ...(leftOut.length > 0 ? { only: leftOut.join('; ') } : {}),
    plan: service.plan ? `${service.plan.requests} requests in ${service.plan.windowSeconds} s` : 'none',
    ...(service.simulatedTime ? { time: 'simulated' } : {}),
    requests: String(service.requestsSent),
    ...(service.httpVersions ? { http: JSON.stringify(service.httpVersions) } : {}),
    run: run.id,
    started: run.startedAt,
  };
}

/** `cause 1`: a sentence and the findings of the suite that it explains, as many as an attribute holds; most failures first. */
function causesIn(
  { service }: ServiceResult,
  entries: readonly CauseEntry[],
  suite: ReadonlySet<string>,
): SuiteProperties {
  const here = entries.flatMap((each) => {
    const all = checksByService(each).find(([name]) => name === service)?.[1] ?? [];
    const ids = all.filter((id) => suite.has(id));
    return ids.length === 0 ? [] : `${counted(ids.length, 'finding')}: ${each.sentence}: ${firstOf(ids, 20)}`;
  });
  const some = here.slice(0, CAUSES).map((text) => cut(text, ATTRIBUTE_CAP));
  return Object.fromEntries(some.map((text, index) => [`cause ${index + 1}`, text]));
}

/** A run without any service must not come out as an empty, and so green, file. */
function suiteWithout(run: RunResult): Element {
  const name = 'conform.run';
  const stops = [...runStops(name, run), red(name, 'run', 'no service ran')];
  return suite(name, stops, { run: run.id, started: run.startedAt });
}

type SuiteProperties = Readonly<Record<string, string>>;

function suite(name: string, cases: readonly Element[], properties: SuiteProperties): Element {
  const have = (child: string) => cases.filter(({ children = [] }) => children[0]?.name === child).length;
  const propertyOf = ([key, value]: [string, string]) => {
    return { name: 'property', attributes: { name: key, value: plainLine(value) } };
  };
  return {
    name: 'testsuite',
    attributes: {
      name,
      tests: cases.length,
      failures: have('failure'),
      errors: have('error'),
      skipped: have('skipped'),
      time: sumOf(cases, 'time').toFixed(SCHEMA_TIME_DIGITS),
    },
    children: [
      { name: 'properties', attributes: {}, children: Object.entries(properties).map(propertyOf) },
      ...cases,
    ],
  };
}

function caseOf(check: CheckResult, service: ServiceResult, rules: Rules): Element {
  return {
    name: 'testcase',
    attributes: {
      name: check.id,
      classname: `${service.service}.${check.suite}`,
      // A wait for the window to end is no work of the check that happened to be next.
      time: seconds(check.durationMs - (check.waitedMs ?? 0)),
    },
    // One error for an outage, and one failure for what explains others: not one of each check.
    children: isBlockedByOutage(service, check)
      ? [{ name: 'skipped', attributes: { message: `blocked: as told in ${service.service}.run` } }]
      : isExplained(service, check)
        ? [{ name: 'skipped', attributes: { message: `blocked: ${plainLine(check.message)}` } }]
        : childrenOf(VERDICTS[check.outcome](check, rules), check, service, rules),
  };
}

function childrenOf(
  verdict: CaseVerdict,
  check: CheckResult,
  service: ServiceResult,
  rules: Rules,
): readonly Element[] {
  const said = check.headline === undefined ? check.message : problemOf(check);
  const message = plainLine(withShortValues(said, VALUE_CAP)) || check.outcome;
  if (verdict === 'passed') return remarksOf(check, service);
  if (verdict === 'skipped') {
    const skipped = { name: 'skipped', attributes: { message: `${check.outcome}: ${message}` } };
    return [skipped, ...(check.outcome === 'warning' ? remarksOf(check, service) : [])];
  }
  const type = check.outcome === 'blocked' ? 'blocked' : check.level;
  const age = ageInWords([{ service, check }], rules.results);
  const text = [...(age === '' ? [] : [`${age}\n`]), findingAsText(check, service)].join('\n');
  return [{ name: verdict, attributes: { message, type }, text }];
}

/** What a case that is not red has to tell all the same. */
function remarksOf(check: CheckResult, service: ServiceResult): readonly Element[] {
  const message = check.outcome === 'observed' ? plainText(check.message) : '';
  const lines = [
    ...(check.outcome === 'warning' ? [`WARNING ${findingAsText(check, service)}`] : []),
    ...(message === '' ? [] : [`OBSERVED ${message}`]),
    ...service.observations
      .filter((observation) => observation.check === check.id)
      .map(({ key, value }) => `OBSERVED ${key} = ${valueInWords(value)}`),
  ];
  return lines.length === 0 ? [] : [{ name: 'system-out', attributes: {}, text: lines.join('\n') }];
}

/** A case that is red by itself: `list`, what does not agree with the lists that are kept, is a failure. */
function red(classname: string, name: string, message: string, type = 'inconclusive'): Element {
  const how = type === 'list' ? 'failure' : 'error';
  return {
    name: 'testcase',
    attributes: { name, classname, time: seconds(0) },
    children: [{ name: how, attributes: { message: plainLine(message), type }, text: plainText(message) }],
  };
}

/** In every service's file, since a CI server may be given any one of them: each must be red by itself. */
function runStops(classname: string, run: RunResult): readonly Element[] {
  const cause = run.interruption ?? 'for an unknown reason';
  return [
    ...(run.interrupted ? [red(classname, 'run interrupted', `the run was cut short: ${cause}`)] : []),
    ...run.faults.map((fault, index) => red(classname, `harness fault ${index + 1}`, fault)),
  ];
}

function sums(suites: readonly Pick<Element, 'attributes'>[]): Readonly<Record<string, string | number>> {
  return {
    tests: sumOf(suites, 'tests'),
    failures: sumOf(suites, 'failures'),
    errors: sumOf(suites, 'errors'),
    time: sumOf(suites, 'time').toFixed(SCHEMA_TIME_DIGITS),
  };
}

function sumOf(elements: readonly Pick<Element, 'attributes'>[], attribute: string): number {
  return elements.reduce((total, { attributes }) => total + Number(attributes[attribute]), 0);
}

function seconds(ms: number): string {
  return (Number.isFinite(ms) ? Math.max(0, ms) / 1_000 : 0).toFixed(SCHEMA_TIME_DIGITS);
}

/** XML 1.0 §2.2 Char: everything else cannot stand in a document, not even as a reference. */
const NOT_XML = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

const NAMED = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', '\t': '#9', '\n': '#10', '\r': '#13' };
const REFERENCES = new Map(Object.entries(NAMED));

/** What neither XML nor a terminal minds. */
const HARMLESS = /^[\t\n\r -~\u{A0}-\u{D7FF}]*$/u;

/** `longest` counts UTF-16 units before escaping. */
function legal(text: string, longest: number): string {
  if (text.length <= longest && HARMLESS.test(text)) return text;
  const near = cut(text, longest * 2).toWellFormed();
  return cut(stripVTControlCharacters(near).replace(NOT_XML, '\ufffd'), longest);
}

/** Character data; `>` is escaped too, so that `]]>` cannot appear. */
function xmlText(text: string, longest: number): string {
  return legal(text, longest).replace(/[&<>\r]/g, referenceTo);
}

/** An attribute's value; white space as references, or a parser would turn it into blanks (XML 1.0 §3.3.3). */
function xmlAttribute(text: string, longest: number): string {
  return legal(text, longest).replace(/[&<>"\t\n\r]/g, referenceTo);
}

function referenceTo(character: string): string {
  return `&${REFERENCES.get(character)};`;
}

/** Caps in UTF-16 units: what CI servers take without cutting it themselves. */
const ATTRIBUTE_CAP = 2_048;
const TEXT_CAP = 16_384;

interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly children?: readonly Element[];
  /** Character data; an element has either this or children. */
  readonly text?: string;
}

const INDENT = '  ';

function renderElement(element: Element, indent = ''): string {
  const { name, children = [], text = '' } = element;
  if (children.length > 0) {
    const inside = children.map((child) => renderElement(child, indent + INDENT)).join('\n');
    return withinTag(element, inside, indent);
  }
  const open = indent + openTag(element);
  return text === '' ? `${open}/>` : `${open}>${xmlText(text, TEXT_CAP)}</${name}>`;
}

/** @param inside children that are written, each with its indent. */
function withinTag(element: Element, inside: string, indent = ''): string {
  return `${indent}${openTag(element)}>\n${inside}\n${indent}</${element.name}>`;
}

function openTag({ name, attributes }: Element): string {
  const pairs = Object.entries(attributes).map(
    ([key, value]) => ` ${key}="${xmlAttribute(String(value), ATTRIBUTE_CAP)}"`,
  );
  return `<${name}${pairs.join('')}`;
}

function inDocument(root: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${root}\n`;
}
