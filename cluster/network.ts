/** The addresses of Services. They exist only inside a cluster's nodes, so all clusters can use the same. */
export const serviceNetwork = { range: '10.96.0.0/16', apiServer: '10.96.0.1', dns: '10.96.0.10' } as const;
