/**
 * cdk8s-plus, loaded by the first construct that hands out one of its values. An operator imports kinds and names from this
 * package and renders none of them: it is spared 20 MB and 100 ms, and its image the package.
 */
export function cdk8sPlus(): typeof import('cdk8s-plus-27') {
  return require('cdk8s-plus-27') as typeof import('cdk8s-plus-27');
}
