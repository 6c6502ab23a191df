import { isLoopback } from '../../base/loopback.ts';
import { text } from '../shape/kinds.ts';
import { baseUrl } from '../shape/text-forms.ts';
import { providerKind } from './kind.ts';

export interface UrlProvider {
  readonly kind: 'url';
  readonly url: string;
}

export const url = providerKind('url', {
  keys: {
    url: text('Base URL of a service that runs already. Paths are appended to it.', {
      expected: 'an http or https URL',
      examples: ['https://api.example', `\${env:SEARCH_STAGING_URL}`],
      references: 'open',
      read: baseUrl,
    }),
  },
  build: (said): UrlProvider => ({ kind: 'url', url: said }),
  staysHere: (provider) => isLoopback(new URL(provider.url).hostname),
  addressOf: (provider) => provider.url,
});
