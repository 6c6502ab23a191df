import { writeFileSync } from 'node:fs';
import { ACCEPTED, KNOWN } from '../baseline.ts';
import { contractSchema } from '../contract.ts';
import { oneFileSchema } from '../one-file.ts';
import { SERVICE } from '../service.ts';
import { jsonSchemaOf } from '../shape/json-schema.ts';

/** The schemas that ship for editors, by their file in `config/`. */
export function shippedSchemas(): Readonly<Record<string, object>> {
  return {
    'accepted.schema.json': jsonSchemaOf('accepted observations', ACCEPTED.shape),
    'conform.schema.json': oneFileSchema(),
    'contract.schema.json': contractSchema(),
    'known.schema.json': jsonSchemaOf('known failures', KNOWN.shape),
    'service.schema.json': jsonSchemaOf('service config', SERVICE),
  };
}

// `npm run schemas`, after a change of the vocabulary or of a declaration; the formatter gives them their form.
if (import.meta.main) {
  for (const [file, schema] of Object.entries(shippedSchemas())) {
    writeFileSync(new URL(`../../../config/${file}`, import.meta.url), JSON.stringify(schema));
  }
}
