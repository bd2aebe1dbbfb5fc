/** A promise, and what fulfils it. */
export function promised<T = void>(): { promise: Promise<T>; fulfil: (value: T) => void } {
  let fulfil: (value: T) => void = () => {}
  const promise = new Promise<T>((resolve) => {
    fulfil = resolve
  })
  return { promise, fulfil }
}
