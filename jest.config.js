/** Three layers of tests, from fast to real: pure, control plane (API server and etcd), cluster (pods). */
const layer = (displayName, testMatch, more = {}) => ({
  displayName,
  testMatch,
  transform: { '^.+\\.ts$': ['@swc/jest', { jsc: { target: 'es2022', parser: { syntax: 'typescript' } }, module: { type: 'commonjs' } }] },
  moduleFileExtensions: ['ts', 'js', 'json'],
  // What is loaded late is named as Node finds it after the build.
  moduleNameMapper: { '^(\\.{1,2}/(?!.*node_modules).*)\\.js$': ['$1', '$1.js'] },
  ...more,
});

/** Long enough for a machine that has more to do than this: what takes too long shows in the benchmarks, not here. */
const patience = { testTimeout: 60_000 };

/** Marks the run, so that its tests share their clusters, and removes those at its end (test/support/shared-cluster.ts). */
const sharedClusters = { ...patience, globalSetup: '<rootDir>/test/support/global-setup.ts', globalTeardown: '<rootDir>/test/support/global-teardown.ts' };

module.exports = {
  testSequencer: '<rootDir>/test/support/longest-first.mjs',
  projects: [
    layer('pure', ['<rootDir>/test/{kind,api,engines,constructs,runtime,store,operator,cli,package,cluster,examples,docs}/**/*.test.ts', '!**/*.{control-plane,cluster}.test.ts'], { testPathIgnorePatterns: ['\\.(control-plane|cluster)\\.test\\.ts$'] }),
    layer('control-plane', ['<rootDir>/{test,examples}/**/*.control-plane.test.ts'], sharedClusters),
    layer('cluster', ['<rootDir>/{test,examples}/**/*.cluster.test.ts'], sharedClusters),
  ],
};
