import { listMembers, type ReceivedRequest } from './message.ts';

interface Weighed {
  readonly name: string;
  /** From 0 to 1 (RFC 9110 §12.4.2). */
  readonly weight: number;
}

/** The members of an Accept field, each with its weight. */
function weighed(request: ReceivedRequest, field: string): readonly Weighed[] {
  return listMembers(request, field).map((member) => {
    const [name = '', ...parameters] = member.split(';').map((part) => part.trim());
    const weight = parameters.find((parameter) => /^q=[01](\.\d*)?$/.test(parameter));
    return { name, weight: weight === undefined ? 1 : Number(weight.slice(2)) };
  });
}

/** The weight of the most specific of the names that is mentioned; null when none is mentioned. */
function weightOf(members: readonly Weighed[], names: readonly string[]): number | null {
  for (const name of names) {
    const member = members.find((candidate) => candidate.name === name);
    if (member !== undefined) return member.weight;
  }
  return null;
}

/** How much the client wants a media type (RFC 9110 §12.5.1); without an Accept field all are wanted alike. */
export function wantOfType(request: ReceivedRequest, type: string): number {
  const members = weighed(request, 'accept');
  const range = type.replace(/\/.*/, '/*');
  return members.length === 0 ? 1 : (weightOf(members, [type, range, '*/*']) ?? 0);
}

/** Whether the client accepts JSON. */
export function acceptsJson(request: ReceivedRequest): boolean {
  return wantOfType(request, 'application/json') > 0;
}

/** How much the client wants a content coding (RFC 9110 §12.5.3); without an Accept-Encoding field none is assumed. */
export function wantOfCoding(request: ReceivedRequest, coding: string): number {
  return weightOf(weighed(request, 'accept-encoding'), [coding, '*']) ?? 0;
}

/** Whether the client accepts gzip. */
export function acceptsGzip(request: ReceivedRequest): boolean {
  return wantOfCoding(request, 'gzip') > 0;
}
