import { randomUUID } from 'node:crypto';
import { UsageError } from '../../base/exit.ts';
import type { ServiceConfig } from '../../config/service.ts';
import { didYouMean } from '../../config/yaml/nearest.ts';
import { systemClock } from '../../wire/pace/clock.ts';
import type { Kernel } from '../behavior/behavior.ts';
import { epochClock } from '../behavior/clock.ts';
import { accessBy } from '../credentials.ts';
import { openHost } from '../host.ts';
import type { ServedRequest } from '../http/message.ts';
import { CONFORMING } from '../reference.ts';
import { MOCK_DEVIATIONS, type MockDeviation } from './deviations.ts';
import { type MockedMessages, messageSockets } from './message-mock.ts';
import { MockService } from './mock-service.ts';

export interface MockOptions {
  /** A service with the operations of a document. */
  readonly config: Pick<ServiceConfig, 'operations' | 'definitions' | 'credentials'>;
  /** What an AsyncAPI document says; null or absent without one. */
  readonly messages?: MockedMessages | null;
  /** Name of a deviation; null or absent for none. */
  readonly deviation?: string | null;
  /** 0 or absent: any free port. */
  readonly port?: number;
  /** Called for every answered request. */
  readonly log?: (entry: ServedRequest) => void;
}

export interface RunningMock {
  readonly url: string;
  readonly port: number;
  /** Faults of the mock itself: each was answered 500. */
  readonly faults: readonly unknown[];
  /** Number of answers that its deviation has made different so far. */
  deviated(): number;
  stop(): Promise<void>;
}

/** Serves the operations of a document on the loopback interface. Rejects with a UsageError without a free port. */
export async function startMock(options: MockOptions): Promise<RunningMock> {
  const { config, messages = null, deviation, port = 0, log } = options;
  const mock = new MockService(config, deviation ? deviationNamed(deviation) : null);
  const faults: unknown[] = [];
  const kernel: Kernel = {
    service: {
      ...mock.service,
      sockets: messages === null ? [] : messageSockets(messages, !config.credentials.scheme.open),
    },
    access: accessBy('mock', config.credentials),
    plan: null,
    limiter: null,
    origin: null,
    subprotocols: [],
    overTls: false,
    clock: epochClock(systemClock),
    requestId: randomUUID,
    behavior: { ...CONFORMING, compose: mock.compose, webhooks: null },
    report: (fault) => faults.push(fault),
  };
  const host = await openHost(kernel, {
    address: '127.0.0.1',
    port,
    identity: null,
    http2: false,
    log: log ?? (() => undefined),
  });
  return {
    url: `http://127.0.0.1:${host.port}`,
    port: host.port,
    faults,
    deviated: () => mock.deviated,
    stop: () => host.stop(),
  };
}

function deviationNamed(name: string): MockDeviation {
  const found = MOCK_DEVIATIONS.find((each) => each.name === name);
  if (found !== undefined) return found;
  throw new UsageError(`there is no deviation ${JSON.stringify(name)}`, {
    remedy: didYouMean(
      name,
      MOCK_DEVIATIONS.map((each) => each.name),
    ),
  });
}
