import { documentedSample } from '../../base/clause.ts';
import { pathValues } from '../../config/operation/call/call.ts';
import type { ServiceConfig } from '../../config/service.ts';
import type { Evidence } from '../../wire/evidence.ts';

/**
 * The subject that a piece of evidence is about; the service for any that no document names. `basePath`: begins each
 * target, from the provider's address.
 */
export function subjectOf(evidence: Evidence | null, config: ServiceConfig, basePath: string): string {
  const { service, operations, contract, websocket } = config;
  if (evidence?.kind === 'conversation') {
    return websocket === null ? service : `WebSocket ${pathOf(websocket.url)}`;
  }
  if (evidence?.kind !== 'exchange') return service;
  const { method, target } = evidence.request;
  const path = pathOf(target);
  const below = path.startsWith(basePath) ? path.slice(basePath.length) : path;
  const sample = documentedSample(contract);
  const templates = [
    ...operations.filter((each) => each.method === method).map(({ template }) => template),
    ...(sample?.method === method ? [pathOf(sample.path)] : []),
  ];
  const template =
    templates.find((each) => each === below) ?? templates.find((each) => pathValues(each, below) !== null);
  return template === undefined ? service : `${method} ${template}`;
}

/** The path of a target or an address, without its query. */
function pathOf(target: string): string {
  const [path = ''] = (URL.canParse(target) ? new URL(target).pathname : target).split(/[?#]/, 1);
  return path;
}
