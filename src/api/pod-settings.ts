import { z } from 'zod';
import { quantity } from '../kind/fields';
import { compareQuantities } from '../kind/quantity';
import { withRules } from '../kind/rule';

const amounts = (description: string) =>
  z
    .object({
      cpu: quantity('CPU, such as 500m or 2.').optional(),
      memory: quantity('Memory, such as 1Gi.').optional(),
      'ephemeral-storage': quantity('Scratch space on the node, such as 1Gi.').optional(),
    })
    .describe(description);

const atMost = (name: 'cpu' | 'memory' | 'ephemeral-storage', celName: string) => ({
  cel: `!has(self.requests) || !has(self.limits) || !has(self.requests.${celName}) || !has(self.limits.${celName}) || quantity(string(self.requests.${celName})).compareTo(quantity(string(self.limits.${celName}))) <= 0`,
  message: `asks for more ${name} than its limit allows; lower requests.${name} or raise limits.${name}`,
  holds: (value: Resources) => {
    const [request, limit] = [value.requests?.[name], value.limits?.[name]];
    return request === undefined || limit === undefined || compareQuantities(request, limit) <= 0;
  },
});

interface Resources {
  readonly requests?: { readonly [name: string]: string | number | undefined };
  readonly limits?: { readonly [name: string]: string | number | undefined };
}

/** What the server's container asks for and may take. */
export const resources = withRules(
  z.object({
    requests: amounts('What the node sets aside; 100m and 256Mi when left out, or less where a limit is lower.').optional(),
    limits: amounts('What the container may take at most. The server sizes its caches by the memory limit.').optional(),
  }),
  atMost('cpu', 'cpu'),
  atMost('memory', 'memory'),
  atMost('ephemeral-storage', 'ephemeral__dash__storage'),
).describe('CPU and memory of the server’s container.');

/** Keys that select pods or mark what belongs to whom; nobody else may set them. */
const reserved = /^(app\.kubernetes\.io|([a-z0-9.-]+\.)?dbop\.dev)\//;

const key = /^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

const keyRules = [
  {
    cel: "self.all(key, !key.startsWith('app.kubernetes.io/') && !key.contains('dbop.dev/'))",
    message: 'has a key under app.kubernetes.io/ or dbop.dev/, which select the pods; choose another prefix',
    holds: (value: Record<string, string>) => Object.keys(value).every((k) => !reserved.test(k)),
  },
  {
    cel: `self.all(key, key.matches('${key.source.replace('\\/', '/')}'))`,
    message: 'has a key that Kubernetes does not take; write it such as team or example.com/team',
    holds: (value: Record<string, string>) => Object.keys(value).every((k) => key.test(k)),
  },
];

/** Labels beside the operator's own. */
export const podLabels = withRules(
  z.record(
    z.string(),
    z
      .string()
      .max(63)
      .regex(/^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/, 'is not a label’s value; use letters, digits, hyphens, underscores and dots, and start and end with a letter or digit'),
  ),
  ...keyRules,
)
  .meta({ maxProperties: 32 })
  .describe('Labels for the pods, beside those that the operator sets.');

/** Annotations beside the operator's own. */
export const podAnnotations = withRules(z.record(z.string(), z.string().max(16384)), ...keyRules)
  .meta({ maxProperties: 32 })
  .describe('Annotations for the pods, beside those that the operator sets.');
