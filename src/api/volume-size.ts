import { z } from 'zod';
import { compareQuantities } from '../kind/quantity';
import { withRules } from '../kind/rule';

/** Below this an empty MySQL data directory does not fit. */
const smallest = '256Mi';

/** The size of a volume: with a unit, because nobody means bytes, and only ever growing, because volumes can't shrink. */
export function volumeSize(description: string) {
  const text = z
    .string()
    .max(16)
    .regex(/^([1-9][0-9]*|[0-9]+\.[0-9]+)(Mi|Gi|Ti|Pi|M|G|T|P)$/, { error: 'is not a size; write a number and a unit, such as 10Gi', abort: true });
  return withRules(
    text,
    {
      cel: `quantity(self).compareTo(quantity('${smallest}')) >= 0`,
      message: `is smaller than ${smallest}, which an empty database needs; ask for more`,
      holds: (size) => compareQuantities(size, smallest) >= 0,
    },
    { cel: 'quantity(self).compareTo(quantity(oldSelf)) >= 0', message: 'is smaller than before; volumes only grow' },
  ).describe(description);
}
