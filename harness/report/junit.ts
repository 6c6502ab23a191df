import { stripVTControlCharacters } from 'node:util';
import type { Outcome } from '../contract/outcome.ts';
import type { ReportFormat } from './format.ts';
import { checksByService, firstOf, type Told, toldIn } from './results/causes.ts';
import { findingAsText } from './results/evidence-view.ts';
import { cut, plainLine, plainText } from './results/plain.ts';
import type { CheckResult, Results, RunResult, ServiceResult } from './results/results.ts';
import { leftOutOf, serviceConditions } from './results/run-verdict.ts';
import { counted } from './results/tally.ts';
import { valueInWords } from './results/words.ts';

/**
 * JUnit XML in a strict profile: what Jenkins' `junit-10.xsd` and Surefire's schema both allow, so that every
 * CI server reads it. A file holds few elements per case, since some servers count them.
 */
export interface JunitReport {
  /** All services in one `testsuites` document. */
  readonly merged: string;
  /** One `testsuite` document per service. */
  readonly services: ReadonlyMap<string, string>;
}

/** What a case turned into; the order of children is the one that Surefire's schema demands. */
type Verdict = 'passed' | 'failure' | 'skipped' | 'error';

interface Rules {
  readonly strict: boolean;
}

/** Outcome to JUnit. A check that could not be exercised is never green where the contract or a standard demands it. */
const VERDICTS: Readonly<Record<Outcome, (check: CheckResult, rules: Rules) => Verdict>> = {
  pass: () => 'passed',
  fail: () => 'failure',
  warning: (_, { strict }) => (strict ? 'failure' : 'passed'),
  observed: () => 'passed',
  known: () => 'skipped',
  skipped: () => 'skipped',
  blocked: ({ level }) => (level === 'MUST' ? 'error' : 'skipped'),
  error: () => 'error',
};

const SCHEMA_TIME_DIGITS = 3;
/** Causes that are told of a service: CI servers count elements. */
const CAUSES = 50;

export const junit: ReportFormat = {
  name: 'junit',
  files: [
    { path: 'junit.xml', holds: 'JUnit XML, all services in one file', readers: 'CI servers' },
    {
      path: 'junit/SERVICE.xml',
      holds: 'JUnit XML, one service each',
      readers: 'CI servers that limit the size of a file',
    },
  ],
  render(results) {
    const { merged, services } = renderJunit(results);
    return { 'junit.xml': merged, 'junit/SERVICE.xml': services };
  },
};

/** JUnit XML: all services in one document, and each in one of its own. */
export function renderJunit(results: Results): JunitReport {
  const told = toldIn(results);
  const suites = results.services.map((service) => ({ service, suite: suiteOf(service, results, told) }));
  const all = suites.map(({ suite }) => suite);
  const merged = all.length > 0 ? all : [suiteWithout(results.run)];
  return {
    merged: renderDocument({
      name: 'testsuites',
      attributes: { name: 'conform', ...sums(merged) },
      children: merged,
    }),
    services: new Map(suites.map(({ service, suite }) => [service.service, renderDocument(suite)])),
  };
}

function suiteOf(service: ServiceResult, { run }: Results, told: readonly Told[]): Element {
  const cases = service.checks.map((check) => caseOf(check, service, run));
  const stops = [
    ...runStops(run),
    ...serviceConditions(service).map((message, index) => stop(`inconclusive ${index + 1}`, message)),
  ];
  const leftOut = leftOutOf({ services: [service], isSelection: run.selection !== undefined });
  const children = [...cases, ...stops.map((make) => make(`${service.service}.run`))];
  return suite(service.service, service.durationMs, children, {
    ...causesIn(service, told),
    contract: service.contract,
    environment: service.environment ?? 'none',
    provider: [service.provider.kind, service.provider.url, service.provider.image].filter(Boolean).join(' '),
    ...(service.provider.proxy ? { proxy: service.provider.proxy } : {}),
    ...(service.cautions ? { cautions: service.cautions.join('; ') } : {}),
    plan: service.plan ? `${service.plan.requests} requests in ${service.plan.windowSeconds} s` : 'none',
    requests: String(service.requestsSent),
    ...(leftOut.length > 0 ? { only: leftOut.join('; ') } : {}),
    run: run.id,
    // As a property: older Surefire schemas know no timestamp attribute.
    started: run.startedAt,
  });
}

/** `cause 1`: a sentence and the findings that it explains, as many as an attribute holds; most failures first. */
function causesIn({ service }: ServiceResult, told: readonly Told[]): Readonly<Record<string, string>> {
  const here = told.flatMap((each) => {
    const ids = checksByService(each).find(([name]) => name === service)?.[1] ?? [];
    return ids.length === 0 ? [] : `${counted(ids.length, 'finding')}: ${each.sentence}: ${firstOf(ids, 20)}`;
  });
  return Object.fromEntries(
    here.slice(0, CAUSES).map((text, index) => [`cause ${index + 1}`, cut(text, ATTRIBUTE_CAP)]),
  );
}

/** A run without any service must not come out as an empty, and so green, file. */
function suiteWithout(run: RunResult): Element {
  const stops = [...runStops(run), stop('run', 'no service ran')];
  return suite(
    'conform',
    0,
    stops.map((make) => make('conform.run')),
    { run: run.id, started: run.startedAt },
  );
}

function suite(
  name: string,
  durationMs: number,
  cases: readonly Element[],
  properties: Readonly<Record<string, string>>,
): Element {
  const have = (child: string) => cases.filter(({ children = [] }) => children[0]?.name === child).length;
  return {
    name: 'testsuite',
    attributes: {
      name,
      tests: cases.length,
      failures: have('failure'),
      errors: have('error'),
      skipped: have('skipped'),
      time: seconds(durationMs),
    },
    children: [
      {
        name: 'properties',
        attributes: {},
        children: Object.entries(properties).map(([key, value]) => ({
          name: 'property',
          attributes: { name: key, value: plainLine(value) },
        })),
      },
      ...cases,
    ],
  };
}

function caseOf(check: CheckResult, service: ServiceResult, run: RunResult): Element {
  const verdict = VERDICTS[check.outcome](check, run);
  const message = plainLine(check.message) || check.outcome;
  return {
    name: 'testcase',
    attributes: {
      name: `${check.id} ${plainLine(check.title)}`.trim(),
      classname: `${service.service}.${check.suite}`,
      time: seconds(check.durationMs),
    },
    children: childrenOf(verdict, check, service, message),
  };
}

function childrenOf(
  verdict: Verdict,
  check: CheckResult,
  service: ServiceResult,
  message: string,
): readonly Element[] {
  switch (verdict) {
    case 'passed': {
      const remarks = remarksOf(check, service);
      return remarks === '' ? [] : [{ name: 'system-out', attributes: {}, text: remarks }];
    }
    case 'skipped':
      return [{ name: 'skipped', attributes: { message: `${check.outcome}: ${message}` } }];
    case 'failure':
    case 'error': {
      const type = check.outcome === 'blocked' ? 'blocked' : check.level;
      return [{ name: verdict, attributes: { message, type }, text: findingAsText(check, service) }];
    }
  }
}

/** What a green case has to tell all the same. */
function remarksOf(check: CheckResult, service: ServiceResult): string {
  const message = plainText(check.message);
  const observed = service.observations
    .filter((observation) => observation.check === check.id)
    .map(({ key, value }) => `OBSERVED ${key} = ${valueInWords(value)}`);
  const head: Partial<Record<Outcome, string>> = {
    warning: `WARNING ${message}\n${findingAsText({ ...check, message: '' }, service)}`,
    observed: message === '' ? '' : `OBSERVED ${message}`,
  };
  return [head[check.outcome] ?? '', ...observed].filter((line) => line !== '').join('\n');
}

type CaseMaker = (classname: string) => Element;

function stop(name: string, message: string): CaseMaker {
  return (classname) => ({
    name: 'testcase',
    attributes: { name, classname, time: seconds(0) },
    children: [
      {
        name: 'error',
        attributes: { message: plainLine(message), type: 'inconclusive' },
        text: plainText(message),
      },
    ],
  });
}

/** In every service's file, since a CI server may be given any one of them: each must be red by itself. */
function runStops(run: RunResult): readonly CaseMaker[] {
  const cause = run.interruption ?? 'for an unknown reason';
  return [
    ...(run.interrupted ? [stop('run interrupted', `the run was cut short: ${cause}`)] : []),
    ...run.faults.map((fault, index) => stop(`harness fault ${index + 1}`, fault)),
  ];
}

function sums(suites: readonly Element[]): Readonly<Record<string, string | number>> {
  const sum = (key: string) => suites.reduce((total, { attributes }) => total + Number(attributes[key]), 0);
  return {
    tests: sum('tests'),
    failures: sum('failures'),
    errors: sum('errors'),
    time: sum('time').toFixed(SCHEMA_TIME_DIGITS),
  };
}

function seconds(ms: number): string {
  return (Number.isFinite(ms) ? Math.max(0, ms) / 1_000 : 0).toFixed(SCHEMA_TIME_DIGITS);
}

/** XML 1.0 §2.2 Char: everything else cannot stand in a document, not even as a reference. */
const NOT_XML = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

const REFERENCES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
};

/** `longest` counts UTF-16 units before escaping. */
function legal(text: string, longest: number): string {
  const near = cut(text, longest * 2).toWellFormed();
  return cut(stripVTControlCharacters(near).replace(NOT_XML, '\ufffd'), longest);
}

/** Character data; `>` is escaped too, so that `]]>` cannot appear. */
function xmlText(text: string, longest: number): string {
  return legal(text, longest).replace(/[&<>\r]/g, (character) => REFERENCES[character] ?? character);
}

/** An attribute's value; white space as references, or a parser would turn it into blanks (XML 1.0 §3.3.3). */
function xmlAttribute(text: string, longest: number): string {
  return legal(text, longest).replace(/[&<>"\t\n\r]/g, (character) => REFERENCES[character] ?? character);
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

function renderElement({ name, attributes, children = [], text = '' }: Element, indent = ''): string {
  const pairs = Object.entries(attributes).map(
    ([key, value]) => ` ${key}="${xmlAttribute(String(value), ATTRIBUTE_CAP)}"`,
  );
  const open = `${indent}<${name}${pairs.join('')}`;
  if (children.length > 0) {
    const inner = children.map((child) => renderElement(child, `${indent}  `)).join('\n');
    return `${open}>\n${inner}\n${indent}</${name}>`;
  }
  return text === '' ? `${open}/>` : `${open}>${xmlText(text, TEXT_CAP)}</${name}>`;
}

function renderDocument(root: Element): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${renderElement(root)}\n`;
}
