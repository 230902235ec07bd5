# Completion of neutra for bash; written by `neutra completion bash`.

# Offers words, and files by extension.
_neutra_offer() {
  local kind
  local -a kinds more
  mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur")
  read -ra kinds <<<"$2"
  for kind in "${kinds[@]}"; do
    compopt -o filenames 2>/dev/null
    case $kind in
      any) mapfile -t more < <(compgen -f -- "$cur") ;;
      folders) mapfile -t more < <(compgen -d -- "$cur") ;;
      *) mapfile -t more < <(compgen -f -X "!*.$kind" -- "$cur"; compgen -d -- "$cur") ;;
    esac
    COMPREPLY+=("${more[@]}")
  done
}

_neutra() {
  local cur=${COMP_WORDS[COMP_CWORD]} option='' path word
  local -a words=()
  local -i i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    if [[ -n $option ]]; then
      [[ $word == = ]] || option=''
      continue
    fi
    case $word in
      @FLAGS@) ;;
      -*=*) ;;
      -*) option=$word ;;
      *) words+=("$word") ;;
    esac
  done
  [[ $cur == = ]] && cur=''
  if ((${#words[@]} == 0)); then
    _neutra_offer '@VERBS@ help --help --version' ''
    return
  fi
  if [[ -n $option ]]; then
    case "${words[0]} $option" in
@VALUES@    esac
    return
  fi
  path=${words[0]}
  case $path in
    @ACTING@) path+=${words[1]:+ ${words[1]}} ;;
  esac
  if [[ $cur == -* ]]; then
    case $path in
@OPTIONS@    esac
  else
    case "$path ${#words[@]}" in
@WORDS@    esac
  fi
}

complete -F _neutra neutra
