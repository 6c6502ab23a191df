import { join } from 'node:path';
import { type Contract, documentedSample, findClause } from '../../base/clause.ts';
import { HarnessError, UsageError } from '../../base/exit.ts';
import { hasMembers, isJsonObject } from '../../base/json-text.ts';
import { placeCredential } from '../../config/credential/placing.ts';
import { type Credentials, exampleOf } from '../../config/credential/scheme.ts';
import { none } from '../../config/credential/schemes/none.ts';
import { VALID_CREDENTIAL } from '../../config/pact/pacts.ts';
import { serviceSecrets } from '../../config/secrets.ts';
import type { Operation, ServiceConfig } from '../../config/service.ts';
import { recordPact } from '../../providers/pact/recorder.ts';
import type {
  ExpectedField,
  ExpectedText,
  PactScript,
  RecordedCall,
  RecordedMessage,
} from '../../providers/pact/recording.ts';
import { ensureFolder, writeWhole } from '../../report/whole-file.ts';
import type { EvidenceId } from '../../wire/exchange.ts';
import { openHttp } from '../../wire/http/http-client.ts';
import { visible } from '../../wire/octets/visible.ts';
import { systemClock } from '../../wire/pace/clock.ts';
import { createRedaction } from '../../wire/redaction/redaction.ts';
import type { HttpRequest } from '../../wire/request.ts';
import { pathOf, queryOf } from '../../wire/request.ts';

interface WrittenPact {
  readonly path: string;
  readonly interactions: number;
  /** What the pact leaves out, one line each. */
  readonly leftOut: readonly string[];
}

const TIMEOUTS = { connectMs: 5_000, responseMs: 5_000 };

/**
 * Records the pact of one service with the harness's own client and puts it in the folder, in place of an earlier one
 * of that name. Nothing is sent to the service.
 *
 * @throws UsageError when there is nothing to write down.
 */
export async function writePact(
  config: ServiceConfig,
  folder: string,
  userAgent: string,
): Promise<WrittenPact> {
  const scripted = pactScript(config);
  const { script, leftOut } = scripted;
  const interactions = script.calls.length + script.messages.length;
  if (interactions === 0) {
    const problem = `the contract of ${config.service} shows no request and no event`;
    throw new UsageError(`${problem}, so there is no pact to write`, {
      remedy: 'describe a call as `operations:`',
    });
  }
  const text = await recordPact(script, (index, url) => makeCall(scripted, index, url, userAgent));
  const redaction = createRedaction(serviceSecrets(config));
  if (redaction.sink(text) !== text)
    throw new HarnessError(`a secret would have got into the pact of ${config.service}`);
  ensureFolder(folder, folder);
  const path = join(folder, `${config.service}.json`);
  writeWhole(path, text);
  return { path, interactions, leftOut };
}

async function makeCall(
  { script, requests }: ScriptedPact,
  index: number,
  url: string,
  userAgent: string,
): Promise<void> {
  const [request, call] = [requests[index], script.calls[index]];
  if (request === undefined || call === undefined)
    throw new HarnessError('Pact waits for a call that nobody wrote');
  const http = openHttp({
    baseUrl: url,
    timeouts: TIMEOUTS,
    redaction: createRedaction(),
    clock: systemClock,
    userAgent,
    runId: 'pact',
  });
  try {
    const about = { id: 'e1' as EvidenceId, purpose: call.description, credential: 'right' } as const;
    const { response, failure } = await http.send(request, about);
    const said = response === null ? '' : visible(Buffer.from(response.body.bytes).toString('utf8'), 500);
    const got = failure?.message ?? `status ${response?.status}: ${said}`;
    if (response?.status !== call.response.status) {
      throw new HarnessError(`Pact's mock server answered ${call.description} with ${got}`);
    }
  } finally {
    await http.close();
  }
}

/** What a pact is recorded of, and what had to be left out of it. */
interface ScriptedPact {
  readonly script: PactScript;
  /** The requests of the script's calls, ready to be sent. */
  readonly requests: readonly HttpRequest[];
  /** One line each. */
  readonly leftOut: readonly string[];
}

/** Whoever does what the documents show. */
const CONSUMER = 'sample-client';

/** Signatures are dated; this date makes them the same each time. */
const EXAMPLE_DATE = new Date('2026-01-01T00:00:00Z');

/** RFC 8259 §11 and RFC 6839 §3.1, with parameters or without. Media types know no case (RFC 9110 §8.3.1). */
const JSON_TYPE: ExpectedText = {
  example: 'application/json',
  pattern: '^(?i:application/json|[a-z0-9!#$&^_.+-]+/[a-z0-9!#$&^_.+-]+\\+json)\\s*(;.*)?$',
};

/**
 * What the contract and the config of a service state, as a consumer would write it down: the documented sample, the
 * operations, and the events whose content is shown. Nothing else is expected: neither fields of a body nor values.
 */
export function pactScript(config: ServiceConfig): ScriptedPact {
  const { contract, credentials, operations, pacts } = config;
  const leftOut: string[] = [];
  const calls: { readonly call: RecordedCall; readonly request: HttpRequest }[] = [];
  const sample = documentedSample(contract);
  if (sample === null) leftOut.push('the sample: the contract shows none');
  else {
    const { method, path, fields, body } = sample;
    const bare = {
      method,
      target: path,
      fields: withoutCredentialField(fields, contract),
      body: body === null ? null : Buffer.from(body),
    };
    const type = answersJson(contract) ? [['Content-Type', JSON_TYPE] as const] : [];
    calls.push(scripted('the documented sample', bare, credentials, { status: 200, fields: type }));
  }
  for (const operation of operations) {
    if (operation.uncallable === null) calls.push(scriptedOperation(operation, credentials));
    else leftOut.push(`the operation ${operation.id}: ${operation.uncallable}`);
  }
  const messages = scriptedMessages(contract, leftOut);
  return {
    script: {
      consumer: CONSUMER,
      provider: pacts?.provider ?? contract.name,
      calls: calls.map(({ call }) => call),
      messages,
    },
    requests: calls.map(({ request }) => request),
    leftOut,
  };
}

function scriptedOperation(operation: Operation, credentials: Credentials) {
  const { id, method, path, fields, body, response, auth } = operation;
  const typed = body === null || fields.some(([name]) => name.toLowerCase() === 'content-type');
  const bare: HttpRequest = {
    method,
    target: path,
    fields: typed ? fields : [...fields, ['Content-Type', body.mediaType]],
    body: body === null ? null : Buffer.from(body.text),
  };
  const json = response.schema !== null || response.mediaTypes.some((type) => /[/+]json$/.test(type));
  return scripted(`the operation ${id}`, bare, auth === 'none' ? none.of({}) : credentials, {
    status: response.status,
    fields: json ? [['Content-Type', JSON_TYPE]] : [],
  });
}

/** The call with an example in place of the credential, wherever the configured scheme puts it. */
function scripted(
  description: string,
  bare: HttpRequest,
  credentials: Credentials,
  response: RecordedCall['response'],
): { readonly call: RecordedCall; readonly request: HttpRequest } {
  const request = placeCredential(bare, 'right', exampleOf(credentials), { at: EXAMPLE_DATE });
  const own = new Set([...bare.fields.map(([name]) => name), ...queryOf(bare.target).map(([name]) => name)]);
  const expected = ([name, value]: readonly [string, string]): ExpectedField => [
    name,
    own.has(name) ? { example: value } : { example: value, pattern: credentialPattern(value) },
  ];
  const body = request.body ?? null;
  const mediaType = request.fields.find(([name]) => name.toLowerCase() === 'content-type')?.[1];
  return {
    request,
    call: {
      description,
      states: credentials.carrier === null ? [] : [VALID_CREDENTIAL],
      request: {
        method: request.method,
        path: decodeURI(pathOf(request.target)),
        query: queryOf(request.target).map(expected),
        fields: request.fields.map(expected),
        body: body && {
          mediaType: mediaType ?? 'application/octet-stream',
          text: Buffer.from(body).toString(),
        },
      },
      response,
    },
  };
}

/** `Bearer EXAMPLE_API_KEY` gives `^Bearer \S+$`. */
function credentialPattern(value: string): string {
  const [, scheme = ''] = /^([A-Za-z]+ )\S+$/.exec(value) ?? [];
  return `^${scheme}\\S+$`;
}

function withoutCredentialField(fields: Readonly<Record<string, string>>, contract: Contract) {
  const value = findClause(contract, 'endpoint.sample')?.value;
  const named = isJsonObject(value) ? String(value.credentialField ?? '') : '';
  const dropped = new Set([named.toLowerCase(), 'authorization']);
  return Object.entries(fields).filter(([name]) => !dropped.has(name.toLowerCase()));
}

/** The sample's row or the style of all responses says so. */
function answersJson(contract: Contract): boolean {
  const sample = findClause(contract, 'endpoint.sample')?.value;
  const response = isJsonObject(sample) ? sample.response : null;
  const format = findClause(contract, 'responses.format');
  return (
    /\bJSON\b/i.test(String(response)) ||
    (format?.standing === 'stated' && /\bJSON\b/i.test(String(format.value)))
  );
}

/** One message per kind of event whose content the contract shows; the types of its values are expected. */
function scriptedMessages(contract: Contract, leftOut: string[]): readonly RecordedMessage[] {
  const kinds = findClause(contract, 'events.kinds');
  const payloads = findClause(contract, 'events.payloads');
  if (kinds?.standing !== 'stated' || payloads?.standing !== 'stated' || !Array.isArray(kinds.value)) {
    const open = kinds?.standing === 'stated' ? 'what its events carry' : 'the kinds of its events';
    leftOut.push(`messages: the contract does not show ${open}`);
    return [];
  }
  const shown = new Map(isJsonObject(payloads.value) ? Object.entries(payloads.value) : []);
  return kinds.value.flatMap((kind: unknown): RecordedMessage[] => {
    const content = shown.get(String(kind));
    if (hasMembers(content)) return [{ description: `the event ${String(kind)}`, content }];
    leftOut.push(`the event ${String(kind)}: the contract does not show what it carries`);
    return [];
  });
}
