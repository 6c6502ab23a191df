import { writeFileSync } from 'node:fs';
import { contractSchema } from '../contract/contract-schema.ts';
import { SERVICE } from '../service.ts';
import { jsonSchemaOf, jsonText } from '../shape/json-schema.ts';

/** The schemas that ship for editors, by their file in `config/`, as they must stand there. */
export function shippedSchemas(): Readonly<Record<string, string>> {
  return {
    'contract.schema.json': jsonText(contractSchema()),
    'service.schema.json': jsonText(jsonSchemaOf('conform service config', SERVICE)),
  };
}

// `npm run schemas`, after a change of the vocabulary or of a declaration.
if (import.meta.main) {
  for (const [file, text] of Object.entries(shippedSchemas())) {
    writeFileSync(new URL(`../../../config/${file}`, import.meta.url), text);
  }
}
