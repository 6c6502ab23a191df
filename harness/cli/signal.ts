const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Calls back, once, at the first signal that asks for the end; the process then ends when it is ready. */
export function onSignal(callback: () => void): { release(): void } {
  const release = () => {
    for (const name of SIGNALS) process.off(name, heard);
  };
  const heard = () => {
    release();
    callback();
  };
  for (const name of SIGNALS) process.on(name, heard);
  return { release };
}
