import type { KindDefinition, KindVersion, OlderVersion, PrinterColumn, ScalePaths } from './kind-definition';
import { validations, type Rule } from './rule';
import { structuralSchema, type StructuralSchema } from './structural-schema';

/** A CustomResourceDefinition (apiextensions.k8s.io/v1), as JSON. */
export interface CustomResourceDefinition {
  readonly apiVersion: 'apiextensions.k8s.io/v1';
  readonly kind: 'CustomResourceDefinition';
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly group: string;
    readonly names: {
      readonly kind: string;
      readonly listKind: string;
      readonly plural: string;
      readonly singular: string;
      readonly shortNames?: readonly string[];
      readonly categories?: readonly string[];
    };
    readonly scope: 'Namespaced' | 'Cluster';
    readonly conversion: { readonly strategy: 'None' };
    readonly versions: readonly CrdVersion[];
  };
}

/** One version of a CustomResourceDefinition. */
export interface CrdVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly deprecated?: boolean;
  readonly deprecationWarning?: string;
  readonly additionalPrinterColumns?: readonly object[];
  readonly subresources?: { readonly status?: object; readonly scale?: ScalePaths };
  readonly schema: { readonly openAPIV3Schema: StructuralSchema };
}

/** The CRD of a definition; `rules` hold for the whole object, in every version. */
export function customResourceDefinition(definition: KindDefinition & { readonly plural: string }, rules: readonly Rule<string>[]): CustomResourceDefinition {
  const { group, kind, plural } = definition;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: {
        kind,
        listKind: definition.listKind ?? `${kind}List`,
        plural,
        singular: definition.singular ?? kind.toLowerCase(),
        ...(definition.shortNames && { shortNames: definition.shortNames }),
        ...(definition.categories && { categories: definition.categories }),
      },
      scope: (definition.namespaced ?? true) ? 'Namespaced' : 'Cluster',
      conversion: { strategy: 'None' },
      versions: [versionOf(kind, definition, rules, true), ...(definition.olderVersions ?? []).map((older) => versionOf(kind, older, rules, false))],
    },
  };
}

function versionOf(kind: string, version: KindVersion & Partial<OlderVersion>, rules: readonly Rule<string>[], storage: boolean): CrdVersion {
  const { deprecation, columns, scale } = version;
  const subresources = { ...(version.status && { status: {} }), ...(scale && { scale }) };
  return {
    name: version.version,
    served: true,
    storage,
    ...(deprecation !== undefined && { deprecated: true, deprecationWarning: deprecation }),
    ...(columns && { additionalPrinterColumns: columns.map(columnOf) }),
    ...(Object.keys(subresources).length > 0 && { subresources }),
    schema: { openAPIV3Schema: objectSchema(kind, version, rules) },
  };
}

function columnOf({ name, jsonPath, type = 'string', description, wide = false }: PrinterColumn): object {
  return { name, type, ...(description !== undefined && { description }), jsonPath, ...(wide && { priority: 1 }) };
}

function objectSchema(kind: string, version: KindVersion, rules: readonly Rule<string>[]): StructuralSchema {
  const specMayBeAbsent = version.spec.safeParse(undefined).success;
  return {
    ...(version.description !== undefined && { description: version.description }),
    type: 'object',
    ...(!specMayBeAbsent && { required: ['spec'] }),
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object' },
      spec: structuralSchema(version.spec, `${kind}.spec`),
      ...(version.status && { status: structuralSchema(version.status, `${kind}.status`) }),
    },
    ...(rules.length > 0 && { [validations]: rules.map(({ cel, message }) => ({ rule: cel, message: `metadata.name ${message}` })) }),
  };
}
