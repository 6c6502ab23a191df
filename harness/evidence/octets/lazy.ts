/** A value that is worked out when it is first asked for, and then kept. */
export function lazy<Value>(make: () => Value): () => Value {
  let kept: { readonly value: Value } | null = null;
  return () => {
    kept ??= { value: make() };
    return kept.value;
  };
}
