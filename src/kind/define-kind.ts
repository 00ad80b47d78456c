import type { z } from 'zod';
import { customResourceDefinition, type CustomResourceDefinition } from './custom-resource-definition';
import type { KindDefinition, NameBounds } from './kind-definition';
import { InvalidSpecError, problemsOf, reasonOf, unknownFields } from './problem';
import type { CustomObject, ResourceType } from './resource';
import type { Rule } from './rule';
import { structuralSchema, type StructuralSchema } from './structural-schema';

/**
 * A kind: its address, its CRD, its types and its checks, all from one definition.
 * `Spec` is a spec with its defaults filled in, as the API server hands it out.
 */
export class Kind<Spec = unknown, Status = unknown> implements ResourceType {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** Names of the fields of `status`: the runtime writes only what the schema knows. Empty where there is no status. */
  readonly statusFields: ReadonlySet<string>;
  /** What people ask for, as zod knows it: for kinds that build on this one. */
  readonly spec: z.ZodType<Spec>;
  /** What the controller answers, as zod knows it. */
  readonly status: z.ZodType<Status> | undefined;

  readonly #definition: KindDefinition;
  readonly #specSchema: StructuralSchema;

  /** Use `defineKind`, which infers the types. */
  constructor(definition: KindDefinition<z.ZodType<Spec>, z.ZodType<Status>>) {
    this.#definition = definition;
    this.group = definition.group;
    this.version = definition.version;
    this.kind = definition.kind;
    this.plural = definition.plural ?? pluralOf(definition.kind.toLowerCase());
    this.namespaced = definition.namespaced ?? true;
    this.spec = definition.spec;
    this.status = definition.status;
    this.#specSchema = structuralSchema(definition.spec, `${definition.kind}.spec`);
    const status = definition.status && structuralSchema(definition.status, `${definition.kind}.status`);
    this.statusFields = new Set(Object.keys(status?.properties ?? {}));
  }

  /** The CustomResourceDefinition, as JSON. */
  crd(): CustomResourceDefinition {
    return customResourceDefinition({ ...this.#definition, plural: this.plural }, nameRules(this.#definition.names));
  }

  /**
   * The spec with its defaults filled in.
   *
   * Guarantees: refuses what the API server would refuse, as far as it can be known without the object in the cluster,
   * and unknown fields too, as `kubectl apply` does.
   * @param where - what to call the object in messages: a construct path, or `namespace/name`.
   * @throws InvalidSpecError with every problem.
   */
  check(spec: unknown, where: string): Spec {
    const result = this.spec.safeParse(spec, { error: reasonOf });
    const issues = (result.error?.issues ?? []).filter((issue) => issue.code !== 'unrecognized_keys');
    const problems = [...unknownFields(spec, this.#specSchema, where), ...problemsOf(issues, spec, this.#specSchema, where)];
    if (problems.length > 0 || !result.success) throw new InvalidSpecError(problems);
    return result.data;
  }

  /**
   * Checks the name of an object of this kind.
   * @throws InvalidSpecError where Kubernetes or a child derived from the name would not take it.
   */
  checkName(name: string, where: string): void {
    const problems = nameRules(this.#definition.names).filter((rule) => rule.holds?.(name) === false);
    if (problems.length > 0) throw new InvalidSpecError(problems.map((rule) => `${where}: name '${name}' ${rule.message}`));
  }

  /** The same kind under another group, so that a company serves it as its own. */
  withGroup(group: string): Kind<Spec, Status> {
    if (group === this.group) return this;
    return new Kind({ ...(this.#definition as KindDefinition<z.ZodType<Spec>, z.ZodType<Status>>), group });
  }
}

/** A kind from its definition; see `Kind` for what it gives. */
export function defineKind<Spec extends z.ZodType, Status extends z.ZodType = z.ZodType<undefined>>(
  definition: KindDefinition<Spec, Status>,
): Kind<z.output<Spec>, z.output<Status>> {
  return new Kind<z.output<Spec>, z.output<Status>>(definition as KindDefinition<z.ZodType<z.output<Spec>>, z.ZodType<z.output<Status>>>);
}

/** The spec of a kind, defaults filled in. */
export type SpecOf<K> = K extends Kind<infer Spec> ? Spec : never;

/** The status of a kind. */
export type StatusOf<K> = K extends Kind<unknown, infer Status> ? Status : never;

/** A whole object of a kind. */
export type ObjectOf<K> = CustomObject<SpecOf<K>, StatusOf<K>>;

const label = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;

function nameRules(bounds: NameBounds | undefined): Rule<string>[] {
  if (bounds === undefined) return [];
  return [
    {
      cel: `self.metadata.name.matches('${label.source}')`,
      message: 'must consist of lower-case letters, digits and hyphens, start with a letter and end with a letter or digit: a Service derives its name from it',
      holds: (name) => label.test(name),
    },
    {
      cel: `self.metadata.name.size() <= ${bounds.maxLength}`,
      message: `is longer than ${bounds.maxLength} characters: ${bounds.why}`,
      holds: (name) => name.length <= bounds.maxLength,
    },
  ];
}

function pluralOf(singular: string): string {
  if (/(s|x|z|ch|sh)$/.test(singular)) return `${singular}es`;
  return /[^aeiou]y$/.test(singular) ? `${singular.slice(0, -1)}ies` : `${singular}s`;
}
