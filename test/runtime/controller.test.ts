import { z } from 'zod';
import { defineKind } from '../../src/kind/define-kind';
import { builtin } from '../../src/kind/resource';
import { controller, nameOf, type Controller } from '../../src/runtime/controller';
import { done } from '../../src/runtime/outcome';

const kind = defineKind({ group: 'example.com', version: 'v1', kind: 'Basket', spec: z.object({ size: z.int() }), status: z.object({ phase: z.string() }) });
const make = (more: Partial<Controller<typeof kind>>): Controller => controller({ kind, reconcile: async ({ object }) => done({ phase: String(object.spec.size) }), ...more });

test.each<[Partial<Controller<typeof kind>>, string]>([
  [{ finalizer: 'example.com/x' }, "controller of Basket: 'finalizer' and 'finalize' belong together; add finalize() or leave both out"],
  [{ finalize: async () => done() }, "controller of Basket: 'finalizer' and 'finalize' belong together; add a finalizer such as 'example.com/cleanup' or leave both out"],
  [{ finalizer: 'cleanup', finalize: async () => done() }, "controller of Basket: finalizer 'cleanup' has no domain; write it like 'example.com/cleanup'"],
  [{ select: [{ type: builtin.Secret }] }, "controller of Basket: 'select' narrows Secret, which is not in 'watches'"],
  [{ concurrency: 0 }, "controller of Basket: 'concurrency' (0) must be a whole number from 1"],
])('a contradiction is refused: %j', (more, message) => {
  expect(() => make(more)).toThrow(message);
});

test('a controller is called as its kind unless it has a name', () => {
  expect(nameOf(make({}))).toBe('basket');
  expect(nameOf(make({ name: 'other' }))).toBe('other');
});
