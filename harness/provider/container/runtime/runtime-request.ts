import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { parseJson } from '../../../json-text.ts';

/** Where a container runtime listens. */
export type Address = { readonly socketPath: string } | { readonly host: string; readonly port: number };

/** Octets of an answer that are read. */
const LONGEST_ANSWER = 1024 * 1024;

interface RuntimeAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly fields: IncomingHttpHeaders;
  /** null when the content is none. */
  readonly json: unknown;
}

/**
 * GETs a path of a runtime's interface. Rejects with an AbortError when it takes longer than `timeoutMs`, and when
 * nobody answers.
 */
export async function get(address: Address, path: string, timeoutMs: number): Promise<RuntimeAnswer> {
  const signal = AbortSignal.timeout(timeoutMs);
  return new Promise((resolve, reject) => {
    const asked = request({ ...address, path, agent: false, signal }, (response: IncomingMessage) => {
      const chunks: Buffer[] = [];
      let length = 0;
      response.on('data', (chunk: Buffer) => {
        length += chunk.length;
        if (length > LONGEST_ANSWER) response.destroy(new Error('its answer does not end'));
        else chunks.push(chunk);
      });
      response.on('error', reject);
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          fields: response.headers,
          json: parseJson(Buffer.concat(chunks).toString('utf8')),
        }),
      );
    });
    asked.on('error', reject);
    asked.end();
  });
}
