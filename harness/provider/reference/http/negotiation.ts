import { listMembers, type ReceivedRequest } from './message.ts';

interface Weighed {
  readonly name: string;
  readonly acceptable: boolean;
}

/** The members of an Accept field, each with whether its weight is above 0 (RFC 9110 §12.4.2). */
function weighed(request: ReceivedRequest, field: string): readonly Weighed[] {
  return listMembers(request, field).map((member) => {
    const [name = '', ...parameters] = member.split(';').map((part) => part.trim());
    return { name, acceptable: !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter)) };
  });
}

/** Whether the most specific of the names that is mentioned is acceptable; null when none is mentioned. */
function verdictOn(members: readonly Weighed[], names: readonly string[]): boolean | null {
  for (const name of names) {
    const member = members.find((candidate) => candidate.name === name);
    if (member !== undefined) return member.acceptable;
  }
  return null;
}

/** Whether the client accepts JSON (RFC 9110 §12.5.1); without an Accept field it does. */
export function acceptsJson(request: ReceivedRequest): boolean {
  const members = weighed(request, 'accept');
  return members.length === 0 || verdictOn(members, ['application/json', 'application/*', '*/*']) === true;
}

/** Whether the client accepts gzip (RFC 9110 §12.5.3); without an Accept-Encoding field it is not assumed. */
export function acceptsGzip(request: ReceivedRequest): boolean {
  return verdictOn(weighed(request, 'accept-encoding'), ['gzip', '*']) === true;
}
