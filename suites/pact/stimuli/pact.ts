import { documentedSample, type Sample } from '../../../harness/base/clause.ts';
import type { ExpectedInteraction } from '../../../harness/config/pact/pacts.ts';
import type { ServiceConfig } from '../../../harness/config/service.ts';
import type { Verification } from '../../../harness/engine/session/pact/verification.ts';
import { type Probe, probe } from '../../../harness/engine/session/probe.ts';
import { visible } from '../../../harness/wire/octets/utf8.ts';

export { INTERACTION } from '../../../harness/engine/session/pact/verification.ts';

/** An interaction that a consumer expects, and the result of its verification. */
interface InteractionCase {
  readonly key: string;
  readonly title: string;
  /** Why a mismatch is known beforehand; null when it is not. */
  readonly known: string | null;
  /** It asks what the contract documents as its sample, and expects it served. */
  readonly isSample: boolean;
  readonly verification: Probe<Verification>;
}

/** Every interaction of the service's pacts. */
export function interactions({ pacts, contract }: ServiceConfig): readonly InteractionCase[] {
  const sample = documentedSample(contract);
  return (pacts?.interactions ?? []).map((each) => caseOf(each, sample));
}

function caseOf(interaction: ExpectedInteraction, sample: Sample | null): InteractionCase {
  const { id, consumer, description, states, pending } = interaction;
  const given = states.length === 0 ? '' : `, given ${states.join(' and ')}`;
  return {
    key: id,
    title: `answers ${visible(consumer, 100)} as its pact says: ${visible(`${description}${given}`, 200)}`,
    known: pending ? 'the pact is pending: the provider has never fulfilled it' : null,
    isSample: sample !== null && asks(interaction, sample),
    verification: probe(`pact ${id}`, ({ pact }) => pact.verify(interaction)),
  };
}

function asks({ method, status, pact }: ExpectedInteraction, sample: Sample): boolean {
  const { interactions } = JSON.parse(pact) as { interactions?: { request?: { path?: unknown } }[] };
  return method === sample.method && status === 200 && interactions?.[0]?.request?.path === sample.path;
}
