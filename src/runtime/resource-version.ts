/**
 * Which of two resourceVersions of one kind is later: negative if `a` is earlier, 0 if they are the same, positive if `a`
 * is later.
 *
 * Kubernetes long called them opaque; since 1.35 a resourceVersion is officially a decimal number that may be compared
 * (KEP-5504), as every released API server has always made it. Without sign and leading zeros the longer number is the
 * greater one, and of two equally long ones the text decides, so no BigInt has to be made for every event.
 */
export function compareVersions(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : a > b ? 1 : 0;
}
