/** What a service was given all the time for, and did not do: on the next connections it is waited for less long. */
export interface InVain {
  /** It has not ended a connection that it must end, be it for a Close of ours. */
  end: boolean;
}
