/** The layers of src/, from the bottom up. A folder may import itself and what stands before it. */
const layers = ['kind', 'api', 'engines', 'constructs', 'store', 'runtime', 'operator', 'cli'];

/** What the pure half must never load: importing the package may not cost an HTTP client, a driver or a logger. */
const impure = 'undici|ws|mysql2|pg|pino|prom-client|@aws-sdk/.*|commander|yaml';

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: { path: '^src' }, to: { circular: true } },
    ...layers.map((layer, index) => ({
      name: `${layer}-points-down`,
      severity: 'error',
      from: { path: `^src/${layer}/` },
      to: { path: `^src/(${layers.slice(index + 1).join('|') || 'nothing'})/` },
    })),
    { name: 'runtime-knows-no-database', severity: 'error', from: { path: '^src/runtime/' }, to: { path: '^src/(api|engines|constructs|store)/' } },
    { name: 'pure-half-does-no-io', severity: 'error', from: { path: '^src/(kind|api|engines|constructs)/' }, to: { path: `^node_modules/(${impure})/` } },
    { name: 'pure-half-uses-no-node-io', severity: 'error', from: { path: '^src/(kind|api|engines|constructs)/' }, to: { dependencyTypes: ['core'] } },
    { name: 'no-plus-in-the-operator', comment: 'cdk8s-plus costs the operator 20 MB and 100 ms', severity: 'error', from: { path: '^src/(runtime|operator|store)/' }, to: { path: '^node_modules/cdk8s-plus-27/' } },
    { name: 'product-imports-no-tests', severity: 'error', from: { path: '^src/' }, to: { path: '^(test|cluster|bench|examples)/' } },
  ],
  options: { doNotFollow: { path: 'node_modules' }, tsConfig: { fileName: 'tsconfig.json' }, tsPreCompilationDeps: true },
};
