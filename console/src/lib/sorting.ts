/** The order of a list, which the API makes. */
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
