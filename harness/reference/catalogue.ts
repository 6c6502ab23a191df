import { UsageError } from '../base/exit.ts';
import type { ReferenceName } from '../config/service.ts';
import { didYouMean } from '../config/yaml/nearest.ts';
import type { Defect, Variant } from './behavior/deviation.ts';
import { AUTH_DEFECTS } from './defects/auth/auth.ts';
import { CREDENTIAL_DEFECTS } from './defects/auth/credentials.ts';
import { SIGNATURE_DEFECTS } from './defects/auth/signature.ts';
import { TOKEN_ENDPOINT_DEFECTS } from './defects/auth/token-endpoint.ts';
import { CACHING_DEFECTS } from './defects/caching.ts';
import { CONNECTION_DEFECTS } from './defects/connections.ts';
import { EVENT_DEFECTS } from './defects/events.ts';
import {
  MESSAGE_SIGNATURE_DEFECTS,
  TRANSPORT_SECURITY_DEFECTS,
  WRONG_SIGNATURE_DEFECTS,
} from './defects/headers.ts';
import { HTTP2_DEFECTS } from './defects/http2.ts';
import { INSTANCE_DEFECTS } from './defects/instances.ts';
import { JSON_DEFECTS } from './defects/json.ts';
import { LIMIT_COUNTING_DEFECTS } from './defects/limits/counting.ts';
import { QUOTA_FIELD_DEFECTS } from './defects/limits/quota-fields.ts';
import { LIMIT_DEFECTS } from './defects/limits/refusal.ts';
import { SEVERAL_LIMITS_DEFECTS } from './defects/limits/several.ts';
import { NEGOTIATION_DEFECTS } from './defects/negotiation.ts';
import { ACCOUNT_DEFECTS, DELAY_DEFECTS, LIFECYCLE_DEFECTS } from './defects/operations/items.ts';
import { CANCELLATION_DEFECTS, JOB_DEFECTS } from './defects/operations/jobs.ts';
import { BODY_DEFECTS, CONSTRAINT_DEFECTS, OPERATION_DEFECTS } from './defects/operations/operations.ts';
import { PAGE_DEFECTS } from './defects/operations/pages.ts';
import { COOKIELESS_PAGE_DEFECTS, ITEM_PAGE_DEFECTS, PAGE_ORIGIN_DEFECTS } from './defects/pages.ts';
import { PATH_DEFECTS } from './defects/paths.ts';
import { METHOD_DEFECTS, ROBUSTNESS_DEFECTS } from './defects/status/methods.ts';
import { STATUS_DEFECTS } from './defects/status/status.ts';
import { VERSIONING_DEFECTS } from './defects/versioning.ts';
import { WEBHOOK_DEFECTS } from './defects/webhooks.ts';
import { WEBSOCKET_CLOSING_DEFECTS } from './defects/websocket/closing.ts';
import { WEBSOCKET_COMPRESSION_DEFECTS } from './defects/websocket/compression.ts';
import { WEBSOCKET_CREDENTIAL_DEFECTS } from './defects/websocket/credentials.ts';
import { DOCUMENTED_MESSAGE_DEFECTS } from './defects/websocket/documented.ts';
import { WEBSOCKET_FRAME_DEFECTS } from './defects/websocket/frames.ts';
import { WEBSOCKET_LIVENESS_DEFECTS } from './defects/websocket/liveness.ts';
import { WEBSOCKET_MESSAGE_DEFECTS } from './defects/websocket/messages.ts';
import { WEBSOCKET_HANDSHAKE_DEFECTS } from './defects/websocket/opening.ts';
import { OWN_DIALECT_DEFECTS, PUSHER_DEFECTS } from './defects/websocket/pusher.ts';
import { AUTH_VARIANTS, TOKEN_ENDPOINT_VARIANTS } from './variants/auth.ts';
import { CONNECTION_VARIANTS, INSTANCE_VARIANTS } from './variants/connections.ts';
import { CACHING_VARIANTS, CONTENT_VARIANTS, NEGOTIATION_VARIANTS } from './variants/content.ts';
import { DIALECT_VARIANTS } from './variants/dialects.ts';
import { EVENT_VARIANTS } from './variants/events.ts';
import { MESSAGE_SIGNATURE_VARIANTS, TRANSPORT_SECURITY_VARIANTS } from './variants/headers.ts';
import { HTTP2_VARIANTS } from './variants/http2.ts';
import { CANCELLATION_VARIANTS, ITEM_VARIANTS } from './variants/items.ts';
import { MESSAGE_VARIANTS } from './variants/messages.ts';
import {
  ACCOUNT_VARIANTS,
  BODY_VARIANTS,
  DELAY_VARIANTS,
  INPUT_VARIANTS,
  LIFECYCLE_VARIANTS,
  SPEED_VARIANTS,
} from './variants/operations.ts';
import { PAGE_VARIANTS } from './variants/pages.ts';
import { PATH_VARIANTS } from './variants/paths.ts';
import { QUOTA_VARIANTS } from './variants/quota.ts';
import { STATUS_VARIANTS } from './variants/status.ts';
import { WEBHOOK_VARIANTS } from './variants/webhooks.ts';
import { WEBSOCKET_VARIANTS } from './variants/websocket.ts';

const DEFECTS: readonly Defect[] = [
  ...AUTH_DEFECTS,
  ...CREDENTIAL_DEFECTS,
  ...SIGNATURE_DEFECTS,
  ...TOKEN_ENDPOINT_DEFECTS,
  ...STATUS_DEFECTS,
  ...METHOD_DEFECTS,
  ...ROBUSTNESS_DEFECTS,
  ...PATH_DEFECTS,
  ...INSTANCE_DEFECTS,
  ...CONNECTION_DEFECTS,
  ...CACHING_DEFECTS,
  ...HTTP2_DEFECTS,
  ...NEGOTIATION_DEFECTS,
  ...JSON_DEFECTS,
  ...TRANSPORT_SECURITY_DEFECTS,
  ...MESSAGE_SIGNATURE_DEFECTS,
  ...WRONG_SIGNATURE_DEFECTS,
  ...VERSIONING_DEFECTS,
  ...PAGE_ORIGIN_DEFECTS,
  ...COOKIELESS_PAGE_DEFECTS,
  ...ITEM_PAGE_DEFECTS,
  ...OPERATION_DEFECTS,
  ...CONSTRAINT_DEFECTS,
  ...BODY_DEFECTS,
  ...LIFECYCLE_DEFECTS,
  ...ACCOUNT_DEFECTS,
  ...DELAY_DEFECTS,
  ...PAGE_DEFECTS,
  ...JOB_DEFECTS,
  ...CANCELLATION_DEFECTS,
  ...LIMIT_DEFECTS,
  ...LIMIT_COUNTING_DEFECTS,
  ...SEVERAL_LIMITS_DEFECTS,
  ...QUOTA_FIELD_DEFECTS,
  ...WEBSOCKET_HANDSHAKE_DEFECTS,
  ...WEBSOCKET_CREDENTIAL_DEFECTS,
  ...WEBSOCKET_FRAME_DEFECTS,
  ...WEBSOCKET_CLOSING_DEFECTS,
  ...WEBSOCKET_COMPRESSION_DEFECTS,
  ...WEBSOCKET_MESSAGE_DEFECTS,
  ...DOCUMENTED_MESSAGE_DEFECTS,
  ...WEBSOCKET_LIVENESS_DEFECTS,
  ...PUSHER_DEFECTS,
  ...WEBHOOK_DEFECTS,
  ...EVENT_DEFECTS,
  ...OWN_DIALECT_DEFECTS,
];

const VARIANTS: readonly Variant[] = [
  ...AUTH_VARIANTS,
  ...TOKEN_ENDPOINT_VARIANTS,
  ...STATUS_VARIANTS,
  ...TRANSPORT_SECURITY_VARIANTS,
  ...MESSAGE_SIGNATURE_VARIANTS,
  ...WEBHOOK_VARIANTS,
  ...EVENT_VARIANTS,
  ...INSTANCE_VARIANTS,
  ...CONNECTION_VARIANTS,
  ...BODY_VARIANTS,
  ...INPUT_VARIANTS,
  ...SPEED_VARIANTS,
  ...LIFECYCLE_VARIANTS,
  ...ITEM_VARIANTS,
  ...CANCELLATION_VARIANTS,
  ...ACCOUNT_VARIANTS,
  ...DELAY_VARIANTS,
  ...CONTENT_VARIANTS,
  ...PATH_VARIANTS,
  ...PAGE_VARIANTS,
  ...CACHING_VARIANTS,
  ...NEGOTIATION_VARIANTS,
  ...QUOTA_VARIANTS,
  ...WEBSOCKET_VARIANTS,
  ...MESSAGE_VARIANTS,
  ...DIALECT_VARIANTS,
  ...HTTP2_VARIANTS,
];

function ofService<N extends Defect | Variant>(
  all: readonly N[],
  service: ReferenceName | undefined,
): readonly N[] {
  return service === undefined ? all : all.filter(({ services }) => services.includes(service));
}

/** All defects, or those that one service can have. */
export function listDefects(service?: ReferenceName): readonly Defect[] {
  return ofService(DEFECTS, service);
}

/** All variants, or those that one service can have. */
export function listVariants(service?: ReferenceName): readonly Variant[] {
  return ofService(VARIANTS, service);
}

function find<N extends Defect | Variant>(
  kind: string,
  all: readonly N[],
  name: string,
  service: ReferenceName,
): N {
  const found = all.find((candidate) => candidate.name === name);
  if (found === undefined) {
    const known = ofService(all, service).map((candidate) => candidate.name);
    throw new UsageError(`there is no ${kind} ${JSON.stringify(name)}`, { remedy: didYouMean(name, known) });
  }
  if (!found.services.includes(service)) {
    throw new UsageError(`${service} cannot have the ${kind} ${name}`, {
      remedy: `it concerns ${found.services.join(' and ')}`,
    });
  }
  return found;
}

/** The defect of that name; a UsageError with the nearest names when this service has none. */
export function findDefect(name: string, service: ReferenceName): Defect {
  return find('defect', DEFECTS, name, service);
}

/** The variant of that name; a UsageError with the nearest names when this service has none. */
export function findVariant(name: string, service: ReferenceName): Variant {
  return find('variant', VARIANTS, name, service);
}
