import { z } from 'zod';
import { DatabaseCrd } from '../../src/constructs/database-crd';
import { defineKind } from '../../src/kind/define-kind';
import { rendered } from './render';

const names = (build: Parameters<typeof rendered>[0]) => rendered(build).map(({ metadata }) => metadata.name);

test('our two kinds are defined by default', () => {
  expect(names((chart) => new DatabaseCrd(chart, 'crds'))).toEqual(['databases.dbop.dev', 'databasebackups.dbop.dev']);
});

test('a company serves the same API under its own group', () => {
  expect(names((chart) => new DatabaseCrd(chart, 'crds', { group: 'db.acme.com' }))).toEqual(['databases.db.acme.com', 'databasebackups.db.acme.com']);
});

test('any kind made by defineKind can be defined', () => {
  const Shop = defineKind({ group: 'example.com', version: 'v1', kind: 'Shop', spec: z.object({}) });
  expect(rendered((chart) => new DatabaseCrd(chart, 'crds', { kinds: [Shop] }))).toEqual([Shop.crd()]);
});

test.each(['acme', 'DB.acme.com', 'db_acme.com'])('%s is no API group', (group) => {
  expect(() => rendered((chart) => new DatabaseCrd(chart, 'crds', { group }))).toThrow(`test/crds: 'group' (${group}) is not an API group; write a domain of yours, such as db.example.com`);
});
