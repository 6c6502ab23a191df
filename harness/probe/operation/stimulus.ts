import type { Stimulus } from '../../session/http/stimulus.ts';
import type { Order } from './plan.ts';

export function stimulusOf(order: Order): Stimulus {
  const { operation, kind, method, path, fields, body, what } = order;
  const content = body === null ? {} : { content: body.text };
  const type = body === null ? [] : ([['Content-Type', body.mediaType]] as const);
  return {
    purpose: `${operation.template} ${what}`,
    method,
    target: () => path,
    fields: [...fields, ...type],
    // They belong to the sample.
    withoutSampleFields: true,
    credential: kind === 'no-credential' || operation.auth === 'none' ? 'none' : 'right',
    ...content,
  };
}
