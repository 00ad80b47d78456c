import type { KubeObject } from '../../src/kind/resource';
import type { WatchEvent } from '../../src/runtime/client';
import { Mirror } from '../../src/runtime/mirror';

/** A mirror of all namespaces, and what it told, as short texts: `updated a@5 by us`. */
function setUp(): { mirror: Mirror<KubeObject>; told: string[]; held: () => string[] } {
  const told: string[] = [];
  const mirror = new Mirror<KubeObject>({
    belongs: ({ metadata }) => metadata.labels?.foreign === undefined,
    scopeOf: () => undefined,
    emit: ({ type, object, origin }) => told.push(`${type} ${text(object)}${origin === undefined ? '' : ` by ${String(origin)}`}`),
  });
  return { mirror, told, held: () => mirror.store.list().map(text) };
}

const text = ({ metadata }: KubeObject): string => `${metadata.name}@${metadata.resourceVersion}`;

const object = (name: string, version: number, uid = `uid-${name}`, labels?: Record<string, string>): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'shop', uid, resourceVersion: String(version), labels },
});

const event = (type: 'ADDED' | 'MODIFIED' | 'DELETED', ...about: Parameters<typeof object>): WatchEvent<KubeObject> => ({ type, object: object(...about) });

function list(mirror: Mirror<KubeObject>, version: number, ...objects: KubeObject[]): void {
  mirror.beginList(undefined, String(version));
  mirror.listed(undefined, objects);
  mirror.endList(undefined);
}

describe('lists', () => {
  test('a first list adds all', () => {
    const { mirror, told } = setUp();
    list(mirror, 10, object('a', 3), object('b', 7));
    expect(told).toEqual(['added a@3', 'added b@7']);
    expect(mirror.horizon(undefined)).toBe('10');
  });

  test('a second list tells only what changed, and that what it no longer names is gone', () => {
    const { mirror, told, held } = setUp();
    list(mirror, 10, object('same', 1), object('changed', 2), object('gone', 3));
    told.length = 0;
    list(mirror, 20, object('same', 1), object('changed', 12), object('new', 13));
    expect(told).toEqual(['updated changed@12', 'added new@13', 'deleted gone@3']);
    expect(held()).toEqual(['same@1', 'changed@12', 'new@13']);
  });

  test('an object that was deleted and made anew between two lists is told as both', () => {
    const { mirror, told } = setUp();
    list(mirror, 10, object('a', 1, 'first'));
    told.length = 0;
    list(mirror, 20, object('a', 12, 'second'));
    expect(told).toEqual(['deleted a@1', 'added a@12']);
  });

  test('nothing is told gone before the last page has come', () => {
    const { mirror, told } = setUp();
    list(mirror, 10, object('a', 1), object('b', 2));
    told.length = 0;
    mirror.beginList(undefined, '20');
    mirror.listed(undefined, [object('a', 1)]);
    expect(told).toEqual([]);
    mirror.listed(undefined, [object('b', 2)]);
    mirror.endList(undefined);
    expect(told).toEqual([]);
  });

  test('a list that broke off and begins anew forgets the pages that it had', () => {
    const { mirror, told } = setUp();
    list(mirror, 10, object('a', 1));
    mirror.beginList(undefined, '20');
    mirror.listed(undefined, [object('a', 1)]);
    list(mirror, 30);
    expect(told).toEqual(['added a@1', 'deleted a@1']);
  });

  test('a list that is older than what was seen means that the cluster was restored, and is believed', () => {
    const { mirror, told, held } = setUp();
    list(mirror, 100, object('a', 90), object('since', 95));
    mirror.put(object('written since', 101), 'us');
    told.length = 0;
    list(mirror, 50, object('a', 40), object('back', 45));
    expect(held()).toEqual(['a@40', 'back@45']);
    expect(told).toEqual(['updated a@40', 'added back@45', 'deleted since@95', 'deleted written since@101']);
    expect(mirror.horizon(undefined)).toBe('50');
  });
});

describe('watches', () => {
  test('each change is told once, with the version before it', () => {
    const { mirror, told } = setUp();
    list(mirror, 10);
    mirror.watched(undefined, event('ADDED', 'a', 11));
    mirror.watched(undefined, event('MODIFIED', 'a', 12));
    mirror.watched(undefined, event('DELETED', 'a', 13));
    expect(told).toEqual(['added a@11', 'updated a@12', 'deleted a@13']);
    expect(mirror.store.size).toBe(0);
  });

  test('a repeated event is not told again', () => {
    const { mirror, told } = setUp();
    list(mirror, 10);
    for (let i = 0; i < 3; i++) mirror.watched(undefined, event('MODIFIED', 'a', 11));
    for (let i = 0; i < 3; i++) mirror.watched(undefined, event('DELETED', 'a', 12));
    expect(told).toEqual(['added a@11', 'deleted a@12']);
  });

  test('a bookmark moves the horizon and tells nothing', () => {
    const { mirror, told } = setUp();
    list(mirror, 10);
    mirror.watched(undefined, { type: 'BOOKMARK', object: { metadata: { resourceVersion: '99' } } });
    expect([told, mirror.horizon(undefined)]).toEqual([[], '99']);
  });
});

describe('the answer to a write of our own', () => {
  test('is read back at once, and not told again when the watch brings it', () => {
    const { mirror, told, held } = setUp();
    list(mirror, 10, object('a', 5));
    mirror.put(object('a', 11), 'us');
    expect(held()).toEqual(['a@11']);
    mirror.watched(undefined, event('MODIFIED', 'a', 11));
    expect(told).toEqual(['added a@5', 'updated a@11 by us']);
  });

  test('several in a row are each passed over when the watch brings them', () => {
    const { mirror, told } = setUp();
    list(mirror, 10, object('a', 5));
    told.length = 0;
    mirror.put(object('a', 11), 'us');
    mirror.put(object('a', 12), 'us');
    mirror.watched(undefined, event('MODIFIED', 'a', 11));
    mirror.watched(undefined, event('MODIFIED', 'a', 12));
    expect(told).toEqual(['updated a@11 by us', 'updated a@12 by us']);
  });

  test('is no news if the watch was faster', () => {
    const { mirror, told } = setUp();
    list(mirror, 10);
    mirror.watched(undefined, event('ADDED', 'a', 11));
    mirror.watched(undefined, event('MODIFIED', 'a', 12));
    mirror.put(object('a', 11), 'us');
    expect(told).toEqual(['added a@11', 'updated a@12']);
  });

  test('does not bring back what the watch has already seen deleted', () => {
    const { mirror, held } = setUp();
    list(mirror, 10);
    mirror.watched(undefined, event('ADDED', 'a', 11));
    mirror.watched(undefined, event('DELETED', 'a', 12));
    mirror.put(object('a', 11), 'us');
    expect(held()).toEqual([]);
  });

  test('does not bring back what was made and deleted while the watch was elsewhere', () => {
    const { mirror, held } = setUp();
    list(mirror, 10);
    list(mirror, 20);
    mirror.put(object('a', 11), 'us');
    expect(held()).toEqual([]);
  });

  test('is deleted by the watch like anything else', () => {
    const { mirror, told, held } = setUp();
    list(mirror, 10);
    mirror.put(object('a', 11), 'us');
    mirror.watched(undefined, event('ADDED', 'a', 11));
    mirror.watched(undefined, event('DELETED', 'a', 12));
    expect([told, held()]).toEqual([['added a@11 by us', 'deleted a@12'], []]);
  });

  test('survives a list that was taken before it, and the watch still tells its end', () => {
    const { mirror, held } = setUp();
    list(mirror, 10);
    mirror.put(object('a', 21), 'us');
    list(mirror, 20);
    expect(held()).toEqual(['a@21']);
    mirror.watched(undefined, event('DELETED', 'a', 22));
    expect(held()).toEqual([]);
  });

  test('is gone after a list that was taken later and does not name it', () => {
    const { mirror, held } = setUp();
    mirror.put(object('a', 11), 'us');
    list(mirror, 20);
    expect(held()).toEqual([]);
  });

  test('that overtakes somebody else\'s change makes that change told when the watch brings it, since the writer may pass over its own', () => {
    const { mirror, told } = setUp();
    list(mirror, 10, object('a', 5));
    told.length = 0;
    mirror.put(object('a', 13), 'us');
    mirror.watched(undefined, event('MODIFIED', 'a', 12));
    mirror.watched(undefined, event('MODIFIED', 'a', 13));
    expect(told).toEqual(['updated a@13 by us', 'updated a@13']);
  });

  test('is told once more by a list, which may have skipped somebody else\'s change', () => {
    const { mirror, told } = setUp();
    list(mirror, 10, object('a', 5));
    told.length = 0;
    mirror.put(object('a', 13), 'us');
    list(mirror, 20, object('a', 13));
    list(mirror, 30, object('a', 13));
    expect(told).toEqual(['updated a@13 by us', 'updated a@13']);
  });

  test('a late end of an earlier object of the same name does not take the new one', () => {
    const { mirror, told, held } = setUp();
    list(mirror, 10, object('a', 5, 'first'));
    told.length = 0;
    mirror.put(object('a', 12, 'second'), 'us');
    mirror.watched(undefined, event('DELETED', 'a', 11, 'first'));
    mirror.watched(undefined, event('ADDED', 'a', 12, 'second'));
    expect(held()).toEqual(['a@12']);
    expect(told).toEqual(['deleted a@5 by us', 'added a@12 by us', 'updated a@12']);
  });

  test('is left out if it is none of the selection', () => {
    const { mirror, held } = setUp();
    list(mirror, 10);
    mirror.put(object('a', 11, 'uid', { foreign: 'yes' }), 'us');
    expect(held()).toEqual([]);
  });

  test('stays readable when it leaves the selection, until the watch says so', () => {
    const { mirror, held } = setUp();
    list(mirror, 10, object('a', 5, 'uid'));
    mirror.put(object('a', 11, 'uid', { foreign: 'yes' }), 'us');
    expect(held()).toEqual(['a@11']);
    mirror.watched(undefined, event('DELETED', 'a', 11, 'uid'));
    expect(held()).toEqual([]);
  });
});

describe('a write under way', () => {
  const key = { namespace: 'shop', name: 'a' };

  test('is recognised when the watch is faster than the answer', () => {
    const { mirror, told } = setUp();
    list(mirror, 10);
    const claim = mirror.claim(key, 'us');
    mirror.watched(undefined, event('ADDED', 'a', 11));
    mirror.settle(claim, object('a', 11));
    expect(told).toEqual(['added a@11 by us']);
  });

  test("somebody else's change in the meantime is told again as theirs", () => {
    const { mirror, told } = setUp();
    list(mirror, 10, object('a', 5));
    told.length = 0;
    const claim = mirror.claim(key, 'us');
    mirror.watched(undefined, event('MODIFIED', 'a', 11));
    mirror.watched(undefined, event('MODIFIED', 'a', 12));
    mirror.settle(claim, object('a', 12));
    expect(told).toEqual(['updated a@11 by us', 'updated a@12 by us', 'updated a@12']);
  });

  test('that fails has made no change: what was told meanwhile is told again as somebody else\'s', () => {
    const { mirror, told } = setUp();
    list(mirror, 10);
    const claim = mirror.claim(key, 'us');
    mirror.watched(undefined, event('ADDED', 'a', 11));
    mirror.settle(claim, undefined);
    expect(told).toEqual(['added a@11 by us', 'updated a@11']);
  });

  test('of two writers at once neither is told to have done it', () => {
    const { mirror, told } = setUp();
    list(mirror, 10);
    const ours = mirror.claim(key, 'us');
    const theirs = mirror.claim(key, 'them');
    mirror.watched(undefined, event('ADDED', 'a', 11));
    mirror.settle(ours, object('a', 11));
    mirror.settle(theirs, object('a', 12));
    expect(told).toEqual(['added a@11', 'updated a@12 by them']);
  });

  test('of one object says nothing about others, and nothing once it has ended', () => {
    const { mirror, told } = setUp();
    list(mirror, 10);
    const claim = mirror.claim(key, 'us');
    mirror.watched(undefined, event('ADDED', 'b', 11));
    mirror.settle(claim, object('a', 12));
    mirror.watched(undefined, event('ADDED', 'a', 12));
    mirror.watched(undefined, event('MODIFIED', 'a', 13));
    expect(told).toEqual(['added b@11', 'added a@12 by us', 'updated a@13']);
  });

  test('never passes over an end', () => {
    const { mirror, told } = setUp();
    list(mirror, 10, object('a', 5));
    told.length = 0;
    const claim = mirror.claim(key, 'us');
    mirror.watched(undefined, event('DELETED', 'a', 11));
    mirror.settle(claim, undefined);
    expect(told).toEqual(['deleted a@11']);
  });
});

describe('whether a version has arrived', () => {
  test('an older one than is held has, a newer one has not', () => {
    const { mirror } = setUp();
    list(mirror, 10, object('a', 5));
    expect(mirror.knows(object('a', 5))).toBe(true);
    expect(mirror.knows(object('a', 11))).toBe(false);
    mirror.put(object('a', 12), 'us');
    expect(mirror.knows(object('a', 11))).toBe(true);
  });

  test('everything up to the horizon has, also what is gone', () => {
    const { mirror } = setUp();
    expect(mirror.knows(object('a', 5))).toBe(false);
    list(mirror, 10);
    expect(mirror.knows(object('a', 5))).toBe(true);
    mirror.watched(undefined, { type: 'BOOKMARK', object: { metadata: { resourceVersion: '20' } } });
    expect(mirror.knows(object('b', 20))).toBe(true);
    expect(mirror.knows(object('b', 21))).toBe(false);
  });
});
