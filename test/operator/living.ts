import type { AnyObject, Target } from '../support/wait-for';
import type { TestCluster } from '../support/test-cluster';

/** A database on real pods that tests live with, one after the other. */
export interface Living {
  readonly cluster: TestCluster;
  readonly namespace: string;
  readonly name: string;
  /** Where an object of its namespace is. */
  at(resource: string, object: string, apiVersion?: string): Target;
  /** The database, once it is so. */
  becomes(what: string, isSo: (object: AnyObject) => boolean, withinMs?: number): Promise<AnyObject>;
  /** Its condition Ready. */
  ready(object: AnyObject): { readonly status: string; readonly reason: string; readonly message: string };
  /** Ready, and of the newest spec. */
  isReady(object: AnyObject): boolean;
  podUid(): Promise<string>;
  /** Changes fields of its spec. */
  change(patch: object): Promise<string>;
  /** What the server answers to the application, or to another account that logs in with that password. */
  sql(statement: string, password?: string, account?: string): Promise<string>;
  /** Nobody looks after it, until `restartOperator`. */
  stopOperator(): Promise<void>;
  /** Another process of the operator takes over; its clock goes right. */
  restartOperator(): Promise<void>;
}
