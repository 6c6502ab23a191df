import { basename } from 'node:path';
import { formatPlace, type Place } from '../../base/exit.ts';
import { isJsonObject, parseJson } from '../../base/json-text.ts';
import { reasonLineOf, traceOf } from '../../base/thrown.ts';
import { TimeLimitReached, withinTimeLimit } from '../../base/time-limit.ts';
import { Blocked } from '../../base/verdict.ts';
import type { OwnAnswer, OwnCheck, OwnRequest, OwnResponse } from '../../config/own/own-check.ts';
import { loadOwnChecks } from '../../config/own/own-checks-block.ts';
import { placeIn } from '../../config/own/own-module.ts';
import type { ServiceConfig } from '../../config/service.ts';
import type { Reply } from '../../wire/exchange/reply.ts';
import type { FieldLine } from '../../wire/exchange.ts';
import { SAFE_METHODS } from '../../wire/request.ts';
import { overRecord, type Probe, probe, type Selected } from '../session/probe.ts';
import { type CheckDefinition, check, type Suite } from './check.ts';
import { servesHttp, unsafeMethods } from './requirement.ts';
import { unexercisedDuring } from './unexercised.ts';

/** Every answer of a run. */
export type EveryAnswer = Probe<Selected<Reply>>;

/** If the suites have none: what other checks have sent. */
const asRecorded: EveryAnswer = overRecord<Reply>('every-answer', [], ({ recorded }) =>
  recorded.exchanges.filter(({ status }) => status !== null),
);

/** The checks of their own of these services, a suite for each prefix; a check is in those services that name its module. */
export async function ownSuites(
  configs: readonly ServiceConfig[],
  everyAnswer: EveryAnswer = asRecorded,
): Promise<readonly Suite[]> {
  const paths = new Set(configs.flatMap(({ ownChecks = [] }) => ownChecks.map(({ path }) => path)));
  const found: (readonly [string, CheckDefinition])[] = [];
  for (const path of paths) {
    for (const own of await loadOwnChecks(path)) {
      const [name = ''] = own.id.split('.');
      found.push([name, definitionOf(own, path, everyAnswer)]);
    }
  }
  return [...Map.groupBy(found, ([name]) => name)].map(([name, all]) => ({
    name,
    title: `checks of your own (${name})`,
    checks: all.map(([, definition]) => definition),
  }));
}

function definitionOf(rule: OwnCheck, path: string, everyAnswer: EveryAnswer): CheckDefinition {
  const { id, title, why, change, ground = basename(path), level = 'fail', sends, expects } = rule;
  const changes = sends?.some(({ method = 'GET' }) => !SAFE_METHODS.has(method)) ?? false;
  const answers = sends === undefined ? everyAnswer : requestsOf(id, sends, changes);
  const isSeen = (reply: Reply) => (sends === undefined ? isReadable(reply) : true);
  const whole: CheckDefinition = {
    ...check(id, {
      title,
      headline: `"${title.replaceAll(/[{}]/g, '')}" does not hold: {got}`,
      why,
      change,
      grounds: [{ kind: 'own', ref: ground, word: level === 'fail' ? 'MUST' : 'SHOULD' }],
      applies: [servesHttp, ...(changes ? [unsafeMethods] : [])],
      uses: [answers],
      async judge({ expect, probe: ask, note, service }) {
        const code = new BoundedCode(rule, path);
        const all = sends === undefined ? [] : (await ask(answers)).all.filter(isReadable).map(answerOf);
        if (!isProven(service, path, id)) note(UNPROVEN);
        await expect(answers)
          .where(
            (reply) => isSeen(reply) && (reply.status === null || code.isMeant(answerOf(reply))),
            'no answer is of its kind',
          )
          .toConform(expects ?? `that the service ${title}`, (reply) => code.got(answerOf(reply), all));
      },
    }),
    own: { file: path, defects: Object.keys(rule.proof?.defects ?? {}) },
  };
  return {
    ...whole,
    each: (config) => {
      const isHere = config.ownChecks?.some((file) => file.path === path) ?? false;
      return isHere ? [{ ...whole, observes: !isProven(config, path, id) }] : [];
    },
  };
}

const UNPROVEN = 'It is not proven, so it is only observed: run `conform prove`.';

function isProven({ ownChecks = [] }: ServiceConfig, path: string, id: string): boolean {
  return ownChecks.some((file) => file.path === path && file.proven.includes(id));
}

/** Read to its end, and to a request that every server reads. */
function isReadable({ answered, isOrdinary }: Reply): boolean {
  return answered && isOrdinary;
}

function requestsOf(id: string, sends: readonly OwnRequest[], changes: boolean): EveryAnswer {
  const isOpen = sends.every(({ credential }) => credential === 'none');
  const declared = {
    cost: sends.length,
    credential: isOpen ? ('none' as const) : ('right' as const),
    risks: changes ? (['change'] as const) : [],
  };
  return probe(id, declared, async ({ http }) => {
    const all: Reply[] = [];
    for (const [
      index,
      { method = 'GET', path, headers = {}, body, credential = 'right' },
    ] of sends.entries()) {
      const typed =
        body !== undefined && typeof body !== 'string' && !('content-type' in lowerCased(headers));
      const fields: FieldLine[] = [...Object.entries(headers)];
      if (typed) fields.push(['Content-Type', 'application/json']);
      const reply = await http.send({
        purpose: `${path}, request ${index + 1} of ${id}`,
        method,
        target: () => path,
        fields,
        withoutSampleFields: true,
        credential,
        ...(body !== undefined && { content: textOf(body) }),
      });
      all.push(reply);
    }
    return { all, shortfall: null };
  });
}

function textOf(body: unknown): string {
  return typeof body === 'string' ? body : JSON.stringify(body);
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** A copy for each call: the code of a user may change it. */
function answerOf({ exchange, response }: Reply): OwnAnswer {
  const { method, url, fields } = exchange.request;
  const { pathname, search } = new URL(url);
  return ownAnswer(
    { method, path: `${pathname}${search}`, headers: joined(fields) },
    { status: response.status, headers: joined(exchange.response?.fields ?? []), text: response.text ?? '' },
  );
}

function ownAnswer(
  request: OwnAnswer['request'],
  { status, headers, text }: Pick<OwnAnswer, 'status' | 'headers' | 'text'>,
): OwnAnswer {
  return {
    request,
    status,
    headers,
    text,
    get json() {
      return parseJson(text);
    },
  };
}

function joined(fields: readonly FieldLine[]): Record<string, string> {
  const all = Map.groupBy(fields, ([name]) => name.toLowerCase());
  return Object.fromEntries(
    [...all].map(([name, lines]) => [name, lines.map(([, value]) => value).join(', ')]),
  );
}

/** Milliseconds that the code of one check may take, for all answers. */
const CODE_MS = 2_000;

/** Runs the functions of a check within a limit of time, whatever they do. */
class BoundedCode {
  readonly #rule: OwnCheck;
  readonly #file: string;
  #leftMs = CODE_MS;

  constructor(rule: OwnCheck, file: string) {
    this.#rule = rule;
    this.#file = file;
  }

  isMeant(answer: OwnAnswer): boolean {
    const { where } = this.#rule;
    return where === undefined || Boolean(this.#run('where', () => where(answer)));
  }

  /** What a violation is; null for none. */
  got(answer: OwnAnswer, all: readonly OwnAnswer[]): string | null {
    const got = this.#run('judge', () => this.#rule.judge(answer, all));
    if (got === null || got === undefined) return null;
    if (typeof got === 'string') return got === '' ? 'nothing that it says' : shortened(got);
    if (got instanceof Promise) got.catch(() => undefined);
    throw this.#blocked(
      `judge returned ${got instanceof Promise ? 'a promise' : typeof got}, no text and no null`,
    );
  }

  /** The answer of the handler of the proof. @throws Blocked if it has none. */
  handled(name: string, act: () => unknown): OwnResponse {
    const response = this.#run(name, act);
    if (isJsonObject(response) && Number.isInteger(response.status))
      return response as unknown as OwnResponse;
    throw this.#blocked(`${name} returned no response such as { status: 200 }`);
  }

  #run(name: string, act: () => unknown): unknown {
    const began = performance.now();
    try {
      return withinTimeLimit(Math.max(1, Math.ceil(this.#leftMs)), act);
    } catch (thrown) {
      if (thrown instanceof TimeLimitReached)
        throw this.#blocked(`${name} took more than ${CODE_MS / 1000} s`);
      throw this.#blocked(`${name} threw ${reasonLineOf(thrown)}`, placeIn(traceOf(thrown), this.#file));
    } finally {
      this.#leftMs -= performance.now() - began;
    }
  }

  #blocked(problem: string, place: Place | null = null): Blocked {
    return new Blocked(
      `the code of ${this.#rule.id} is at fault: ${problem} (${formatPlace({ ...place, file: basename(this.#file) })})`,
    );
  }
}

/** UTF-16 units of a result. */
const MOST_UNITS = 300;

function shortened(text: string): string {
  return text.length > MOST_UNITS ? `${text.slice(0, MOST_UNITS)}…` : text;
}

/** What the proof of a check has shown. */
export interface OwnProofResult {
  /** Why it is not proven; null if it is. */
  readonly gap: string | null;
  /** The conditions of `where` and `judge` that no answer of the proof exercises, each with its line. */
  readonly unexercised: readonly string[];
}

/** Runs the proof of a check. Sends nothing. */
export function provenBy(rule: OwnCheck, file: string): OwnProofResult {
  const { proof, sends } = rule;
  if (proof === undefined) return { gap: 'it has no proof', unexercised: [] };
  const requests = (proof.requests ?? sends ?? [{ path: '/' }]).map(
    ({ method = 'GET', path, headers = {} }) => ({
      method,
      path,
      headers: lowerCased(headers),
    }),
  );
  try {
    const code = new BoundedCode(rule, file);
    const answersOf = (change: (response: OwnResponse, request: OwnAnswer['request']) => OwnResponse) =>
      requests.map((request) => {
        const plain = code.handled('conforming', () => proof.conforming(request));
        return answered(request, change(plain, request));
      });
    const conforming = answersOf((plain) => plain);
    const defects = Object.entries(proof.defects).map(([name, defect]) => ({
      name,
      answers: answersOf((plain, request) => code.handled(name, () => defect(plain, request))),
    }));
    const { result, unexercised } = unexercisedDuring(file, () => ({
      plain: judgedWith(code, conforming),
      defects: defects.map(({ name, answers }) => ({ name, ...judgedWith(code, answers) })),
    }));
    const { judged, got } = result.plain;
    const all = [result.plain, ...result.defects];
    const leavesNothingOut = rule.where !== undefined && all.every(({ leftOut }) => leftOut === 0);
    const missed = result.defects.find((each) => each.got === null);
    return {
      gap:
        judged === 0
          ? 'it judges no answer of its proof'
          : got !== null
            ? `it fails without a defect: ${got}`
            : missed
              ? `it does not fail for ${missed.name}`
              : null,
      unexercised: [
        ...(leavesNothingOut ? ['`where` leaves out no answer of the proof'] : []),
        ...unexercised.map(
          ({ line, code }) => `no answer of the proof reaches \`${code}\` (${basename(file)}:${line})`,
        ),
      ],
    };
  } catch (thrown) {
    if (thrown instanceof Blocked) return { gap: thrown.message, unexercised: [] };
    throw thrown;
  }
}

function answered(request: OwnAnswer['request'], { status, headers = {}, body }: OwnResponse): OwnAnswer {
  return ownAnswer(request, {
    status,
    headers: lowerCased(headers),
    text: body === undefined ? '' : textOf(body),
  });
}

function judgedWith(code: BoundedCode, answers: readonly OwnAnswer[]) {
  const meant = answers.filter((answer) => code.isMeant(answer));
  const got = meant.map((answer) => code.got(answer, answers)).find((each) => each !== null) ?? null;
  return { judged: meant.length, leftOut: answers.length - meant.length, got };
}
