import type { Results, ServiceResult } from '../results/results.ts';
import { counted } from '../results/tally.ts';
import { html, type Markup } from './markup.ts';
import { timeline } from './timeline.ts';

/** What each request was for, service by service, and a picture of the rate limit where one was met. */
export function requests(results: Results): Markup | null {
  const services = results.services.filter(({ ledger }) => ledger.length > 0);
  if (services.length === 0) return null;
  return html`<section id="requests" aria-labelledby="requests-title"><h2 id="requests-title">Requests</h2>
<p class="lead">What each was for, in the order sent. One answer feeds many checks.</p>
${services.map(ledger)}</section>`;
}

function ledger(service: ServiceResult): Markup {
  const sum = service.ledger.reduce((total, line) => total + line.requests, 0);
  return html`<h3>${service.service} <span class="of">${counted(sum, 'request')}</span></h3>
${timeline(service)}
<details class="ledger"><summary>Ledger of ${service.service}</summary><div class="scroll" tabindex="0" role="group" aria-label="Ledger of ${service.service}"><table><caption>Requests of ${service.service} in the order sent</caption>
<thead><tr><th scope="col">Evidence</th><th scope="col">Purpose</th><th scope="col" class="number">Requests</th></tr></thead>
<tbody>${service.ledger.map(
    ({ evidence, purpose, requests: n }) =>
      html`<tr><th scope="row"><code>${evidence}</code></th><td>${purpose}</td><td class="number">${n}</td></tr>`,
  )}</tbody></table></div></details>`;
}
