# Functions that set options for a line: read under the user's own options, as zsh puts the
# options back when a function of longterm.zsh returns.
_longterm_given() { { '_longterm_give' 1; if [[ ! -o 'interactivecomments' ]]; then (( _longterm_gave |= 4 )); 'builtin' 'setopt' 'interactivecomments'; fi } >/dev/null 2>&1 }
_longterm_hidden() { { '_longterm_give' 2; if [[ ! -o 'interactivecomments' ]]; then (( _longterm_gave |= 4 )); 'builtin' 'setopt' 'interactivecomments'; fi } >/dev/null 2>&1 }
_longterm_precmd() { { '_longterm_ended'; if (( _longterm_gave & 8 )); then _longterm_gave=0; 'builtin' 'unsetopt' 'interactivecomments'; fi } >/dev/null 2>&1 }
