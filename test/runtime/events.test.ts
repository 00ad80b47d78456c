import { pino } from 'pino';
import type { KubeObject } from '../../src/kind/resource';
import { ApiError } from '../../src/runtime/api-error';
import { EventRecorder, type EventText } from '../../src/runtime/events';
import type { ClientCalls } from '../../src/runtime/fence';
import { ManualClock } from '../../src/runtime/manual-clock';

type Sent = { verb: string; name?: string; body: { metadata?: { namespace: string }; note?: string; series?: { count: number } } };

function recorder(failure?: (body: Sent['body']) => Error | undefined): { events: EventRecorder; sent: Sent[]; clock: ManualClock } {
  const sent: Sent[] = [];
  const clock = new ManualClock();
  const answer = async (body: Sent['body']): Promise<unknown> => {
    const failed = failure?.(body);
    if (failed !== undefined) throw failed;
    return {};
  };
  const client = {
    create: (_type: unknown, body: Sent['body']) => (sent.push({ verb: 'create', body }), answer(body)),
    patch: (_type: unknown, { name }: { name: string }, body: Sent['body']) => (sent.push({ verb: 'patch', name, body }), answer(body)),
  } as unknown as ClientCalls;
  return { events: new EventRecorder(client, { controller: 'me', clock, log: pino({ level: 'silent' }) }), sent, clock };
}

const about = (name: string): KubeObject => ({ apiVersion: 'example.com/v1', kind: 'Basket', metadata: { name, namespace: 'shop', uid: `uid-of-${name}` } });
const text = (message: string): EventText => ({ type: 'Warning', reason: 'Broken', message, action: 'Reconcile' });

test('an Event names its object, its reason and who sends it', async () => {
  const { events, sent } = recorder();
  events.send(about('a'), text('it broke'));
  await events.idle();
  expect(sent[0]?.body).toMatchObject({
    apiVersion: 'events.k8s.io/v1',
    metadata: { namespace: 'shop' },
    eventTime: '2026-01-01T00:00:00.000000Z',
    type: 'Warning',
    reason: 'Broken',
    note: 'it broke',
    regarding: { kind: 'Basket', name: 'a', namespace: 'shop', uid: 'uid-of-a' },
    reportingController: 'me',
  });
});

test('the same Event is counted up instead of sent again', async () => {
  const { events, sent } = recorder();
  for (let time = 0; time < 3; time++) events.send(about('a'), text('it broke'));
  await events.idle();
  expect(sent.map(({ verb, body }) => [verb, body.series?.count])).toEqual([['create', undefined], ['patch', 3]]);
});

test('an object that has much to say is cut short, harms no other, and may speak again later', async () => {
  const { events, sent, clock } = recorder();
  for (let time = 0; time < 50; time++) events.send(about('noisy'), text(`line ${time}`));
  events.send(about('quiet'), text('one word'));
  await events.idle();
  expect(sent).toHaveLength(11);
  await clock.advance(60_000);
  events.send(about('noisy'), text('again'));
  events.send(about('noisy'), text('and again'));
  await events.idle();
  expect(sent).toHaveLength(12);
});

test('a long message is cut to what the API server takes', async () => {
  const { events, sent } = recorder();
  events.send(about('a'), text('x'.repeat(2_000)));
  await events.idle();
  expect(sent[0]?.body.note).toHaveLength(1_022);
});

test('an Event that can not be sent harms nobody', async () => {
  const { events } = recorder(() => new Error('no API server'));
  events.send(about('a'), text('it broke'));
  await expect(events.idle()).resolves.toBeUndefined();
});

test('what an object in a namespace that is being deleted has to say is said of the namespace, in default', async () => {
  const body = { reason: 'Forbidden', message: 'no new content', details: { causes: [{ reason: 'NamespaceTerminating' }] } };
  const { events, sent } = recorder(({ metadata }) => (metadata?.namespace === 'shop' ? new ApiError({ method: 'POST', path: '/' }, 403, body) : undefined));
  events.send(about('a'), text('it broke'));
  await events.idle();
  expect(sent[1]?.body).toMatchObject({ metadata: { namespace: 'default' }, reason: 'Broken', note: 'Basket a: it broke', regarding: { kind: 'Namespace', name: 'shop' } });
});
