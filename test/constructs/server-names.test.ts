import { serverNames } from '../../src/constructs/server-names';

test('children are named after the database', () => {
  expect(serverNames('shop')).toMatchObject({ workload: 'shop', service: 'shop', dataClaim: 'data-shop-0', backupClaim: 'shop-backups', accountsSecret: 'shop-accounts', applicationSecret: 'shop-app' });
});

test('names that users already type stand in for ours', () => {
  expect(serverNames('mysql-instance', { dataClaim: 'mysql-instance-pvc', backupClaim: 'backup-mysql-instance-pvc' })).toMatchObject({ workload: 'mysql-instance', dataClaim: 'mysql-instance-pvc', backupClaim: 'backup-mysql-instance-pvc' });
  expect(serverNames('a', { workload: 'b' }).dataClaim).toBe('data-b-0');
});

test('a name that is too long is refused with the child, the bound and the reason', () => {
  expect(() => serverNames('x'.repeat(46))).toThrow(/backupSchedule '.*' has 53 characters and may have 52, because its Jobs append 11 characters; choose a shorter name/);
  expect(serverNames('x'.repeat(45)).backupSchedule).toHaveLength(52);
});

test('a name that is no DNS label is refused', () => {
  expect(() => serverNames('Shop')).toThrow(/is no DNS label/);
  expect(() => serverNames('9lives')).toThrow(/begins with a digit/);
});
