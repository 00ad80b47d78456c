import { serverResources } from '../../src/constructs/server-resources';

const requests = { cpu: '100m', memory: '256Mi' };

test('nothing said means the defaults', () => {
  const defaults = { requests, limits: { cpu: '500m', memory: '512Mi' } };
  expect(serverResources()).toEqual(defaults);
  expect(serverResources({})).toEqual(defaults);
});

test('limits alone keep the default requests', () => {
  expect(serverResources({ limits: { memory: '2Gi' } })).toEqual({ requests, limits: { memory: '2Gi' } });
});

test('a limit below a default request lowers that request, which the API server would refuse', () => {
  expect(serverResources({ limits: { cpu: '0.05', memory: '128Mi' } }).requests).toEqual({ cpu: '0.05', memory: '128Mi' });
});

test('requests alone mean no limits, and both are taken as they are', () => {
  expect(serverResources({ requests: { memory: '2Gi' } })).toEqual({ requests: { memory: '2Gi' } });
  expect(serverResources({ requests: { cpu: '1' }, limits: { memory: '1Gi' } })).toEqual({ requests: { cpu: '1' }, limits: { memory: '1Gi' } });
});
