/** A value that is worked out when it is first asked for, and then kept. */
export function lazy<Value>(make: () => Value): () => Value {
  let kept: { readonly value: Value } | null = null;
  return () => {
    kept ??= { value: make() };
    return kept.value;
  };
}

/** For a getter: its value stands in its place from now on, so that it is worked out once for each `owner`. */
export function keep<Owner extends object, Value>(owner: Owner, name: keyof Owner, value: Value): Value {
  Object.defineProperty(owner, name, { value });
  return value;
}
