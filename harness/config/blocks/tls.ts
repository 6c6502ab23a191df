import { X509Certificate } from 'node:crypto';
import { resolve } from 'node:path';
import type { Draft } from '../draft/draft.ts';
import { type Loaded, mapping, text } from '../shape/kinds.ts';
import { readText } from '../yaml/read-text.ts';

export const TLS = mapping(
  'Whom to trust.',
  { expected: 'a mapping such as { ca: ../ca.pem }', nullable: true, def: 'tls' },
  {
    ca: text(
      'PEM file, relative to this one, with the certificates of authorities that are trusted beside the usual ones.',
      { expected: 'the path of a PEM file' },
    ),
  },
);

export interface TlsConfig {
  /** As the config names it. */
  readonly file: string;
  /** Certificates of authorities, in PEM. */
  readonly ca: string;
}

const MAX_BYTES = 1024 * 1024;

/** @throws UsageError for a file that cannot be read, or holds no certificate in PEM. */
export async function buildTls(
  { faultAt, scope }: Draft,
  written: Loaded<typeof TLS> | undefined,
): Promise<TlsConfig | null> {
  const file = written?.ca;
  if (file === undefined) return null;
  const fault = (problem: string, remedy: string) => faultAt('tls.ca', problem, remedy);
  const read = await readText(resolve(scope.folder, file), MAX_BYTES);
  if ('fault' in read) {
    throw fault(
      `the file ${file}: ${read.fault.problem}`,
      `${read.fault.remedy}; it is relative to this file`,
    );
  }
  const certificates = read.text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (certificates.length === 0 || !certificates.every(isCertificate)) {
    throw fault(`the file ${file} holds no certificate in PEM`, 'name the PEM file of the authority');
  }
  return { file, ca: certificates.join('\n') };
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).subject !== undefined;
  } catch {
    return false;
  }
}
