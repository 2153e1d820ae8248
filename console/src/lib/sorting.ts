/** The order of rows that are all here. */
export interface Order {
  key: string;
  isDown: boolean;
}

/** `-priority` is downwards; empty is the order of the API. */
export function orderOf(text: string): Order {
  return text.startsWith("-") ? { key: text.slice(1), isDown: true } : { key: text, isDown: false };
}

/** The next order when a head is pressed: upwards, downwards, that of the API. */
export function nextOrder(now: Order, key: string): string {
  if (now.key !== key) return key;
  return now.isDown ? "" : `-${key}`;
}

export function sorted<Row>(rows: readonly Row[], of: (row: Row) => string | number, isDown: boolean): Row[] {
  const sign = isDown ? -1 : 1;
  return [...rows].sort((a, b) => {
    const [first, last] = [of(a), of(b)];
    return first < last ? -sign : first > last ? sign : 0;
  });
}
