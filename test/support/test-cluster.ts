import { ApiServer } from '../../cluster/api-server';
import type { Cluster } from '../../cluster/cluster';
import { type CommandResult, run, tryRun } from '../../cluster/command';
import { AuditLog } from './audit-log';
import { splitWords } from './words';

interface TestClusterParts {
  readonly kubeconfig: string;
  readonly kubectl: string;
  /** The test bed's own cluster; a cluster given by kubeconfig has none. */
  readonly own?: Cluster;
}

/** A cluster as tests use it. */
export class TestCluster {
  public readonly api: ApiServer;
  public readonly kubeconfig: string;

  public constructor(private readonly parts: TestClusterParts) {
    this.kubeconfig = parts.kubeconfig;
    this.api = ApiServer.fromKubeconfig(parts.kubeconfig);
  }

  /**
   * Runs kubectl as a user would type it, for example `kubectl('get pods -n shop')`, and returns what it printed.
   * Words are split as a shell does, quotes included; nothing else of a shell is there.
   * @throws CommandError with kubectl's own words when it fails.
   */
  public kubectl(line: string, input?: string): Promise<string> {
    return run(this.parts.kubectl, splitWords(line), { env: this.environment(), input });
  }

  /** Like `kubectl`, for commands that are meant to fail. */
  public tryKubectl(line: string, input?: string): Promise<CommandResult> {
    return tryRun(this.parts.kubectl, splitWords(line), { env: this.environment(), input });
  }

  /** `kubectl apply` of plain objects. */
  public apply(...objects: object[]): Promise<string> {
    return this.kubectl('apply -f -', objects.map((object) => JSON.stringify(object)).join('\n---\n'));
  }

  /** What was asked of the API server, by whom. Only the test bed's own clusters have one. */
  public auditLog(): AuditLog {
    return new AuditLog(this.demandOwn('an audit log').folder.auditLog);
  }

  /** The same, where there is one. */
  public tryAuditLog(): AuditLog | undefined {
    return this.parts.own && this.auditLog();
  }

  /** Kills the API server at once and brings it back after `downMs`. For an `ownCluster` only: others are at work on a shared one. */
  public restartApiServer(downMs = 0): Promise<void> {
    return this.demandOwn('an API server that tests may restart').restartApiServer(downMs);
  }

  /** Makes images that the test's pods will ask for. A cluster given by kubeconfig fetches them by itself. */
  public async ensureImages(...names: string[]): Promise<void> {
    await this.parts.own?.ensureImages(names);
  }

  /** Builds the operator's image from the sources and brings it to the nodes; returns its name. */
  public async loadOperator(): Promise<string> {
    const given = process.env['DBOP_TEST_OPERATOR_IMAGE'];
    if (this.parts.own) return this.parts.own.loadOperator();
    if (given) return given;
    throw new Error("the cluster of DBOP_TEST_KUBECONFIG needs the operator's image: build it from the Dockerfile, load it, and name it in DBOP_TEST_OPERATOR_IMAGE");
  }

  /** The cluster's own controls, for tests that stop nodes or load images. */
  public demandOwn(what: string): Cluster {
    if (!this.parts.own) throw new Error(`the cluster of DBOP_TEST_KUBECONFIG has not ${what}; run this test without that variable`);
    return this.parts.own;
  }

  /** Lets go of connections, so that jest can end. */
  public close(): void {
    this.api.close();
  }

  /** Ends an `ownCluster`. */
  public async remove(): Promise<void> {
    this.close();
    await this.demandOwn('an end that tests may bring about').down();
  }

  private environment(): Record<string, string> {
    // kubectl ends before collecting garbage could pay off, and a run starts thousands of them.
    return { KUBECONFIG: this.kubeconfig, GOGC: 'off' };
  }
}
