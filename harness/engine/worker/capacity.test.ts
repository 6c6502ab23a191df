import { describe, expect, it } from 'vitest';
import { capacityOf, type Machine } from './capacity.ts';

const GIB = 1024 ** 3;
const ROOMY: Machine = { cores: 2, freeOctets: 16 * GIB, openFiles: 100_000 };

describe('how many services run at the same time', () => {
  it.for<[what: string, services: number, asked: number | null, Machine, [number, number, number]]>([
    ['one has a worker of its own', 1, null, ROOMY, [1, 1, 1]],
    ['few have workers of their own', 2, null, ROOMY, [2, 2, 2]],
    ['many share the workers', 200, null, ROOMY, [200, 2, 37]],
    ['more cores, more workers', 200, null, { ...ROOMY, cores: 8 }, [200, 8, 37]],
    ['so many that everybody is late are too many', 1_000, null, ROOMY, [200, 2, 37]],
    ['little memory', 200, null, { ...ROOMY, freeOctets: 1.5 * GIB }, [27, 2, 2]],
    ['hardly any memory', 200, null, { ...ROOMY, freeOctets: 0.3 * GIB }, [1, 1, 1]],
    ['few files', 200, null, { ...ROOMY, openFiles: 1_024 }, [9, 2, 9]],
    ['the user has the last word', 200, 50, { ...ROOMY, openFiles: 1_024 }, [50, 2, 37]],
    ['also for one after the other', 200, 1, ROOMY, [1, 1, 1]],
    ['and asks for no more than there are', 3, 50, ROOMY, [3, 2, 3]],
  ])('%s', ([, services, asked, machine, [atOnce, workers, alone]]) => {
    expect(capacityOf(services, asked, machine)).toEqual({ services: atOnce, workers, alone });
  });

  it('follows from this machine where nothing is said', () => {
    const { services, workers } = capacityOf(10_000, null);
    expect(services).toBeGreaterThan(0);
    expect(workers).toBeLessThanOrEqual(services);
  });
});
