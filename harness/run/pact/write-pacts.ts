import { join } from 'node:path';
import { serviceSecrets } from '../../config/secret/secrets-of.ts';
import type { ServiceConfig } from '../../config/service.ts';
import type { EvidenceId } from '../../evidence/exchange.ts';
import { visible } from '../../evidence/octets/visible.ts';
import { createRedaction } from '../../evidence/redaction/redaction.ts';
import { HarnessError, UsageError } from '../../exit.ts';
import { recordPact } from '../../pact/recorder.ts';
import { ensureFolder, writeWhole } from '../../report/whole-file.ts';
import { openHttp } from '../../transport/http/http.ts';
import { systemClock } from '../../transport/pace/clock.ts';
import { pactScript, type ScriptedPact } from './pact-script.ts';

export interface WrittenPact {
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
    throw new UsageError(
      `the contract of ${config.service} shows no request and no event, so there is no pact to write`,
      {
        remedy: 'describe a call as `operations:`',
      },
    );
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
