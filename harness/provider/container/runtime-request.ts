import { type IncomingMessage, request } from 'node:http';

/** Where a container runtime listens. */
export type Address = { readonly socketPath: string } | { readonly host: string; readonly port: number };

/** Octets of an answer that are read. */
const LONGEST_ANSWER = 1024 * 1024;

/**
 * GETs a path of a runtime's interface; `json` is null when the content is none. Rejects with an AbortError when it
 * takes longer than `timeoutMs`, and when nobody answers.
 */
export async function getJson(
  address: Address,
  path: string,
  timeoutMs: number,
): Promise<{ readonly status: number; readonly json: unknown }> {
  const signal = AbortSignal.timeout(timeoutMs);
  const { status, text } = await new Promise<{ status: number; text: string }>((resolve, reject) => {
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
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }),
      );
    });
    asked.on('error', reject);
    asked.end();
  });
  return { status, json: parsed(text) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
