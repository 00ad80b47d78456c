import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { Database, defaultGroup } from '../api/database';
import { DatabaseBackup } from '../api/database-backup';
import type { Kind } from '../kind/define-kind';

/** Props of `DatabaseCrd`. */
export interface DatabaseCrdProps {
  /**
   * Kinds to define, made by `defineKind`.
   * @default - Database and DatabaseBackup
   */
  readonly kinds?: readonly Kind[];
  /**
   * API group to serve them under, so that a company offers them as its own.
   * @default - each kind's own group
   */
  readonly group?: string;
}

/** CustomResourceDefinitions: the API that people's objects are checked against. */
export class DatabaseCrd extends Construct {
  /** The kinds as they are served, under their group. */
  readonly kinds: readonly Kind[];
  /** The group of our own kinds here, for `OperatorDeployment` and the instances. */
  readonly group: string;

  constructor(scope: Construct, id: string, props: DatabaseCrdProps = {}) {
    super(scope, id);
    const { kinds = [Database, DatabaseBackup], group } = props;
    if (group !== undefined) checkGroup(group, this.node.path);
    this.kinds = group === undefined ? kinds : kinds.map((kind) => kind.withGroup(group));
    this.group = group ?? defaultGroup;
    for (const kind of this.kinds) new ApiObject(this, `${kind.plural}.${kind.group}`, { ...kind.crd() });
  }
}

function checkGroup(group: string, where: string): void {
  if (/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$/.test(group) && group.length <= 200) return;
  throw new Error(`${where}: 'group' (${group}) is not an API group; write a domain of yours, such as db.example.com`);
}
