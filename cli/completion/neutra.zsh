#compdef neutra
# Completion of neutra for zsh; written by `neutra completion zsh`.

# Offers words, and files by extension.
_neutra_offer() {
  local -a offered=(${=1}) extensions=(${${=2}:#(any|folders)})
  local -i ret=1
  (( $#offered )) && compadd -- $offered && ret=0
  if [[ $2 == any ]]; then
    _files && ret=0
  elif (( $#extensions )); then
    _files -g "*.(${(j:|:)extensions})(-.)" && ret=0
  elif [[ $2 == folders ]]; then
    _files -/ && ret=0
  fi
  return ret
}

_neutra() {
  local curcontext=$curcontext state line
  local -a verbs
  verbs=(
@DESCRIPTIONS@  )
  _arguments -C '(- *)'{-h,--help}'[show help]' '(- *)--version[show versions]' \
    '1: :->verb' '*:: :->words' && return
  case $state in
    verb) _describe verb verbs ;;
    words)
      local place=$words[1]
      case $place in
        @ACTING@)
          (( CURRENT > 2 )) && place+=" $words[2]" ;;
      esac
      case $place in
@CASES@      esac ;;
  esac
}

if [[ $funcstack[1] == _neutra ]]; then
  _neutra "$@"
else
  compdef _neutra neutra
fi
