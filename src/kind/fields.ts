import { z } from 'zod';
import { tryParseQuantity } from './quantity';

/** `status.conditions`, as all of Kubernetes has it: a list whose entries are merged by their type. */
export function conditions() {
  const condition = z.object({
    type: z.string().min(1).max(316).describe('What the condition is about, in CamelCase.'),
    status: z.enum(['True', 'False', 'Unknown']).describe('Whether it holds.'),
    reason: z.string().min(1).max(1024).describe('Why, in one CamelCase word; programs may rely on it.'),
    message: z.string().max(32768).describe('What is, what is waited for and what to do, for people.'),
    observedGeneration: z.int().min(0).optional().describe('Generation of the object that this speaks of.'),
    lastTransitionTime: timestamp('When the status last changed.'),
  });
  return z
    .array(condition)
    .max(32)
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] })
    .describe('What holds and what does not; Ready sums it up.');
}

/** A moment, in RFC 3339. */
export function timestamp(description: string) {
  return z.iso.datetime({ offset: true }).describe(description);
}

/** An amount of CPU, memory or storage as Kubernetes writes it: a whole number, or text such as `500m` or `2Gi`. */
export function quantity(description: string) {
  const error = 'is not a quantity; write a number with an optional unit, such as 2, 500m or 1Gi';
  const text = z
    .string()
    .regex(/^([0-9]{1,16}|[0-9]{0,16}\.[0-9]{1,9})([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]{1,2})?$/, error)
    .refine((value) => tryParseQuantity(value) !== undefined, error);
  return z.union([z.int().min(0), text], { error }).describe(description);
}

/** The name of an object that a Service or a pod's label may carry. */
export function dnsLabel(description: string) {
  return z
    .string()
    .max(63)
    .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/, 'is not a name that Kubernetes takes; use lower-case letters, digits and hyphens, and start and end with a letter or digit')
    .describe(description);
}

/** The name of an object whose name may have dots. */
export function dnsSubdomain(description: string) {
  return z
    .string()
    .max(253)
    .regex(
      /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
      'is not a name that Kubernetes takes; use lower-case letters, digits, hyphens and dots, and start and end with a letter or digit',
    )
    .describe(description);
}
