/** The version of this package; a test compares it with package.json, which a bundled operator no longer has beside it. */
export const VERSION = '0.1.0';
