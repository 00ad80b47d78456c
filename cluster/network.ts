/** The addresses of Services. They exist only inside a cluster's nodes, so all clusters can use the same. */
export const serviceNetwork = { range: '10.96.0.0/16', apiServer: '10.96.0.1', dns: '10.96.0.10' } as const;

/** The addresses of pods, a range for each node. They too exist only inside the nodes. */
export const podNetwork = { range: '10.244.0.0/16', ofNode: (node: number): string => `10.244.${node}.0/24` } as const;

/** The network between this machine and a cluster's nodes; each cluster has one of its own, told apart by its index. */
export class LanAddresses {
  /** More clusters than any machine can carry. */
  public static readonly maximum = 250;

  public constructor(public readonly index: number) {}

  /** Of the machine's address in such a network; undefined for any other address. */
  public static ofHost(address: string): LanAddresses | undefined {
    const index = /^10\.213\.([0-9]+)\.1$/.exec(address)?.[1];
    return index === undefined ? undefined : new LanAddresses(Number(index));
  }

  public get range(): string {
    return `10.213.${this.index}.0/24`;
  }

  public get host(): string {
    return `10.213.${this.index}.1`;
  }

  public node(node: number): string {
    return `10.213.${this.index}.${10 + node}`;
  }

  /** The machine's network device; its name is the claim to the index. */
  public get device(): string {
    return `dbop${this.index}`;
  }
}
