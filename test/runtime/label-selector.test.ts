import { labelSelector } from '../../src/runtime/label-selector';

const labels = { app: 'orders', tier: 'db', 'app.kubernetes.io/name': 'x', empty: '' };

test.each([
  ['', true],
  ['app=orders', true],
  ['app == orders', true],
  ['app=other', false],
  ['app!=other', true],
  ['absent!=anything', true],
  ['app.kubernetes.io/name=x,tier=db', true],
  ['app=orders,tier=web', false],
  ['app in (orders, billing)', true],
  ['app in (billing),tier=db', false],
  ['app notin (billing)', true],
  ['absent notin (a)', true],
  ['tier in (web,db),app=orders', true],
  ['app', true],
  ['!app', false],
  ['!absent', true],
  ['absent', false],
  ['empty=', true],
])("'%s' matches: %s", (selector, expected) => {
  expect(labelSelector(selector)(labels)).toBe(expected);
});

test('an object without labels matches what asks for none', () => {
  expect(labelSelector('!app')(undefined)).toBe(true);
  expect(labelSelector('app=orders')(undefined)).toBe(false);
});

test('what cannot be read is refused with the part at fault', () => {
  expect(() => labelSelector('a=b,c>3')).toThrow("label selector 'a=b,c>3': cannot read 'c>3'; write key=value, key!=value, key in (a, b), key notin (a, b), key or !key");
});
