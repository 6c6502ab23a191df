import { baseUrl } from '../blocks/address.ts';
import { text } from '../shape/kinds.ts';

export const URL_KEYS = {
  url: text('Base address of a running service; paths are appended to it.', {
    expected: 'an http or https URL',
    examples: ['https://api.example', `\${env:SEARCH_STAGING_URL}`],
    read: baseUrl,
  }),
};

export interface UrlProvider {
  readonly kind: 'url';
  readonly url: string;
}
