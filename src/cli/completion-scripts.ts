/** Shells that we can teach. */
export type Shell = 'bash' | 'zsh' | 'fish';

/** What each shell sources. All thinking is done by `dbop __complete`, so that the three never differ. */
export const completionScripts: Readonly<Record<Shell, string>> = {
  bash: `# completion of dbop for bash
_dbop() {
  local IFS=$'\\n'
  COMPREPLY=($(dbop __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _dbop dbop
`,
  zsh: `#compdef dbop
_dbop() {
  local -a found
  found=("\${(@f)$(dbop __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  [[ -n "$found" ]] && compadd -- $found || _files
}
compdef _dbop dbop
`,
  fish: `# completion of dbop for fish
complete -c dbop -f -a '(dbop __complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
complete -c dbop -l filename -s f -r -F
complete -c dbop -l kubeconfig -r -F
`,
};
