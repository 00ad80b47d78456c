import { DatabaseBackup } from '../../src/api/database-backup';

test('the name of a database is all that a backup needs', () => {
  expect(DatabaseBackup.check({ database: 'orders' }, 'shop/before-migration')).toEqual({ database: 'orders' });
});

test('a backup without a database is refused', () => {
  expect(() => DatabaseBackup.check({}, 'shop/before-migration')).toThrow("shop/before-migration: 'database' is missing; give it a string");
});

test('the runtime finds phase, message, generation and conditions in the status', () => {
  for (const field of ['phase', 'message', 'observedGeneration', 'conditions']) expect(DatabaseBackup.statusFields).toContain(field);
});
