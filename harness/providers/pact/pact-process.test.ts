import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { QuietWatch } from './pact-process.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function watched() {
  let busy = false;
  let notice = () => {};
  const expired = vi.fn();
  const watch = new QuietWatch(
    1_000,
    {
      busy: () => busy,
      onActivity: (listener) => {
        notice = listener;
      },
    },
    expired,
  );
  return {
    expired,
    watch,
    request: (under: boolean) => {
      busy = under;
      notice();
    },
  };
}

describe('a quiet process', () => {
  it('is noticed when its time is over', () => {
    const { expired } = watched();
    vi.advanceTimersByTime(999);
    expect(expired).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(expired).toHaveBeenCalledTimes(1);
  });

  it('is not blamed for what the provider takes, and has its whole time afterwards', () => {
    const { expired, request } = watched();
    vi.advanceTimersByTime(900);
    request(true);
    vi.advanceTimersByTime(60_000);
    request(false);
    vi.advanceTimersByTime(999);
    expect(expired).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(expired).toHaveBeenCalledTimes(1);
  });

  it('is left alone when nobody watches any more, even if a request ends then', () => {
    const { expired, watch, request } = watched();
    request(true);
    watch.stop();
    request(false);
    vi.advanceTimersByTime(60_000);
    expect(expired).not.toHaveBeenCalled();
  });
});
