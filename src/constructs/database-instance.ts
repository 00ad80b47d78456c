import { Chart, type ApiObject } from 'cdk8s';
import type { Container, EnvValue, ISecret } from 'cdk8s-plus-27';
import { Construct, type IConstruct } from 'constructs';
import { Database, defaultGroup } from '../api/database';
import { DatabaseBackup } from '../api/database-backup';
import { engineOf } from '../engines/engine-of';
import type { EngineName } from '../engines/engine';
import { parameterText } from '../engines/parameters';
import { InvalidSpecError } from '../kind/problem';
import { cdk8sPlus } from './cdk8s-plus';
import { DatabaseBackupResource, DatabaseResource } from './database-resource';
import type { DatabaseInstanceProps } from './database-instance-props';
import { serverNames } from './server-names';

/** Options of `addBackup`. */
export interface AddBackupOptions {
  /** @default - the database's name, a hyphen and the id */
  readonly name?: string;
  /** @default - as the database says */
  readonly verify?: boolean;
}

/** What an application connects by: each value is a key of the Secret that the operator keeps. */
export interface Connection {
  readonly host: EnvValue;
  readonly port: EnvValue;
  readonly username: EnvValue;
  readonly password: EnvValue;
  readonly database: EnvValue;
  /** All of it as a URI such as `mysql://app:…@orders.shop.svc:3306/app`. */
  readonly uri: EnvValue;
  /** All of it as JDBC takes it. */
  readonly jdbcUrl: EnvValue;
}

/** A `Database` object; see `MysqlInstance` and `PostgresInstance`. */
export abstract class DatabaseInstance extends Construct {
  /** Name of the object and of the Service. */
  readonly name: string;
  /** Namespace, where the instance or its chart names one. */
  readonly namespace: string | undefined;
  /** Service that applications use. */
  readonly serviceName: string;
  readonly port: number;
  /** Secret that applications connect by. */
  readonly secretName: string;
  /** The Secret's values, for the environment of containers. */
  readonly connection: Connection;

  readonly #group: string;

  protected constructor(scope: Construct, id: string, engine: EngineName, props: DatabaseInstanceProps) {
    super(scope, id);
    const where = this.node.path;
    const { name = id, namespace, labels, annotations, group = defaultGroup, parameters, ...rest } = props;
    Database.checkName(name, where);
    const spec = { engine, ...rest, ...(parameters && { parameters: texts(parameters) }) };
    Database.check(spec, where);
    checkParameters(engine, parameters, where);

    this.name = name;
    this.namespace = namespace ?? Chart.of(this).namespace;
    this.#group = group;
    refuseTwin(this, `${group}/${this.namespace ?? ''}/${name}`);
    const names = serverNames(name);
    this.serviceName = names.service;
    this.secretName = names.applicationSecret;
    this.port = engineOf(engine).port;
    this.connection = connectionBy(cdk8sPlus().Secret.fromSecretName(this, 'secret', this.secretName));
    new DatabaseResource(this, 'resource', { group, metadata: { name, namespace, labels, annotations }, spec });
  }

  /**
   * Gives a container what it needs to connect: `DB_HOST`, `DB_PORT`, `DB_USERNAME`, `DB_PASSWORD`, `DB_DATABASE` and `DB_URI`.
   * @param prefix - of the variables' names.
   */
  connect(container: Container, prefix = 'DB_'): void {
    const { host, port, username, password, database, uri } = this.connection;
    for (const [key, value] of Object.entries({ host, port, username, password, database, uri })) container.env.addVariable(`${prefix}${key.toUpperCase()}`, value);
  }

  /** Asks for one backup, beside those of the schedule. */
  addBackup(id: string, options: AddBackupOptions = {}): ApiObject {
    const { name = `${this.name}-${id}`, ...rest } = options;
    const where = `${this.node.path}/${id}`;
    const spec = { database: this.name, ...rest };
    DatabaseBackup.checkName(name, where);
    DatabaseBackup.check(spec, where);
    return new DatabaseBackupResource(this, id, { group: this.#group, metadata: { name, namespace: this.namespace }, spec });
  }
}

function texts(parameters: NonNullable<DatabaseInstanceProps['parameters']>): Record<string, string> {
  return Object.fromEntries(Object.entries(parameters).flatMap(([name, value]) => (value === undefined ? [] : [[name, parameterText(value)]])));
}

function checkParameters(engine: EngineName, parameters: DatabaseInstanceProps['parameters'], where: string): void {
  const problems = engineOf(engine).parameterProblems(texts(parameters ?? {}));
  if (problems.length > 0) throw new InvalidSpecError(problems.map((problem) => `${where}: 'parameters' ${problem}`));
}

/** Names taken so far, by app. */
const taken = new WeakMap<IConstruct, Map<string, string>>();

function refuseTwin(instance: DatabaseInstance, key: string): void {
  const { root, path } = instance.node;
  const names = taken.get(root) ?? new Map<string, string>();
  const twin = names.get(key);
  if (twin !== undefined) throw new Error(`${path}: name '${instance.name}' is taken by ${twin}; give one of them another name or namespace`);
  taken.set(root, names.set(key, path));
}

function connectionBy(secret: ISecret): Connection {
  const value = (key: string) => cdk8sPlus().EnvValue.fromSecretValue({ secret, key });
  return {
    host: value('host'),
    port: value('port'),
    username: value('username'),
    password: value('password'),
    database: value('database'),
    uri: value('uri'),
    jdbcUrl: value('jdbc-url'),
  };
}
