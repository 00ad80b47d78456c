import { CronTab, Fruit, MySQL, SampleDB, SimpleDatabase } from './requirement-kinds';

const string = { type: 'string' };
const head = { apiVersion: string, kind: string, metadata: { type: 'object' } };

test('R1 databases.example.com is expressed exactly', () => {
  expect(SimpleDatabase.crd()).toEqual({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'databases.example.com' },
    spec: {
      group: 'example.com',
      names: { kind: 'Database', listKind: 'DatabaseList', plural: 'databases', singular: 'database', shortNames: ['db'] },
      scope: 'Namespaced',
      conversion: { strategy: 'None' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          additionalPrinterColumns: [
            { name: 'Version', type: 'string', jsonPath: '.spec.version' },
            { name: 'Size', type: 'string', jsonPath: '.spec.size' },
            { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
            { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
          ],
          subresources: { status: {} },
          schema: {
            openAPIV3Schema: {
              type: 'object',
              required: ['spec'],
              properties: {
                ...head,
                spec: { type: 'object', required: ['version', 'size'], properties: { version: string, size: { type: 'string', pattern: '^[0-9]+[a-zA-Z]+$' } } },
                status: { type: 'object', properties: { phase: { type: 'string', enum: ['Creating', 'Running', 'Failed'] } } },
              },
            },
          },
        },
      ],
    },
  });
});

test('R2 mysqls.otus.homework requires all four fields and has a status', () => {
  const { metadata, spec } = MySQL.crd();
  expect(metadata.name).toBe('mysqls.otus.homework');
  expect(spec.names).toEqual({ kind: 'MySQL', listKind: 'MySQLList', plural: 'mysqls', singular: 'mysql', shortNames: ['ms'] });
  expect(spec.versions[0]?.subresources).toEqual({ status: {} });
  expect(spec.versions[0]?.schema.openAPIV3Schema.properties?.spec?.required).toEqual(['image', 'database', 'password', 'storage_size']);
  expect(() => MySQL.check({ image: 'mysql:5.7', database: 'otus-database', password: 'otuspassword', storage_size: '1Gi', useless_data: 'useless info' }, 'mysql-instance')).toThrow("mysql-instance: 'useless_data' is not a field");
});

test('R3 fruits.user.k8sasdb.org has a string, a boolean and an integer, and conversion None', () => {
  const { metadata, spec } = Fruit.crd();
  expect(metadata.name).toBe('fruits.user.k8sasdb.org');
  expect(spec.conversion).toEqual({ strategy: 'None' });
  expect(spec.names.listKind).toBe('FruitList');
  expect(spec.versions[0]?.schema.openAPIV3Schema.properties?.spec?.properties).toEqual({ comment: string, sweetness: { type: 'boolean' }, weight: { type: 'integer' } });
  expect(spec.versions[0]?.subresources).toEqual({ status: {} });
});

test('R4 databases.stable.imaginedata.com has a field whose name holds a hyphen', () => {
  const { metadata, spec } = SampleDB.crd();
  expect(metadata.name).toBe('databases.stable.imaginedata.com');
  expect(spec.versions[0]?.schema.openAPIV3Schema.properties?.spec?.properties).toEqual({
    name: string,
    port: { type: 'integer' },
    'storage-size': string,
    image: string,
    replicas: { type: 'integer' },
  });
});

test('R5 crontabs.stable.example.com takes cronSpec, image and replicas', () => {
  const { metadata, spec } = CronTab.crd();
  expect(metadata.name).toBe('crontabs.stable.example.com');
  expect(spec.names).toEqual({ kind: 'CronTab', listKind: 'CronTabList', plural: 'crontabs', singular: 'crontab', shortNames: ['ct'] });
  expect(spec.versions[0]?.schema.openAPIV3Schema.properties?.spec?.properties).toEqual({ cronSpec: string, image: string, replicas: { type: 'integer' } });
});
