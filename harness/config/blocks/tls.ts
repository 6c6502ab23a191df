import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { relative, resolve } from 'node:path';
import { revealed, Secret } from '../../base/secret.ts';
import type { ClientCertificate, TlsConfig } from '../../wire/socket/options.ts';
import type { Draft } from '../draft/draft.ts';
import { readSecretText } from '../draft/secret.ts';
import { flag, mapping, secret, text } from '../shape/kinds.ts';
import type { Loaded } from '../shape/loaded.ts';

const PEM = { expected: 'the path of a PEM file' } as const;

export const TLS = mapping(
  'Which certificates to trust, and which client certificate to show.',
  { expected: 'a mapping such as { ca: ../ca.pem }', nullable: true, def: 'tls' },
  {
    ca: text('PEM file, relative to this one, with the certificates of further authorities to trust.', PEM),
    cert: text(
      'PEM file, relative to this one, with the client certificate for mutual TLS, and the intermediate certificates after it.',
      PEM,
    ),
    key: text('PEM file, relative to this one, with the private key of the client certificate.', PEM),
    passphrase: secret('Passphrase of the private key, if its file is encrypted.'),
    insecure: flag(
      'Accept any certificate. Only for test systems: another server may answer then, and see the key. Each run and each report warns of it, and a strict run refuses it.',
      { default: false },
    ),
  },
);

export const HTTP2 = flag(
  'Ask the service over HTTP/2: by ALPN over TLS, by prior knowledge over plain http. Rules about the bytes of HTTP/1.1 still use that, if the service speaks it. Default: HTTP/1.1, unless the service speaks HTTP/2 alone.',
);

type TlsBlock = Loaded<typeof TLS>;

const MAX_BYTES = 1024 * 1024;
/** As many characters of a key as a piece of evidence can be searched for. */
const LONGEST_KEY = 16_384;

/** @throws UsageError for a file that cannot be read, or does not hold what it should. */
export async function buildTls(draft: Draft, written?: TlsBlock): Promise<TlsConfig | null> {
  if (written === undefined) return null;
  const { faultAt, scope } = draft;
  const { ca, cert, key, passphrase, insecure } = written;
  // Nothing is sent where a record is judged.
  const isSent = scope.standIns === undefined;
  const path = (file: string | undefined) =>
    file === undefined ? null : relative('.', resolve(scope.folder, file));
  if (key !== undefined && cert === undefined)
    throw faultAt('tls.key', 'belongs to a client certificate, and there is none', 'add `cert:`');
  if (cert !== undefined && key === undefined)
    throw faultAt('tls.cert', 'is of no use without its private key', 'add `key:`');
  if (passphrase !== undefined && key === undefined)
    throw faultAt('tls.passphrase', 'opens a private key, and there is none', 'add `key:`, or remove it');
  return {
    files: { ca: path(ca), cert: path(cert), key: path(key) },
    ca: ca !== undefined && isSent ? await certificatesIn(draft, 'tls.ca', ca, 'of the authority') : null,
    client:
      cert !== undefined && key !== undefined && isSent
        ? await clientOf(draft, { cert, key, passphrase })
        : null,
    insecure,
  };
}

type ClientFiles = Required<Pick<TlsBlock, 'cert' | 'key'>> & { passphrase: string | undefined };

async function clientOf(draft: Draft, { cert, key, passphrase }: ClientFiles): Promise<ClientCertificate> {
  const certificate = await certificatesIn(draft, 'tls.cert', cert, 'of the client certificate');
  const pem = await draft.textBeside('tls.key', key, MAX_BYTES);
  // It opens the key here and is forgotten then, so that it need not be fit to be searched for.
  const phrase = passphrase === undefined ? null : await readSecretText(draft, 'tls.passphrase', passphrase);
  const opened = privateKey(draft, key, pem, phrase && revealed(phrase));
  if (!new X509Certificate(certificate).checkPrivateKey(opened)) {
    const problem = `is not the key of the certificate in ${cert}`;
    throw draft.faultAt('tls.key', problem, 'name the key that it was made with');
  }
  const text = opened.export({ type: 'pkcs8', format: 'pem' }).toString();
  if (text.length > LONGEST_KEY)
    throw draft.faultAt('tls.key', `is longer than ${LONGEST_KEY} characters`, 'use a shorter one');
  return { certificate, key: new Secret('CLIENT_CERTIFICATE_KEY', text) };
}

function privateKey({ faultAt }: Draft, file: string, pem: string, passphrase: string | null): KeyObject {
  try {
    return createPrivateKey({ key: pem, ...(passphrase !== null && { passphrase }) });
  } catch {
    if (pem.includes('ENCRYPTED')) {
      throw passphrase === null
        ? faultAt('tls.key', `the file ${file} is encrypted`, `add \`passphrase: \${env:NAME}\``)
        : faultAt('tls.passphrase', `does not open the key in ${file}`, 'correct it');
    }
    throw faultAt('tls.key', `the file ${file} holds no private key in PEM`, 'name the PEM file of the key');
  }
}

async function certificatesIn(draft: Draft, place: string, file: string, whose: string): Promise<string> {
  const pem = await draft.textBeside(place, file, MAX_BYTES);
  const certificates = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (certificates.length > 0 && certificates.every(isCertificate)) return certificates.join('\n');
  throw draft.faultAt(place, `the file ${file} holds no certificate in PEM`, `name the PEM file ${whose}`);
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).subject !== undefined;
  } catch {
    return false;
  }
}
