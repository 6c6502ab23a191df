import type { CheckResult, ServiceResult } from '../results/results.ts';

/** The permalink of a check: `search/auth.missing-credential`. White space cannot stand in an id. */
export function checkAnchor(service: ServiceResult, check: CheckResult): string {
  return safe(`${service.service}/${check.id}`);
}

/** The anchor of a service's suite, where a cell of the matrix leads. */
export function suiteAnchor(service: ServiceResult, suite: string): string {
  return safe(`suite/${service.service}/${suite}`);
}

export function evidenceKey(service: ServiceResult, id: string): string {
  return safe(`${service.service}/${id}`);
}

function safe(text: string): string {
  return text.replace(/[^A-Za-z0-9./_-]/g, '_');
}
