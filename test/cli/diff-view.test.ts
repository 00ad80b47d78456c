import { changeOf } from '../../src/cli/change';
import { planText, summary } from '../../src/cli/diff-view';
import type { KubeObject } from '../../src/kind/resource';

const service = (port: number, more: object = {}): KubeObject & { spec: object } => ({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'orders', resourceVersion: '7', uid: 'u' }, spec: { type: 'ClusterIP', a: 1, b: 2, c: 3, ports: [{ name: 'mysql', port }] }, ...more });
const secret = (password: string): KubeObject & { data: Record<string, string> } => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'orders-app' }, data: { password, username: 'YXBw' } });
const report = (...changes: ReturnType<typeof changeOf>[]) => ({ database: 'shop/orders', changes, notes: [] });

describe('the text of a plan', () => {
  it('shows a changed line under the keys that it belongs to', () => {
    expect(planText(report(changeOf(service(3306), service(3307))), { color: false })).toBe(
      [
        'shop/orders: 1 to change',
        '',
        '~ Service orders',
        '  …',
        '    spec:',
        '  …',
        '      ports:',
        '        - name: mysql',
        '  -       port: 3306',
        '  +       port: 3307',
        '',
      ].join('\n'),
    );
  });

  it('passes over what the API server keeps for itself', () => {
    const later = { ...service(3306), metadata: { name: 'orders', resourceVersion: '8', uid: 'u', generation: 2 }, status: { loadBalancer: {} } };
    expect(changeOf(service(3306), later).action).toBe('none');
  });

  it('tells that a secret value changes, and neither of the two', () => {
    const text = planText(report(changeOf(secret('b2xk'), secret('bmV3'))), { color: false });
    expect(text).toContain('-   password: "*** (before)"');
    expect(text).toContain('+   password: "*** (after)"');
    expect(text).toContain('    username: "***"');
    expect(text).not.toMatch(/b2xk|bmV3/);
  });

  it('shows a new object whole, but counts the lines of long texts', () => {
    const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data: { 'start.sh': 'line\n'.repeat(40), short: 'x' } } as KubeObject;
    const text = planText(report(changeOf(undefined, config)), { color: false });
    expect(text).toContain('+   start.sh: (40 lines)');
    expect(text).toContain('+   short: x');
  });

  it('counts each fate, and objects that stay', () => {
    const all = report(changeOf(undefined, service(1)), changeOf(service(1), undefined), changeOf(service(1), service(1)));
    expect(summary(all)).toBe('1 to create, 1 to delete');
    expect(planText(all, { color: false })).toContain('\n1 more object stays as it is\n');
  });

  it('says in one line that nothing changes', () => {
    expect(planText(report(changeOf(service(1), service(1))), { color: false })).toBe('shop/orders: no changes\n');
  });

  it('puts a refusal first', () => {
    const text = planText({ ...report(changeOf(service(1), service(2))), refused: 'version 9.7 → 8.4 is a downgrade' }, { color: false });
    expect(text.split('\n').slice(0, 2)).toEqual(['shop/orders: the operator would refuse this', '! refused: version 9.7 → 8.4 is a downgrade']);
  });

  it('uses colours only when asked to', () => {
    const change = report(changeOf(service(1), service(2)));
    expect(planText(change, { color: false })).not.toContain('\u001b[');
    expect(planText(change, { color: true })).toContain('\u001b[');
  });
});
