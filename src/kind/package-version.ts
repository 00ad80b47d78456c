/** The version of this package; a test compares it with package.json, which a bundled operator no longer has beside it. */
export const packageVersion = '0.1.0';
