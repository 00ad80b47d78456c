import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['lib/', 'imports/', 'dist/', 'node_modules/', '**/dist/', 'docs/', 'bench/peers/'] },
  ...tseslint.configs.recommended,
  {
    files: ['**/*.ts'],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/no-unnecessary-type-assertion': 'error',
      '@typescript-eslint/only-throw-error': 'error',
      'prefer-const': 'error',
      eqeqeq: 'error',
      'no-console': 'off',
      'max-lines': ['warn', { max: 400, skipBlankLines: true, skipComments: true }],
    },
  },
  { files: ['src/constructs/cdk8s-plus.ts'], rules: { '@typescript-eslint/no-require-imports': 'off' } },
  { files: ['*.js', '*.mjs', '*.cjs'], languageOptions: { globals: { module: 'writable', require: 'readonly' } }, rules: { '@typescript-eslint/no-require-imports': 'off' } },
);
