import type { z } from 'zod';

/** A column of `kubectl get`. */
export interface PrinterColumn {
  readonly name: string;
  /** Where the value is, such as `.spec.version`. */
  readonly jsonPath: string;
  /** @default 'string' */
  readonly type?: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  /** @default - none */
  readonly description?: string;
  /** Shown only by `kubectl get -o wide`. @default false */
  readonly wide?: boolean;
}

/** Where the scale subresource finds its numbers. */
export interface ScalePaths {
  /** Such as `.spec.replicas`. */
  readonly specReplicasPath: string;
  /** Such as `.status.replicas`. */
  readonly statusReplicasPath: string;
  /** Such as `.status.selector`, for autoscalers. @default - none */
  readonly labelSelectorPath?: string;
}

/** What one version of a kind looks like. */
export interface KindVersion<Spec extends z.ZodType = z.ZodType, Status extends z.ZodType = z.ZodType> {
  /** As in `v1` or `v1alpha1`. */
  readonly version: string;
  /** What people ask for. */
  readonly spec: Spec;
  /**
   * What the controller answers. With it comes the status subresource.
   * @default - the kind has no status
   */
  readonly status?: Status;
  /**
   * What `kubectl explain` says of the kind.
   * @default - nothing
   */
  readonly description?: string;
  /**
   * What `kubectl get` shows beside the name.
   * @default - only the age
   */
  readonly columns?: readonly PrinterColumn[];
  /**
   * Where `kubectl scale` reads and writes.
   * @default - the kind can't be scaled
   */
  readonly scale?: ScalePaths;
}

/** An older version that the API server still serves; objects are stored in the kind's own version. */
export interface OlderVersion extends KindVersion {
  /**
   * Printed by kubectl when somebody uses this version.
   * @default - the version is not deprecated
   */
  readonly deprecation?: string;
}

/** Which names objects of a kind may have, where the names of their children derive from it. */
export interface NameBounds {
  /** Longest name in characters, so that the longest name derived from it still fits where Kubernetes allows 63. */
  readonly maxLength: number;
  /** Why no more, for the error message. */
  readonly why: string;
}

/** All that makes a kind. */
export interface KindDefinition<Spec extends z.ZodType = z.ZodType, Status extends z.ZodType = z.ZodType> extends KindVersion<Spec, Status> {
  /** API group, such as `example.com`. */
  readonly group: string;
  /** Name in CamelCase. */
  readonly kind: string;
  /** @default - the kind in lower case with an s, or with the ending that English asks for */
  readonly plural?: string;
  /** @default - the kind in lower case */
  readonly singular?: string;
  /** @default - the kind followed by List */
  readonly listKind?: string;
  /** @default - none */
  readonly shortNames?: readonly string[];
  /**
   * Groups of kinds that `kubectl get` knows, such as `all`.
   * @default - none
   */
  readonly categories?: readonly string[];
  /** @default true */
  readonly namespaced?: boolean;
  /** @default - every name that Kubernetes allows */
  readonly names?: NameBounds;
  /** @default - only the version above */
  readonly olderVersions?: readonly OlderVersion[];
}
