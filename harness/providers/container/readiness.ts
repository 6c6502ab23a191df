import type { Companion, ContainerProvider } from '../../config/provider/started-provider.ts';
import { type Asker, httpProbe, logProbe, type ReadinessProbe } from '../readiness.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { PresentImage } from './image.ts';
import type { Launched } from './launch.ts';

/** Without `ready:` a provider is ready when it answers at all. A published port is open before anybody listens. */
export function providerProbe(
  runtime: Runtime,
  { ready, port }: ContainerProvider,
  url: string,
  launched: Launched,
  asker: Asker,
): ReadinessProbe {
  switch (ready?.kind) {
    case undefined:
      return listening(port, httpProbe(`${url}/`, 'any', asker));
    case 'http':
      return listening(port, httpProbe(`${url}${ready.path}`, ready.status, asker));
    case 'log':
      return logProbe(ready.text, ready.times, launched.logs);
    case 'health':
      return healthProbe(runtime, launched);
  }
}

/** Without `ready:` a companion is ready when its image's health check says so; without one, when it runs. */
export function companionProbe(
  runtime: Runtime,
  { ready, port }: Companion,
  image: PresentImage,
  launched: Launched,
  asker: Asker,
): ReadinessProbe {
  switch (ready?.kind) {
    case undefined:
      return image.hasHealthCheck ? healthProbe(runtime, launched) : async () => null;
    case 'http':
      return listening(port, httpProbe(`${launched.address}${ready.path}`, ready.status, asker));
    case 'log':
      return logProbe(ready.text, ready.times, launched.logs);
    case 'health':
      return healthProbe(runtime, launched);
  }
}

function listening(port: number | null, probe: ReadinessProbe): ReadinessProbe {
  return async (signal) => {
    const seen = await probe(signal);
    if (seen === null || !seen.includes('not answered')) return seen;
    return `${seen} (does it listen on port ${port}, on every interface of its container?)`;
  };
}

function healthProbe({ podman }: Runtime, { health }: Launched): ReadinessProbe {
  return async () => {
    const status = await health();
    if (status === 'healthy') return null;
    const hint = podman
      ? ' (Podman runs health checks only where systemd is: use ready.http or ready.log)'
      : '';
    return `its health check says ${status ?? 'nothing'}${hint}`;
  };
}
